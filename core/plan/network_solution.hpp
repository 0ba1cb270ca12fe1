#pragma once
// Network solution: an assignment of a plan's cost network as what the executor runs: given
// layouts, strategies and moves with their plans. Its moves and local calls take together what the
// assignment costs, or less: a shared copy that nobody takes is left out.

#include "core/plan/plan_network.hpp"

namespace onedim {

struct TimedSolution {
  Solution solution;
  std::vector<int64_t> compute_ps;  // per node
  int64_t total_compute_ps = 0;
  int64_t communication_ps = 0;  // moves, settling of partials of packs
};

// `builder` has built the network that the assignment is of. Internal if a move has no plan.
Result<TimedSolution> make_solution(const ResolvedGraph& resolved, NetworkBuilder& builder,
                                    Planner& planner, const PlanOptions& options,
                                    const Assignment& assignment);

}  // namespace onedim
