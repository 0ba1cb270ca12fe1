#pragma once
// Settling plan: how the outputs of one partial kind of a pack become whole behind their node: one
// all_reduce, which gathers the states of a team and merges them by the kind's combine. What moves
// is the state, which may be far smaller than the outputs that are made of it.

#include "core/cost/cost_model.hpp"
#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/pack/joint_group.hpp"

namespace onedim {

// By the state of rank 0, which is the largest.
Result<std::shared_ptr<const Plan>> make_settling_plan(const ResolvedNode& node,
                                                       const NodeStrategy& strategy,
                                                       const JointGroup& group,
                                                       const CostModel& model);

}  // namespace onedim
