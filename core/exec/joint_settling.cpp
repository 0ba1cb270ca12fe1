#include "core/exec/joint_settling.hpp"

namespace onedim {

JointSettling::JointSettling(const JointGroup& group, const Layout& layout, const Mesh& mesh,
                             const Registry& registry, const RankSite& site, std::string subject,
                             std::string_view category)
    : group_(group), site_(site), category_(category), setting_{mesh, {}, {}} {
  setting_.kinds = [&registry](std::string_view name) { return registry.find_partial_kind(name); };
  setting_.subject = fmt::format("{}, state of {}", subject, group.kind->name);
  PlanStep step;
  step.kind = StepKind::kAllReduce;
  step.from = step.to = Layout::replicated(mesh.ndim());
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (!is_joint(layout.placements[d]) || mesh.size(d) == 1) continue;
    step.from.placements[d] = Placement::make_partial(group.kind->name);
    step.mesh_dims |= MeshDimSet{1} << d;
  }
  plan_.from = step.from;
  plan_.to = step.to;
  plan_.steps.push_back(std::move(step));
}

void JointSettling::set_price(int64_t bytes, double us) {
  plan_.steps[0].bytes = bytes;
  plan_.steps[0].us = us;
}

Status JointSettling::begin(const RankCall& call, std::span<Tensor* const> inputs) {
  Result<JointState> state = joint_state(group_, call, inputs);
  if (!state.ok()) return state.status();
  state_ = *std::move(state);
  site_.memory->set_cause(setting_.subject);
  setting_.shapes.clear();
  for (const Tensor& tensor : state_) {
    site_.memory->note(tensor, "state");
    setting_.shapes.push_back(tensor.shape());
  }
  run_ = std::make_unique<RankPlan>(plan_, setting_, site_, category_);
  run_->start(state_);
  return plan_.steps[0].mesh_dims == 0 ? Status() : run_->begin(0);
}

Result<std::vector<Tensor>> JointSettling::end(const RankCall& call) {
  if (plan_.steps[0].mesh_dims != 0) {
    if (Status status = run_->end(0); !status.ok()) return status;
  }
  site_.memory->set_cause(setting_.subject);
  std::vector<Tensor> outputs;
  for (const int output : group_.outputs) {
    const TensorMeta& meta = call.local().outputs[output]->meta;
    outputs.push_back(Tensor::zeros(TensorMeta::contiguous(meta.dtype, meta.shape)));
    site_.memory->note(outputs.back(), fmt::format("output {}", output));
  }
  if (Status status = group_.kind->finish(run_->locals(), outputs); !status.ok()) return status;
  for (const Tensor& tensor : run_->owned()) site_.memory->release(tensor);
  for (const Tensor& tensor : state_) site_.memory->release(tensor);
  run_.reset();
  state_.clear();
  return outputs;
}

}  // namespace onedim
