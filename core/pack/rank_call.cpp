#include "core/pack/rank_call.hpp"

#include "core/pack/unwritten.hpp"
#include "core/pack/variant.hpp"

namespace onedim {

Result<std::unique_ptr<RankCall>> RankCall::create(const Op& op, LocalCall local) {
  std::unique_ptr<RankCall> call(new RankCall(op, std::move(local)));
  Result<std::unique_ptr<PreparedCompute>> compute =
      PreparedCompute::create(op, call->local_.call, call->local_.outputs, &call->local_.location,
                              1, PreparedCompute::Keep::kReferences);
  if (!compute.ok()) return compute.status();
  call->compute_ = *std::move(compute);
  call->allocate();
  return call;
}

void RankCall::allocate() {
  // The host lets variants write elsewhere, so only ops that write by themselves need copies.
  const bool is_variant = op_.plain != nullptr;
  if (!is_variant) written_ = written_slots(op_, local_.call);
  scratch_.resize(local_.call.inputs.size());
  input_pointers_.resize(scratch_.size(), nullptr);
  std::erase_if(written_, [&](int slot) { return !local_.call.inputs[slot]; });
  for (const int slot : written_) scratch_[slot] = Tensor::zeros(*local_.call.inputs[slot]);
  outputs_.resize(local_.outputs.size());
  output_pointers_.resize(outputs_.size(), nullptr);
  marked_.resize(outputs_.size(), nullptr);
  for (size_t output = 0; output < outputs_.size(); ++output) {
    const OptionalOutput& described = local_.outputs[output];
    if (!described) continue;
    output_pointers_[output] = &outputs_[output];
    if (described->view_of_input >= 0 && !is_variant) {
      views_.push_back(static_cast<int>(output));
    } else {
      marked_[output] = &outputs_[output];
      outputs_[output] =
          Tensor::zeros(TensorMeta::contiguous(described->meta.dtype, described->meta.shape));
    }
  }
}

void RankCall::place_views() {
  for (const int output : views_) {
    const OutputMeta& described = *local_.outputs[output];
    const Tensor& base = *input_pointers_[described.view_of_input];
    outputs_[output] = base.view(described.meta, described.storage_offset);
  }
}

Status RankCall::run(std::span<Tensor* const> inputs) {
  return run_marked(op_.name(), marked_, [&] { return run_once(inputs); });
}

Status RankCall::run_once(std::span<Tensor* const> inputs) {
  std::copy(inputs.begin(), inputs.end(), input_pointers_.begin());
  for (const int slot : written_) {
    copy_elements(*inputs[slot], scratch_[slot]);
    input_pointers_[slot] = &scratch_[slot];
  }
  place_views();
  return compute_->run(input_pointers_, output_pointers_);
}

}  // namespace onedim
