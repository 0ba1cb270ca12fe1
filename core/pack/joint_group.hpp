#pragma once
// Joint group: a partial kind of a pack with the outputs of one call that it covers. On every rank
// the kind's state is one value of several tensors: made from the call's inputs by the kind's
// `local`, or, without one, by the op's kernel as these very outputs.

#include "core/pack/rank_call.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

// A partial of a pack.
bool is_joint(const Placement& placement);

// One kind and the outputs it covers, in component order.
struct JointGroup {
  const PartialKind* kind = nullptr;
  std::vector<int> outputs;
};
// The kinds that stand in a rule's outputs. Fails where no pack offers one, or its group is not
// whole.
Result<std::vector<JointGroup>> joint_groups(std::span<const Placement> outputs,
                                             const Registry& registry);
// The placement of a pack's kind in each layout, R where there is none: two kinds never meet in one
// tensor.
std::vector<Placement> joint_placements(std::span<const Layout> layouts);

// One tensor a component of the kind.
using JointState = std::vector<Tensor>;
// What a rank holds: made of its inputs, or of the outputs that its kernel has just written.
Result<JointState> joint_state(const JointGroup& group, const RankCall& rank,
                               std::span<Tensor* const> inputs);

}  // namespace onedim
