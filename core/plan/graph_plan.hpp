#pragma once
// Graph plan: the cheapest solution of a whole graph on a mesh, with a proof of how cheap one can
// be. Its cost is local calls and moves, summed, by the cost model of the planner and the roofline.
// The bound is of all solutions in which the consumers of a value in one phase share one moved copy
// at most, the others being moved for one consumer each; nothing ties repeated layers.

#include "core/plan/network_solution.hpp"
#include "core/solve/solver.hpp"

namespace onedim {

struct GraphPlanOptions {
  NetworkOptions network;
  SolveOptions solve;
};

struct GraphPlan {
  TimedSolution timed;
  int64_t objective_ps = 0;
  int64_t lower_bound_ps = 0;
  SolveState state = SolveState::kUnknown;
  bool was_stopped = false;     // by the time
  int64_t effort = 0;           // reproduces the plan
  int64_t parameter_bytes = 0;  // of rank 0, which holds most
  size_t variables = 0;
  size_t edges = 0;
  size_t strategy_tables = 0;  // of all nodes together
  double build_s = 0, solve_s = 0;

  // By how much the objective may exceed the least, relative to it.
  double gap() const;
};

// FailedPrecondition where there is none: it names what cannot be, or says that the budget is too
// small. `named` is of the graph and the planner's mesh.
Result<GraphPlan> plan_graph(const ResolvedGraph& resolved, const NamedPlacements& named,
                             Planner& planner, const Roofline& roofline,
                             const GraphPlanOptions& options);

}  // namespace onedim
