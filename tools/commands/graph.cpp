#include <nlohmann/json.hpp>

#include "core/base/output_file.hpp"
#include "core/graph/graph_write.hpp"
#include "tools/commands/commands.hpp"
#include "tools/graph_source.hpp"
#include "tools/graph_summary.hpp"

namespace onedim {
namespace {

struct GraphOptions {
  GraphSource source;
  std::string out;
  bool check = false;
};

// Each fault names the graph, so that lines of several runs may be put together.
void name_graph(const std::string& name, GraphInference& inference) {
  for (std::string& fault : inference.faults) fault = fmt::format("{}: {}", name, fault);
}

Result<ExitCode> show_graph(Session& session, const GraphOptions& options) {
  const Registry* registry = nullptr;
  if (options.check || options.source.needs_packs()) {
    const Result<const Registry*> loaded = session.registry();
    if (!loaded.ok()) return loaded.status();
    registry = *loaded;
  }
  const Result<Graph> graph = options.source.open(registry);
  if (!graph.ok()) return graph.status();
  std::optional<GraphInference> inference;
  if (options.check) {
    inference = infer_graph(*graph, *registry);
    name_graph(options.source.name, *inference);
  }
  if (!options.out.empty()) {
    Status status = annotate(write_text_file(options.out, format_graph(*graph)), "--out");
    if (!status.ok()) return status;
  }
  const GraphInference* told = inference ? &*inference : nullptr;
  if (session.flags.json) {
    session.write_json(graph_json(*graph, told));
  } else {
    session.write(graph_text(*graph, told));
  }
  return inference && !inference->is_fine() ? ExitCode::kFindings : ExitCode::kFine;
}

}  // namespace

void add_graph(CLI::App& app, Session& session) {
  auto options = std::make_shared<GraphOptions>();
  CLI::App* command =
      app.add_subcommand("graph", "Show what a graph holds, check it, build a model's");
  options->source.add_to(*command);
  command->add_flag("--check", options->check,
                    "Compare every shape, stride and dtype with what the op makes of its inputs");
  command->add_option("--out", options->out, "Write the graph in the format onedim.graph/1")
      ->type_name("FILE");
  command->footer(
      "With --check: exit code 1 if an output differs or no pack offers an op.\n"
      "Example: onedim graph llama3-debug --check");
  command->callback([options, &session] {
    session.choose([options, &session] { return show_graph(session, *options); });
  });
}

}  // namespace onedim
