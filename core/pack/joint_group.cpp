#include "core/pack/joint_group.hpp"

#include <algorithm>
#include <map>

namespace onedim {

bool is_joint(const Placement& placement) {
  return placement.is_partial() && !is_builtin_partial(placement.partial);
}

Result<std::vector<JointGroup>> joint_groups(std::span<const Placement> outputs,
                                             const Registry& registry) {
  std::map<std::string, JointGroup> groups;
  for (size_t output = 0; output < outputs.size(); ++output) {
    const Placement& placement = outputs[output];
    if (!is_joint(placement)) continue;
    JointGroup& group = groups[placement.partial];
    group.kind = registry.find_partial_kind(placement.partial);
    if (group.kind == nullptr)
      return invalid_argument("no pack offers the partial kind {}", placement.partial);
    group.outputs.resize(group.kind->output_count, -1);
    if (placement.component < group.kind->output_count)
      group.outputs[placement.component] = static_cast<int>(output);
  }
  std::vector<JointGroup> list;
  for (auto& [name, group] : groups) {
    if (std::count(group.outputs.begin(), group.outputs.end(), -1) > 0) {
      return invalid_argument("the rule must name all {} outputs of {}", group.outputs.size(),
                              name);
    }
    list.push_back(std::move(group));
  }
  return list;
}

Result<JointState> joint_state(const JointGroup& group, const RankCall& rank,
                               std::span<Tensor* const> inputs) {
  JointState state;
  if (!group.kind->has_local()) {
    for (const int output : group.outputs) state.push_back(rank.outputs()[output].clone());
    return state;
  }
  const LocalCall& local = rank.local();
  std::vector<OptionalOutput> outputs;
  for (const int output : group.outputs) outputs.push_back(local.outputs[output]);
  Result<std::vector<TensorMeta>> metas =
      group.kind->state_metas(local.call, outputs, &local.location);
  if (!metas.ok()) return metas.status();
  for (const TensorMeta& meta : *metas) state.push_back(Tensor::zeros(meta));
  Status status = group.kind->local(local.call, inputs, &local.location, state);
  if (!status.ok()) return status;
  return state;
}

std::vector<Placement> joint_placements(std::span<const Layout> layouts) {
  std::vector<Placement> placements;
  for (const Layout& layout : layouts) {
    const auto found = std::find_if(layout.placements.begin(), layout.placements.end(), is_joint);
    placements.push_back(found == layout.placements.end() ? Placement::replicate() : *found);
  }
  return placements;
}

}  // namespace onedim
