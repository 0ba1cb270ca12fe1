#pragma once
// Plan run: carries out a plan on all ranks at once, step by step, each rank's side of a step as
// rank_step.hpp has it: in a collective a rank sees what its team gives it and nothing else.
// plan_check.hpp compares the outcome with the index map.

#include "core/redistribute/rank_step.hpp"

namespace onedim {

// Per tensor of the group, one local tensor per rank.
using GroupLocals = std::vector<std::vector<Tensor>>;

// The locals under plan.to. Fails where a step is not what its kind allows: a rank would need an
// element that nobody in its group holds, or would get one twice.
Result<GroupLocals> run_plan(const Plan& plan, const RunSetting& setting, GroupLocals locals);

}  // namespace onedim
