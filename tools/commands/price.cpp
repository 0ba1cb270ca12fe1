#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/cost/make_cost_model.hpp"
#include "tools/autoparallel_report.hpp"
#include "tools/commands/commands.hpp"
#include "tools/graph_source.hpp"
#include "tools/planning_flags.hpp"
#include "tools/solution_report.hpp"

namespace onedim {
namespace {

constexpr std::string_view kAutoParallelModel = "autoparallel-h100";
constexpr std::string_view kAutoParallelCluster = "h100";

struct PriceOptions {
  GraphSource source;
  std::string solution;
  std::string format = "onedim";
  std::string mesh;
  std::string cluster;
  std::string cost_model;
};

// The mesh that was typed, if one was, which must be as large as the solution's.
Result<Mesh> mesh_of(const PriceOptions& options, const Mesh& own) {
  if (options.mesh.empty()) return own;
  Result<Mesh> mesh = Mesh::parse(options.mesh);
  if (!mesh.ok() || mesh->sizes() == own.sizes()) return mesh;
  return invalid_argument("--mesh: {}, but \"{}\" is a solution on {}", mesh->format(),
                          options.solution, own.format());
}

// A solution of AutoParallel's is priced as it does, and by no other prices.
Status check_autoparallel_flags(const PriceOptions& options) {
  if (!options.cost_model.empty() && options.cost_model != kAutoParallelModel) {
    return invalid_argument("--cost-model: a solution of AutoParallel's is priced by {}, not {}",
                            kAutoParallelModel, quoted_excerpt(options.cost_model));
  }
  if (!options.cluster.empty() && options.cluster != kAutoParallelCluster) {
    return invalid_argument("--cluster: {} prices {}, not {}", kAutoParallelModel,
                            kAutoParallelCluster, quoted_excerpt(options.cluster));
  }
  return absl::OkStatus();
}

Result<AutoParallelPrices> autoparallel_prices(const Mesh& mesh) {
  const Result<Cluster> cluster = load_cluster(kAutoParallelCluster);
  if (!cluster.ok()) return cluster.status();
  Result<std::unique_ptr<const CostModel>> model =
      make_cost_model(*cluster, mesh, kAutoParallelModel);
  if (!model.ok()) return model.status();
  return AutoParallelPrices::create(*std::move(model));
}

template <typename Report>
void tell(Session& session, const Report& report) {
  if (session.flags.json)
    session.write_json(report.json());
  else
    session.write(report.text());
}

Result<ExitCode> price_as_autoparallel(Session& session, const PriceOptions& options,
                                       const ResolvedGraph& resolved) {
  Result<AutoParallelSolution> solution = read_autoparallel_solution(options.solution, resolved);
  if (!solution.ok()) return solution.status();
  Result<Mesh> mesh = mesh_of(options, solution->mesh);
  if (!mesh.ok()) return mesh.status();
  solution->mesh = *std::move(mesh);
  const Result<AutoParallelPrices> prices = autoparallel_prices(solution->mesh);
  if (!prices.ok()) return prices.status();
  const Result<AutoParallelPriced> priced = price_autoparallel(resolved, *solution, *prices);
  if (!priced.ok()) return annotate(priced.status(), fmt::format("\"{}\"", options.solution));
  const AutoParallelCheck check = check_autoparallel(resolved, *solution, *priced);
  tell(session, AutoParallelReport{resolved, *solution, *priced, check});
  return check.is_fine() ? ExitCode::kFine : ExitCode::kFindings;
}

// By the cluster and cost model that were typed, else by those that the plan was made with.
Result<ExitCode> price_plan(Session& session, const PriceOptions& options,
                            const ResolvedGraph& resolved) {
  Result<ReadSolution> read = read_solution(options.solution, resolved);
  if (!read.ok()) return read.status();
  const Result<Mesh> mesh = mesh_of(options, read->solution.mesh);
  if (!mesh.ok()) return mesh.status();
  if (!options.cluster.empty()) read->prices = {options.cluster, ""};
  if (!options.cost_model.empty()) read->prices.cost_model = options.cost_model;
  const Result<Cluster> cluster = load_cluster(read->prices.cluster);
  if (!cluster.ok()) return cluster.status();
  if (read->prices.cost_model.empty()) read->prices.cost_model = cluster->model;
  const Result<std::unique_ptr<const CostModel>> model =
      make_cost_model(*cluster, read->solution.mesh, read->prices.cost_model);
  if (!model.ok()) return model.status();
  const Result<GraphTask> task = make_graph_task(resolved, read->solution);
  if (!task.ok()) return annotate(task.status(), fmt::format("\"{}\"", options.solution));
  const Result<PricedSolution> priced = price_solution(
      resolved, read->solution, **model, Roofline::of_model(*cluster, read->prices.cost_model));
  if (!priced.ok()) return annotate(priced.status(), fmt::format("\"{}\"", options.solution));
  tell(session, SolutionReport{*task, *priced, read->prices});
  return ExitCode::kFine;
}

Result<ExitCode> run_price(Session& session, const PriceOptions& options) {
  const bool is_autoparallel = options.format == "autoparallel";
  if (!is_autoparallel && options.format != "onedim") {
    return invalid_argument("--format: {} is not known; expected onedim or autoparallel",
                            quoted_excerpt(options.format));
  }
  if (is_autoparallel) {
    if (Status status = check_autoparallel_flags(options); !status.ok()) return status;
  }
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<Graph> graph = options.source.open(*registry);
  if (!graph.ok()) return graph.status();
  const Result<ResolvedGraph> resolved = resolve_graph(*graph, **registry);
  if (!resolved.ok()) return annotate(resolved.status(), options.source.name);
  return is_autoparallel ? price_as_autoparallel(session, options, *resolved)
                         : price_plan(session, options, *resolved);
}

void add_price_flags(CLI::App& command, PriceOptions& options) {
  options.source.add_to(command);
  command
      .add_option("solution", options.solution,
                  "Where everything lies: a file, plain or gzip, in the format onedim.plan/1, or "
                  "what --format says")
      ->type_name("SOLUTION.JSON")
      ->required();
  command
      .add_option("--format", options.format,
                  "Whose solution: onedim, or autoparallel, whose layouts are compared with our "
                  "strategies, and whose prices with ours of its cost model")
      ->type_name("FORMAT")
      ->capture_default_str();
  command
      .add_option("--mesh", options.mesh,
                  "Mesh, outermost dim first, such as a=2,b=3 (default: the solution's)")
      ->type_name("MESH");
  command
      .add_option("--cluster", options.cluster,
                  "Cluster whose prices count (default: the solution's)")
      ->type_name("NAME|FILE");
  command
      .add_option("--cost-model", options.cost_model,
                  "Cost model (default: the solution's, or with --cluster the cluster's; of "
                  "autoparallel autoparallel-h100)")
      ->type_name("NAME");
}

}  // namespace

void add_price(CLI::App& app, Session& session) {
  auto options = std::make_shared<PriceOptions>();
  CLI::App* command =
      app.add_subcommand("price", "Price a solution of a graph, node by node; nothing is solved");
  add_price_flags(*command, *options);
  command->footer(
      "With --format autoparallel: exit code 1 if layouts of a node are none of its strategies, "
      "or a price differs from the file's.\n"
      "Example: onedim price graph.json plan.json --cluster h100");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_price(session, *options); });
  });
}

}  // namespace onedim
