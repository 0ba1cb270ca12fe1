#include "core/select/compute_time.hpp"

#include <algorithm>
#include <cmath>

#include "core/pack/foreign_call.hpp"
#include "core/pack/variant.hpp"
#include "core/redistribute/step_price.hpp"

namespace onedim {
namespace {

// Tensors that an out= form is given are written, not read.
std::vector<bool> slots_read(const Op& op, const Call& call) {
  std::vector<bool> is_read(call.inputs.size(), true);
  if (op.variant != Variant::kOut) return is_read;
  for (const int slot : written_slots(op, call)) is_read[slot] = false;
  return is_read;
}

double bytes_of(const TensorMeta& meta) {
  return static_cast<double>(meta.element_count()) * static_cast<double>(size_of(meta.dtype));
}

}  // namespace

ComputeTime::ComputeTime(const SelectSubject& subject, const Roofline& roofline)
    : subject_(subject),
      roofline_(roofline),
      is_read_(slots_read(subject.op, subject.call)),
      call_(subject.call),
      outputs_(subject.outputs.begin(), subject.outputs.end()) {
  const Op& op = subject.op;
  asks_pack_ = (op.plain == nullptr ? op : *op.plain).cost_fn != nullptr;
  has_local_attributes_ = !op.size_attributes.empty();
  const auto is_view = [](const OptionalOutput& output) {
    return !output || output->view_of_input >= 0;
  };
  is_view_ = op.plain == nullptr && !outputs_.empty() &&
             std::all_of(outputs_.begin(), outputs_.end(), is_view);
  for (size_t slot = outputs_.size(); slot > 0; --slot) {
    if (outputs_[slot - 1]) dtype_ = outputs_[slot - 1]->meta.dtype;
  }
  for (size_t slot = call_.inputs.size(); slot > 0; --slot) {
    if (call_.inputs[slot - 1] && is_read_[slot - 1]) dtype_ = call_.inputs[slot - 1]->dtype;
  }
}

double ComputeTime::bytes_moved(const Call& call) const {
  double bytes = 0;
  for (size_t slot = 0; slot < call.inputs.size(); ++slot) {
    if (call.inputs[slot] && is_read_[slot]) bytes += bytes_of(*call.inputs[slot]);
  }
  for (const OptionalOutput& output : outputs_) {
    const bool is_written = output && (subject_.op.plain != nullptr || output->view_of_input < 0);
    if (is_written) bytes += bytes_of(output->meta);
  }
  return bytes;
}

Result<int64_t> ComputeTime::price(const Call& call, const Location* location) const {
  CallCost cost{0, 0};
  if (asks_pack_) {
    const ForeignCall running(subject_.op, "the cost");
    const Result<std::optional<CallCost>> given = subject_.op.cost(call, outputs_, location);
    if (!given.ok()) return given.status();
    cost = **given;
  } else {
    cost.bytes = bytes_moved(call);
  }
  const double ps = roofline_.us(cost.flops, cost.bytes, dtype_) * 1e6;
  return ps < static_cast<double>(kImpossible) ? std::llround(ps) : kImpossible;
}

Result<int64_t> ComputeTime::of(const LocalCall& local) {
  if (is_view_) return 0;
  for (size_t slot = 0; slot < outputs_.size(); ++slot) {
    if (!outputs_[slot]) continue;
    TensorMeta& meta = outputs_[slot]->meta;
    meta = TensorMeta::contiguous(meta.dtype, local.outputs[slot]->meta.shape);
  }
  return price(local.call, &local.location);
}

int64_t ComputeTime::least(std::span<const int64_t> lengths) {
  // A pack may count by where the local call stands, of which the lengths say nothing.
  if (is_view_ || (asks_pack_ && (has_local_attributes_ || subject_.op.is_position_aware())))
    return 0;
  size_t at = 0;
  const auto next = [&](TensorMeta& meta) {
    const size_t ndim = meta.shape.size();
    meta =
        TensorMeta::contiguous(meta.dtype, Dims(lengths.begin() + at, lengths.begin() + at + ndim));
    at += ndim;
  };
  for (OptionalMeta& input : call_.inputs) {
    if (input) next(*input);
  }
  for (OptionalOutput& output : outputs_) {
    if (output) next(output->meta);
  }
  return price(call_, nullptr).value_or(0);
}

Result<int64_t> longest_ps(const SelectSubject& subject, std::span<const Layout> inputs,
                           std::span<const Layout> outputs, std::span<const uint64_t> tags,
                           ComputeTime& time, Status& fault) {
  int64_t longest = 0;
  const Status valid =
      visit_local_calls(subject, inputs, outputs, tags, [&](const LocalCall& local) -> Status {
        const Result<int64_t> ps = time.of(local);
        if (!ps.ok()) return fault = ps.status();
        longest = std::max(longest, *ps);
        return absl::OkStatus();
      });
  if (!valid.ok()) return valid;
  return longest;
}

}  // namespace onedim
