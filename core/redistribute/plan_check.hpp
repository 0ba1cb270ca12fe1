#pragma once
// Plan check: the verifier. It draws a value, lays it out as the plan's source (partials as
// independent values that add up to it), runs the plan on simulated ranks and compares every rank
// with what the index map gives it of that value, bit by bit.

#include "core/redistribute/plan.hpp"
#include "core/redistribute/plan_run.hpp"

namespace onedim {

// Values are integers, powers of two for products, and multiples of what averages divide by, so
// every step is exact. Where the dtype is too narrow for that, f64 stands in. A partial of a pack
// needs `kinds`, and moves with all tensors of its state (joint_draw.hpp). OK if all ranks are
// equal; refused for more than 2^31 bytes over all ranks.
Status check_plan(const Plan& plan, std::span<const TensorMeta> group, const Mesh& mesh,
                  uint64_t seed, const KindLookup& kinds = {});

// The same for another way to run plans.
using PlanRunner = std::function<Result<GroupLocals>(const Plan&, const RunSetting&, GroupLocals)>;
Status check_plan(const Plan& plan, std::span<const TensorMeta> group, const Mesh& mesh,
                  uint64_t seed, const PlanRunner& run, const KindLookup& kinds = {});

}  // namespace onedim
