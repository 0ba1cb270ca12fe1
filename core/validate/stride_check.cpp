#include "core/validate/stride_check.hpp"

#include <algorithm>
#include <cstring>

#include "core/validate/lane_text.hpp"

namespace onedim {
namespace {

enum class Spacing { kTransposed, kGaps };

TensorMeta spaced(const TensorMeta& dense, Spacing spacing) {
  TensorMeta meta = dense;
  if (spacing == Spacing::kTransposed) {
    int64_t stride = 1;
    for (size_t dim = 0; dim < meta.shape.size(); ++dim) {
      meta.strides[dim] = stride;
      stride *= meta.shape[dim];
    }
    return meta;
  }
  int64_t stride = 2;  // a gap behind every element, and one more behind every row
  for (size_t dim = meta.shape.size(); dim-- > 0;) {
    meta.strides[dim] = stride;
    stride = stride * meta.shape[dim] + 1;
  }
  return meta;
}

// The same values; gaps hold NaN, or 0, which is no wrong index.
Tensor space_out(const Tensor& dense, Spacing spacing) {
  Tensor tensor = Tensor::zeros(spaced(dense.meta(), spacing));
  if (tensor.element_count() == 0) return tensor;
  if (is_floating(tensor.dtype()) || is_complex(tensor.dtype()))
    std::memset(tensor.data(), 0xff, tensor.meta().storage_length() * size_of(tensor.dtype()));
  copy_elements(dense, tensor);
  return tensor;
}

bool has_views(const Subject& subject) {
  return subject.op->plain == nullptr &&
         std::any_of(subject.outputs.begin(), subject.outputs.end(),
                     [](const OptionalOutput& out) { return out && out->view_of_input >= 0; });
}

class StrideCheck {
 public:
  StrideCheck(Place& place, Spacing spacing) : place_(place), spacing_(spacing) {}

  Status run() const {
    const std::vector<OptionalMeta>& metas = place_.subject().call.inputs;
    std::vector<int> all;
    for (size_t slot = 0; slot < metas.size(); ++slot) {
      if (metas[slot] && metas[slot]->element_count() > 1) all.push_back(static_cast<int>(slot));
    }
    if (all.empty()) return absl::OkStatus();
    const std::string fault = fault_with(all);
    if (fault.empty()) return absl::OkStatus();
    for (const int slot : all) {
      if (const std::string own = fault_with({slot}); !own.empty())
        return told(fmt::format("input {}", slot), own);
    }
    return told("its inputs", fault);
  }

 private:
  Status told(const std::string& which, const std::string& fault) const {
    return absl::DataLossError(fmt::format("{}: the kernel does not follow the strides of {}: {}",
                                           place_.subject().op->name(), which, fault));
  }

  // What goes wrong with these inputs spaced out; "" if nothing does.
  std::string fault_with(const std::vector<int>& slots) const {
    const Subject& subject = place_.subject();
    std::vector<Tensor> inputs = place_.draw(0).inputs;
    Call call = subject.call;
    for (const int slot : slots) {
      inputs[slot] = space_out(inputs[slot], spacing_);
      call.inputs[slot] = inputs[slot].meta();
    }
    const Result<std::vector<OptionalOutput>> outputs = subject.op->infer(call);
    if (!outputs.ok() || !subject.op->accept_local(call, *outputs, nullptr).ok()) return "";
    const Result<std::vector<std::optional<Truth>>> truths = compute_truths(subject, inputs);
    if (!truths.ok()) return "it fails: " + std::string(message_of(truths.status()));
    for (size_t output = 0; output < truths->size(); ++output) {
      const std::string fault = difference(output, (*truths)[output], slots[0]);
      if (!fault.empty()) return fault;
    }
    return "";
  }

  std::string difference(size_t output, const std::optional<Truth>& spaced_out, int slot) const {
    const std::optional<Truth>& truth = place_.draw(0).truths[output];
    if (!truth || !spaced_out || truth->lanes.count() != spaced_out->lanes.count()) return "";
    ErrorModel model = place_.error_model(static_cast<int>(output));
    model.nonfinite = true;
    Mismatch mismatch;
    const Judgement judgement =
        judge(Placement::replicate(), *truth, {}, {&spaced_out->lanes, 1}, model, &mismatch);
    if (judgement != Judgement::kFails) return "";
    const Tensor& input = place_.draw(0).inputs[slot];
    const Dims& shape = place_.subject().outputs[output]->meta.shape;
    return fmt::format("output {} at {} should be {}, but is {} once {} has strides {}", output,
                       format_dims(index_of(shape, mismatch.element)),
                       format_lane(truth->lanes, mismatch.element),
                       format_lane(spaced_out->lanes, mismatch.element), format_meta(input.meta()),
                       format_dims(spaced(input.meta(), spacing_).strides));
  }

  Place& place_;
  Spacing spacing_;
};

}  // namespace

Status check_strides(Place& place) {
  if (!place.draw(0).status.ok() || has_views(place.subject())) return absl::OkStatus();
  if (Status fault = place.fault(); !fault.ok()) return fault;  // its inputs may be others by now
  for (const Spacing spacing : {Spacing::kTransposed, Spacing::kGaps}) {
    if (Status status = StrideCheck(place, spacing).run(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace onedim
