#include <nlohmann/json.hpp>

#include "core/base/output_file.hpp"
#include "core/graph/solution_file.hpp"
#include "tools/byte_size.hpp"
#include "tools/commands/commands.hpp"
#include "tools/graph_plan_report.hpp"
#include "tools/graph_source.hpp"
#include "tools/placement_file.hpp"
#include "tools/planning_flags.hpp"
#include "tools/solving_flags.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

struct PlanFlags {
  GraphSource source;
  PlanningFlags planning;
  SolvingFlags solving;
  std::string place, parameter_budget, out;
};

Result<NamedPlacements> read_placements(const PlanFlags& flags, const Graph& graph,
                                        const Mesh& mesh) {
  const Result<std::vector<PlacementLine>> lines = read_placement_file(flags.place);
  if (!lines.ok()) return lines.status();
  Result<NamedPlacements> named = find_placements(graph, mesh, *lines);
  return named.ok() ? std::move(named) : annotate(named.status(), flags.place);
}

Result<GraphPlanOptions> graph_plan_options(const PlanFlags& flags, Clock::time_point start) {
  const Result<SelectOptions> select = flags.planning.select_options();
  if (!select.ok()) return select.status();
  GraphPlanOptions options;
  options.network.select = *select;
  if (!flags.parameter_budget.empty()) {
    const Result<int64_t> bytes = parse_byte_size(flags.parameter_budget);
    if (!bytes.ok()) return annotate(bytes.status(), "--parameter-budget");
    options.network.parameter_bytes = *bytes;
  }
  const Result<SolveOptions> solving = flags.solving.options(start);
  if (!solving.ok()) return solving.status();
  options.solve = *solving;
  return options;
}

Result<ExitCode> run_plan(Session& session, const PlanFlags& flags) {
  const Clock::time_point start = Clock::now();
  const Result<GraphPlanOptions> options = graph_plan_options(flags, start);
  if (!options.ok()) return options.status();
  Result<std::shared_ptr<const CostModel>> model = flags.planning.make_model();
  if (!model.ok()) return model.status();
  const Result<Roofline> roofline = flags.planning.make_roofline();
  if (!roofline.ok()) return roofline.status();
  const Result<const Registry*> registry = session.registry();
  if (!registry.ok()) return registry.status();
  const Result<Graph> graph = flags.source.open(*registry);
  if (!graph.ok()) return graph.status();
  const Result<ResolvedGraph> resolved = resolve_graph(*graph, **registry);
  if (!resolved.ok()) return annotate(resolved.status(), flags.source.name);
  Planner planner(*std::move(model));
  const Result<NamedPlacements> named = read_placements(flags, *graph, planner.mesh());
  if (!named.ok()) return named.status();
  PlanSeconds seconds;
  seconds.load = std::chrono::duration<double>(Clock::now() - start).count();
  const Result<GraphPlan> plan = plan_graph(*resolved, *named, planner, *roofline, *options);
  if (absl::IsFailedPrecondition(plan.status())) {
    session.refuse(message_of(plan.status()));
    return ExitCode::kFindings;
  }
  if (!plan.ok()) return annotate(plan.status(), flags.source.name);
  seconds.build = plan->build_s;
  seconds.solve = plan->solve_s;
  if (!flags.out.empty()) {
    const SolutionPrices prices{flags.planning.cluster, flags.planning.cost_model};
    Status status =
        write_text_file(flags.out, format_solution(*graph, plan->timed.solution, prices));
    if (!status.ok()) return annotate(status, "--out");
  }
  if (session.flags.json)
    session.write_json(graph_plan_json(*graph, *plan, seconds));
  else
    session.write(graph_plan_text(*graph, *plan, seconds));
  return ExitCode::kFine;
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* command =
      app.add_subcommand("plan", "Find the cheapest layouts of a whole graph on a mesh");
  flags->source.add_to(*command);
  flags->planning.add_to(*command);
  command
      ->add_option("--place", flags->place,
                   "What is given: a file of lines `GLOB: LAYOUT` for values, by name or path, and "
                   "`rules GLOB: RULE; RULE` for nodes")
      ->type_name("FILE");
  command
      ->add_option("--parameter-budget", flags->parameter_budget,
                   "Most bytes of parameters that a rank may hold, as 2GB")
      ->type_name("BYTES");
  command
      ->add_option("--out,--save", flags->out,
                   "Write the plan in the format onedim.plan/1, which `run GRAPH PLAN` runs")
      ->type_name("FILE");
  flags->solving.add_to(*command);
  command->footer(
      "The objective is the sum of local calls and moves; no plan costs less than the lower "
      "bound.\n"
      "Exit code 1 if there is no plan.\n"
      "Example: onedim plan llama3-8b --layers 2 --mesh dp=8,tp=8 --cluster h100 --out plan.json");
  command->callback([flags, &session] {
    session.choose([flags, &session] { return run_plan(session, *flags); });
  });
}

}  // namespace onedim
