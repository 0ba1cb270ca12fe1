#include "tools/graph_run_flags.hpp"

#include "core/base/output_file.hpp"
#include "tools/placement_file.hpp"

namespace onedim {

void GraphRunFlags::add_to(CLI::App& command) {
  source.add_to(command);
  command.get_option("graph")->required(false);
  command
      .add_option("plan", plan,
                  "Of a graph: where everything lies, in the format onedim.plan/1 (default: what "
                  "--place and select say)")
      ->type_name("PLAN.JSON");
  command
      .add_option("--place", place,
                  "Of a graph: a file of lines `GLOB: LAYOUT` for values, by name or path, and "
                  "`rules GLOB: RULE; RULE` for nodes")
      ->type_name("FILE");
  command.add_option("--save-plan", save_plan, "Of a graph: write the plan that is run")
      ->type_name("FILE");
  command
      .add_option("--check-dtype", check_dtype,
                  "Of a graph: run it again with all floats in this dtype, f64, where outputs must "
                  "agree to 1e-9")
      ->type_name("DTYPE");
}

Result<bool> GraphRunFlags::is_checked_in_f64() const {
  if (check_dtype.empty() || check_dtype == "f64") return !check_dtype.empty();
  return invalid_argument("--check-dtype: expected f64, not {}", check_dtype);
}

Result<ReadSolution> GraphRunFlags::place_by_hand(const ResolvedGraph& resolved,
                                                  const PlanningFlags& planning) const {
  if (planning.mesh.empty()) return invalid_argument("--mesh is needed to place a graph");
  const Result<std::vector<PlacementLine>> lines = read_placement_file(place);
  if (!lines.ok()) return lines.status();
  Result<std::shared_ptr<const CostModel>> model = planning.make_model();
  if (!model.ok()) return model.status();
  const Result<SelectOptions> options = planning.select_options();
  if (!options.ok()) return options.status();
  Planner planner(*std::move(model));
  Selector selector(*resolved.registry, planner);
  Result<Solution> solution = place_graph(resolved, *lines, selector, *options);
  if (!solution.ok()) return place.empty() ? solution.status() : annotate(solution.status(), place);
  return ReadSolution{*std::move(solution), {planning.cluster, planning.cost_model}};
}

Result<ReadSolution> GraphRunFlags::solve(const ResolvedGraph& resolved,
                                          const PlanningFlags& planning, bool may_write) const {
  if (!plan.empty() && (!place.empty() || !planning.mesh.empty())) {
    return invalid_argument(
        "{} says where everything lies; it goes with neither --place nor --mesh", plan);
  }
  Result<ReadSolution> solved =
      plan.empty() ? place_by_hand(resolved, planning) : read_solution(plan, resolved);
  if (!solved.ok() || save_plan.empty() || !may_write) return solved;
  const std::string text = format_solution(*resolved.graph, solved->solution, solved->prices);
  Status status = annotate(write_text_file(save_plan, text), "--save-plan");
  return status.ok() ? std::move(solved) : status;
}

}  // namespace onedim
