#include "core/validate/wrap_check.hpp"

#include <algorithm>
#include <cmath>

namespace onedim {
namespace {

bool is_widened(const Subject& subject, size_t slot) {
  const OptionalMeta& meta = subject.call.inputs[slot];
  return meta && is_integral(meta->dtype) && !binds_local_values(subject.domains[slot]);
}

std::optional<Subject> widened(Subject subject) {
  for (size_t slot = 0; slot < subject.call.inputs.size(); ++slot) {
    if (is_widened(subject, slot)) subject.call.inputs[slot]->dtype = DType::kF64;
  }
  for (auto& [name, value] : subject.call.attributes) {
    const DType* dtype = value.get_if<DType>();
    if (dtype != nullptr && is_integral(*dtype)) value = Value{DType::kF64};
  }
  Result<std::vector<OptionalOutput>> outputs = subject.op->infer(subject.call);
  if (!outputs.ok() || outputs->size() != subject.outputs.size()) return std::nullopt;
  subject.outputs = *std::move(outputs);
  return subject;
}

Tensor to_f64(const Tensor& tensor) {
  Lanes from, to;
  read_lanes(tensor, from);
  to.reals.assign(from.integers.begin(), from.integers.end());
  Tensor wide = Tensor::zeros(DType::kF64, tensor.shape());
  write_lanes(to, wide);
  return wide;
}

bool exceeds(DType dtype, const Lanes& exact) {
  const bool is_unsigned = dtype == DType::kU8;
  const double span = std::ldexp(1.0, static_cast<int>(8 * size_of(dtype)) - (is_unsigned ? 0 : 1));
  return std::any_of(exact.reals.begin(), exact.reals.end(), [&](double value) {
    return !(value < span) || value < (is_unsigned ? 0 : -span);
  });
}

}  // namespace

WrapCheck::WrapCheck(const Subject& subject, const Mesh& mesh, const RankLayouts& layouts)
    : subject_(widened(subject)), narrow_(subject) {
  if (subject_) ranks_ = std::make_unique<RankSet>(*subject_, mesh, layouts);
}

bool WrapCheck::wraps(int output, const Draw& draw, std::span<const std::span<Tensor>> locals) {
  const OptionalOutput& described = narrow_.outputs[output];
  if (!subject_ || !ranks_->status().ok() || !described || !is_integral(described->meta.dtype) ||
      !subject_->outputs[output] || subject_->outputs[output]->meta.dtype != DType::kF64)
    return false;
  std::vector<Tensor> whole = draw.inputs;
  std::vector<std::vector<Tensor>> parts(locals.size());
  std::vector<std::span<Tensor>> spans;
  for (size_t slot = 0; slot < locals.size(); ++slot) {
    const bool widens = is_widened(narrow_, slot);
    if (widens) whole[slot] = to_f64(whole[slot]);
    for (const Tensor& local : locals[slot]) parts[slot].push_back(widens ? to_f64(local) : local);
    spans.emplace_back(parts[slot]);
  }
  const Result<std::vector<std::optional<Truth>>> truths = compute_truths(*subject_, whole);
  if (!truths.ok() || !(*truths)[output] || !ranks_->run(spans).ok()) return false;
  const DType dtype = described->meta.dtype;
  const std::vector<Lanes>& results = ranks_->results()[output];
  return exceeds(dtype, (*truths)[output]->lanes) ||
         std::any_of(results.begin(), results.end(),
                     [&](const Lanes& lanes) { return exceeds(dtype, lanes); });
}

}  // namespace onedim
