#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/cost/make_cost_model.hpp"
#include "tools/autoparallel_report.hpp"
#include "tools/commands/commands.hpp"
#include "tools/graph_source.hpp"

namespace onedim {
namespace {

constexpr std::string_view kAutoParallelModel = "autoparallel-h100";

struct PriceOptions {
  GraphSource source;
  std::string solution;
  std::string format;
  std::string mesh;
  std::string cost_model;
};

// The mesh that was typed, if one was, which must be as large as the file's.
Result<Mesh> mesh_of(const PriceOptions& options, const AutoParallelSolution& solution) {
  if (options.mesh.empty()) return solution.mesh;
  Result<Mesh> mesh = Mesh::parse(options.mesh);
  if (!mesh.ok() || mesh->sizes() == solution.mesh.sizes()) return mesh;
  return invalid_argument("--mesh: {}, but \"{}\" is a solution on {}", mesh->format(),
                          options.solution, solution.mesh.format());
}

Result<AutoParallelPrices> autoparallel_prices(const Mesh& mesh) {
  const Result<Cluster> cluster = load_cluster("h100");
  if (!cluster.ok()) return cluster.status();
  Result<std::unique_ptr<const CostModel>> model =
      make_cost_model(*cluster, mesh, kAutoParallelModel);
  if (!model.ok()) return model.status();
  return AutoParallelPrices::create(*std::move(model));
}

Result<ExitCode> price_autoparallel_solution(Session& session, const PriceOptions& options,
                                             const ResolvedGraph& resolved) {
  Result<AutoParallelSolution> solution = read_autoparallel_solution(options.solution, resolved);
  if (!solution.ok()) return solution.status();
  Result<Mesh> mesh = mesh_of(options, *solution);
  if (!mesh.ok()) return mesh.status();
  solution->mesh = *std::move(mesh);
  const Result<AutoParallelPrices> prices = autoparallel_prices(solution->mesh);
  if (!prices.ok()) return prices.status();
  const Result<AutoParallelPriced> priced = price_autoparallel(resolved, *solution, *prices);
  if (!priced.ok()) return annotate(priced.status(), fmt::format("\"{}\"", options.solution));
  const AutoParallelCheck check = check_autoparallel(resolved, *solution, *priced);
  const AutoParallelReport report{resolved, *solution, *priced, check};
  if (session.flags.json)
    session.write_json(report.json());
  else
    session.write(report.text());
  return check.is_fine() ? ExitCode::kFine : ExitCode::kFindings;
}

Status check_flags(const PriceOptions& options) {
  if (options.format != "autoparallel") {
    return invalid_argument("--format: {} is not known; expected autoparallel",
                            quoted_excerpt(options.format));
  }
  if (options.cost_model != kAutoParallelModel) {
    return invalid_argument("--cost-model: a solution of AutoParallel's is priced by {}, not {}",
                            kAutoParallelModel, quoted_excerpt(options.cost_model));
  }
  return absl::OkStatus();
}

Result<ExitCode> run_price(Session& session, const PriceOptions& options) {
  if (Status status = check_flags(options); !status.ok()) return status;
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<Graph> graph = options.source.open(*registry);
  if (!graph.ok()) return graph.status();
  const Result<ResolvedGraph> resolved = resolve_graph(*graph, **registry);
  if (!resolved.ok()) return resolved.status();
  return price_autoparallel_solution(session, options, *resolved);
}

}  // namespace

void add_price(CLI::App& app, Session& session) {
  auto options = std::make_shared<PriceOptions>();
  CLI::App* command = app.add_subcommand("price", "Price a solution of a graph, node by node");
  options->source.add_to(*command);
  command->add_option("solution", options->solution, "The solution, plain or gzip")
      ->type_name("SOLUTION.JSON")
      ->required();
  command->add_option("--format", options->format, "Format of the solution: autoparallel")
      ->type_name("FORMAT")
      ->required();
  command
      ->add_option("--mesh", options->mesh,
                   "Mesh, outermost dim first, such as a=2,b=3 (default: the solution's)")
      ->type_name("MESH");
  command->add_option("--cost-model", options->cost_model, "Cost model")
      ->type_name("NAME")
      ->default_str(std::string(kAutoParallelModel));
  options->cost_model = kAutoParallelModel;
  command->footer(
      "Exit code 1 if layouts of a node are none of its strategies, or a price differs from the "
      "file's.\n"
      "Example: onedim price llama3-8b-2layers.json.gz solution.json.gz --format autoparallel");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_price(session, *options); });
  });
}

}  // namespace onedim
