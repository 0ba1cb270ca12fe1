#include "core/graph/settling_plan.hpp"

#include "core/pack/local_call.hpp"

namespace onedim {
namespace {

Result<int64_t> state_bytes(const ResolvedNode& node, const NodeStrategy& strategy,
                            const JointGroup& group, const Mesh& mesh) {
  std::vector<uint64_t> tags;
  for (const Rule& rule : strategy.rules) tags.push_back(rule.tag);
  const Result<LocalCall> local =
      make_local_call(*node.op, node.call, node.outputs, strategy.inputs, strategy.outputs, mesh,
                      mesh.coordinate_of(0), tags);
  if (!local.ok()) return local.status();
  std::vector<OptionalOutput> outputs;
  for (const int output : group.outputs) outputs.push_back(local->outputs[output]);
  int64_t bytes = 0;
  if (!group.kind->has_local()) {
    for (const OptionalOutput& output : outputs) bytes += output ? output->meta.bytes() : 0;
    return bytes;
  }
  const Result<std::vector<TensorMeta>> states =
      group.kind->state_metas(local->call, outputs, &local->location);
  if (!states.ok()) return states.status();
  for (const TensorMeta& state : *states) bytes += state.bytes();
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const Plan>> make_settling_plan(const ResolvedNode& node,
                                                       const NodeStrategy& strategy,
                                                       const JointGroup& group,
                                                       const CostModel& model) {
  const Mesh& mesh = model.mesh();
  const Result<int64_t> bytes = state_bytes(node, strategy, group, mesh);
  if (!bytes.ok()) return bytes.status();
  auto plan = std::make_shared<Plan>();
  plan->from = strategy.outputs[group.outputs[0]];
  plan->to = settled_layout(plan->from);
  PlanStep step;
  step.kind = StepKind::kAllReduce;
  step.from = plan->from;
  step.to = plan->to;
  int64_t ranks = 1;
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (!is_joint(plan->from.placements[d]) || mesh.size(d) == 1) continue;
    step.mesh_dims |= MeshDimSet{1} << d;
    ranks *= mesh.size(d);
  }
  const int64_t gathered = ranks * *bytes;
  step.bytes = gathered - *bytes;
  step.unpack_bytes = gathered;
  step.memory_bytes = gathered + *bytes;
  if (ranks > 1) {
    step.us = model.collective_us(Collective::kAllGather, step.mesh_dims, gathered) +
              model.copy_us(gathered + *bytes);
    plan->collective_count = 1;
  }
  plan->cost_us = step.us;
  plan->bytes = step.bytes;
  plan->lower_bound_bytes = ranks > 1 ? *bytes : 0;
  plan->peak_bytes = step.memory_bytes;
  plan->steps.push_back(std::move(step));
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace onedim
