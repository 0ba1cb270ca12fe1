#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/pack/foreign_call.hpp"
#include "tools/commands/commands.hpp"
#include "tools/op_coverage.hpp"
#include "tools/op_names.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

struct OpsOptions {
  std::vector<std::string> names;
  std::string graph;
  std::string name_list;
};

Json kernel_dtypes(const Op& op, int device) {
  Json dtypes = Json::array();
  const Kernel* kernel = op.find_kernel(device);
  if (kernel == nullptr) return dtypes;
  for (int dtype = 0; dtype < kDTypeCount; ++dtype) {
    if ((kernel->dtypes >> dtype & 1) != 0) dtypes.push_back(name_of(static_cast<DType>(dtype)));
  }
  return dtypes;
}

Result<std::vector<std::string>> samples_of(const Op& op) {
  const ForeignCall running(op, "the samples");
  return op.samples();
}

Result<Json> op_json(const Op& op) {
  const Result<std::vector<std::string>> samples = samples_of(op);
  if (!samples.ok()) return annotate(samples.status(), op.name());
  return Json{{"name", op.name()},
              {"pack", op.pack},
              {"schema", format_schema(op.schema)},
              {"summary", op.summary},
              {"example", op.example},
              {"samples", samples->size()},
              {"sample_calls", *samples},
              {"position_aware", op.is_position_aware()},
              {"compute", kernel_dtypes(op, ONEDIM_DEVICE_CPU)},
              {"compute_cuda", kernel_dtypes(op, ONEDIM_DEVICE_CUDA)}};
}

Result<Json> to_json(const std::vector<const Op*>& ops) {
  Json list = Json::array();
  for (const Op* op : ops) {
    Result<Json> json = op_json(*op);
    if (!json.ok()) return json.status();
    list.push_back(*std::move(json));
  }
  return Json{{"ops", std::move(list)}};
}

std::string to_text(const std::vector<const Op*>& ops) {
  std::vector<TextRow> rows = {{"op", "pack", "summary"}};
  for (const Op* op : ops) rows.push_back({op->name(), op->pack, op->summary});
  return format_table(rows);
}

// All that is known of one op, for `ops NAME`.
Result<std::string> op_text(const Op& op) {
  const Result<std::vector<std::string>> samples = samples_of(op);
  if (!samples.ok()) return annotate(samples.status(), op.name());
  return fmt::format("{}\n  {}\n  pack {}, {} samples, computes {}{}\n  example: {}\n",
                     format_schema(op.schema), op.summary, op.pack, samples->size(),
                     kernel_dtypes(op, ONEDIM_DEVICE_CPU).dump(),
                     op.is_position_aware() ? ", position-aware" : "", op.example);
}

Result<std::vector<const Op*>> selected_ops(const Registry& registry,
                                            const std::vector<std::string>& names) {
  if (names.empty()) return registry.ops();
  std::vector<const Op*> selected;
  for (const std::string& name : names) {
    const Result<std::vector<const Op*>> ops = find_ops(registry, name);
    if (!ops.ok()) return ops.status();
    for (const Op* op : *ops) {
      if (std::find(selected.begin(), selected.end(), op) == selected.end()) selected.push_back(op);
    }
  }
  return selected;
}

Result<ExitCode> list_ops(Session& session, const std::vector<std::string>& names) {
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<std::vector<const Op*>> ops = selected_ops(**registry, names);
  if (!ops.ok()) return ops.status();
  if (session.flags.json) {
    const Result<Json> json = to_json(*ops);
    if (!json.ok()) return json.status();
    session.write_json(*json);
  } else if (names.empty()) {
    session.write(to_text(*ops));
  } else {
    for (const Op* op : *ops) {
      const Result<std::string> text = op_text(*op);
      if (!text.ok()) return text.status();
      session.write(*text);
    }
  }
  return ExitCode::kFine;
}

std::string coverage_text(const OpCoverage& coverage) {
  std::string text = fmt::format("{} of {} present\n", coverage.present, coverage.needed);
  for (const std::string& name : coverage.missing) text += fmt::format("missing: {}\n", name);
  for (const std::string& name : coverage.replicate_only)
    text += fmt::format("replicate only: {}\n", name);
  return text;
}

Result<ExitCode> show_coverage(Session& session, const OpsOptions& options) {
  const bool is_graph = !options.graph.empty();
  const Result<std::vector<std::string>> names =
      is_graph ? read_graph_ops(options.graph) : read_op_names(options.name_list);
  if (!names.ok()) return names.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<OpCoverage> coverage = op_coverage(**registry, *names, !is_graph);
  if (!coverage.ok()) return coverage.status();
  if (session.flags.json) {
    session.write_json({{"needed", coverage->needed},
                        {"present", coverage->present},
                        {"missing", coverage->missing},
                        {"replicate_only", coverage->replicate_only}});
  } else {
    session.write(coverage_text(*coverage));
  }
  return coverage->missing.empty() ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_ops(CLI::App& app, Session& session) {
  auto options = std::make_shared<OpsOptions>();
  CLI::App* command =
      app.add_subcommand("ops", "List the ops of all packs, or see which ones are missing");
  CLI::Option* names =
      command->add_option("op", options->names, "Ops to describe, such as mm or add.*")
          ->type_name("OP");
  CLI::Option* graph =
      command->add_option("--for", options->graph, "Which ops of this graph file are there");
  graph->type_name("GRAPH.JSON")->excludes(names);
  command
      ->add_option("--against", options->name_list,
                   "Which of these base names, one a line, are there")
      ->type_name("NAMES.TXT")
      ->excludes(names)
      ->excludes(graph);
  command->footer(
      "With --for and --against: exit code 1 if any op is missing.\n"
      "Example: onedim ops mm");
  command->callback([options, &session] {
    const bool has_list = !options->graph.empty() || !options->name_list.empty();
    session.choose([options, has_list, &session] {
      return has_list ? show_coverage(session, *options) : list_ops(session, options->names);
    });
  });
}

}  // namespace onedim
