#include "core/plan/graph_plan.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/text.hpp"
#include "core/layout/index_map.hpp"
#include "core/solve/assignment_check.hpp"
#include "core/solve/network_check.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int64_t held_parameters(const Graph& graph, const Solution& solution) {
  const Dims origin(static_cast<size_t>(solution.mesh.ndim()), 0);
  int64_t bytes = 0;
  for (ValueId value = 0; value < graph.value_count(); ++value) {
    const TensorMeta& tensor = graph.values[value].meta;
    if (graph.values[value].kind != ValueKind::kParam) continue;
    const IndexMap map = index_map(tensor.shape, solution.given[value], solution.mesh, origin);
    bytes += volume(map.local_shape()) * size_of(tensor.dtype);
  }
  return bytes;
}

// What the cheapest assignment cannot avoid, in words.
class Conflict {
 public:
  Conflict(const Graph& graph, const PlanNetwork& plan) : graph_(graph), plan_(plan) {}

  std::string text(const Assignment& assignment) const {
    const CostNetwork& network = plan_.network;
    for (size_t node = 0; node < network.nodes.size(); ++node) {
      if (network.nodes[node].costs[assignment[node]] >= kForbidden)
        return fmt::format("{}: it cannot be brought to where a line places it",
                           variable_text(static_cast<int>(node)));
    }
    for (const CostEdge& edge : network.edges) {
      const CostTable& table = network.tables[edge.table];
      const size_t cell =
          static_cast<size_t>(assignment[edge.from]) * table.columns + assignment[edge.to];
      if (table.cells[cell] < kForbidden) continue;
      return fmt::format("no move leads from {} to {}", variable_text(edge.from),
                         variable_text(edge.to));
    }
    return "";
  }

 private:
  std::string variable_text(int variable) const {
    const int node = variable - plan_.first_node;
    if (node >= 0 && node < graph_.node_count()) return node_text(graph_.nodes[node]);
    for (ValueId value = 0; value < graph_.value_count(); ++value) {
      const PlannedValue& planned = plan_.values[value];
      bool is_mine = planned.variable == variable;
      for (const ConsumerGroup& group : planned.groups) {
        is_mine |= group.copy_variable == variable;
        for (const PlanConsumer& consumer : group.consumers)
          is_mine |= consumer.node < 0 && consumer.variable == variable;
      }
      if (is_mine) return "value " + quoted_excerpt(graph_.values[value].name);
    }
    return "";
  }

  const Graph& graph_;
  const PlanNetwork& plan_;
};

int64_t least_parameters(const PlanNetwork& plan) {
  int64_t bytes = 0;
  for (const CostNode& node : plan.network.nodes) {
    for (const MemoryUse& use : node.uses)
      bytes += *std::min_element(use.bytes.begin(), use.bytes.end());
  }
  return bytes;
}

Status no_plan(const Graph& graph, const PlanNetwork& plan, const NetworkSolution& solved,
               const Mesh& mesh) {
  if (solved.state == SolveState::kInfeasible) {
    return absl::FailedPreconditionError(fmt::format(
        "{} on {}: no rank can hold the parameters in {} bytes; the layouts that they may have "
        "take {} at least",
        graph.name, mesh.format(), *plan.network.memory_limit, least_parameters(plan)));
  }
  return absl::FailedPreconditionError(fmt::format(
      "{} on {}: nothing was found {}; allow more effort or time", graph.name, mesh.format(),
      plan.network.memory_limit ? fmt::format("within {} bytes", *plan.network.memory_limit)
                                : "yet"));
}

}  // namespace

double GraphPlan::gap() const {
  if (objective_ps <= lower_bound_ps) return 0;
  return static_cast<double>(objective_ps - lower_bound_ps) / static_cast<double>(objective_ps);
}

Result<GraphPlan> plan_graph(const ResolvedGraph& resolved, const NamedPlacements& named,
                             Planner& planner, const Roofline& roofline,
                             const GraphPlanOptions& options) {
  const Graph& graph = *resolved.graph;
  const Mesh& mesh = planner.mesh();
  const Clock::time_point start = Clock::now();
  NetworkBuilder builder(resolved, named, planner, roofline, options.network);
  if (Status status = builder.build(); !status.ok()) return status;
  const PlanNetwork& plan = builder.result();
  GraphPlan made;
  made.variables = plan.network.nodes.size();
  made.edges = plan.network.edges.size();
  made.strategy_tables = builder.table_count();
  made.build_s = seconds_since(start);
  const Clock::time_point built = Clock::now();
  const Result<NetworkSolution> solved = solve(plan.network, options.solve);
  if (!solved.ok()) return solved.status();
  made.solve_s = seconds_since(built);
  if (solved->assignment.empty() && !plan.network.nodes.empty())
    return no_plan(graph, plan, *solved, mesh);
  if (solved->cost >= kForbidden) {
    return absl::FailedPreconditionError(fmt::format(
        "{} on {}: {}", graph.name, mesh.format(), Conflict(graph, plan).text(solved->assignment)));
  }
  Result<TimedSolution> timed = make_solution(
      resolved, builder, planner, plan_options(options.network.select), solved->assignment);
  if (!timed.ok()) return timed.status();
  made.timed = *std::move(timed);
  made.objective_ps = made.timed.total_compute_ps + made.timed.communication_ps;
  made.lower_bound_ps = std::min(static_cast<int64_t>(solved->lower_bound), made.objective_ps);
  made.state = solved->state;
  made.was_stopped = solved->was_stopped;
  made.effort = solved->effort;
  made.parameter_bytes = held_parameters(graph, made.timed.solution);
  return made;
}

}  // namespace onedim
