#pragma once
// What makes an OpBuilder's op pointwise: shape, dtypes, shard rules, cost and kernel from a few
// words.

#include <onedim/element_strides.hpp>
#include <onedim/inline.hpp>
#include <onedim/op_builder.hpp>

namespace onedim::api {

// Work of an elementwise call: `flops` an output element, every tensor moved once.
ONEDIM_INLINE void elementwise_cost(const Call& call, double flops, onedim_cost_t& cost) {
  cost.flops = cost.bytes = 0;
  const auto add_bytes = [&cost](const TensorView& tensor) {
    if (!tensor.present()) return 0.0;
    const double count = static_cast<double>(tensor.element_count());
    cost.bytes += count * static_cast<double>(size_of(tensor.dtype()));
    return count;
  };
  for (int slot = 0; slot < call.input_count(); ++slot) add_bytes(call.input(slot));
  for (int slot = 0; slot < call.output_count(); ++slot)
    cost.flops += flops * add_bytes(call.output(slot));
}

ONEDIM_INLINE OpBuilder& OpBuilder::pointwise(Promotion promotion,
                                              std::vector<std::string> operands) {
  promotes_ = promotion == Promotion::kFloating;
  return pointwise(
      [this, promotion](const Call& call) { return promoted_dtypes(call, promotion, operands_); },
      std::move(operands));
}

ONEDIM_INLINE OpBuilder& OpBuilder::pointwise(PointwiseDTypesFn dtypes,
                                              std::vector<std::string> operands) {
  operands_ = operands.empty() ? schema_tensor_arguments() : std::move(operands);
  pointwise_dtypes_ = std::move(dtypes);
  infer_ = [this](const Call& call, OutputSink& outputs) {
    Shape shape;
    for (int slot = 0; slot < call.input_count(); ++slot) {
      if (call.input(slot).present()) shape = broadcast(shape, call.input(slot).shape());
    }
    const bool has_numbers =
        operand(call, "self").value != nullptr || operand(call, "other").value != nullptr;
    Shape strides = element_strides(call, shape, has_numbers);
    outputs.add(Output{checked_dtypes(call).output, std::move(shape), std::move(strides), -1, 0});
  };
  cost_ = [this](const Call& call, onedim_cost_t& cost) { elementwise_cost(call, flops_, cost); };
  rules_.push_back(pointwise_rules);
  return *this;
}

ONEDIM_INLINE PointwiseDTypes OpBuilder::checked_dtypes(const Call& call) const {
  const PointwiseDTypes dtypes = pointwise_dtypes_(call);
  const uint64_t accepted = (accepted_ ? accepted_ : ~uint64_t{0}) & ~refused_;
  if (!(accepted & dtype_bit(dtypes.compute))) {
    fail(std::string("not defined for ") + name_of(dtypes.compute));
  }
  return dtypes;
}

// What the kernel computes in, and all that is promoted to it: a lone tensor that keeps its dtype
// is not.
ONEDIM_INLINE uint64_t OpBuilder::pointwise_input_dtypes() const {
  const uint64_t computed = accepted_ & ~refused_;
  const bool keeps_dtype = schema_tensor_arguments().size() == 1 && operands_.size() == 1;
  if (keeps_dtype && !promotes_) return computed;
  int highest = 0;
  for (int t = 0; t < ONEDIM_DTYPE_COUNT; ++t) {
    if (computed >> t & 1) highest = std::max(highest, category(static_cast<DType>(t)));
  }
  uint64_t inputs = computed;
  for (int t = 0; t < ONEDIM_DTYPE_COUNT; ++t) {
    const bool is_refused_float = category(static_cast<DType>(t)) >= 2 && (refused_ >> t & 1);
    if (category(static_cast<DType>(t)) <= highest && !is_refused_float) inputs |= uint64_t{1} << t;
  }
  return inputs;
}

template <size_t kOperands, typename... Types, typename Make>
OpBuilder& OpBuilder::elementwise(ComputeTypes<Types...>, Make make) {
  accepted_ = dtype_mask<Types...>();
  return compute(kAllDTypes, [this, make](const Call& call, const onedim_execution_t&) {
    const std::vector<std::string>& names = kernel_operands_.empty() ? operands_ : kernel_operands_;
    require(names.size() >= kOperands, "the op has fewer operands than its kernel");
    std::array<Operand, kOperands> in;
    for (size_t k = 0; k < kOperands; ++k) in[k] = operand(call, names[k]);
    const PointwiseDTypes dtypes = checked_dtypes(call);
    // ATen keeps a number's full precision in arithmetic of floats, not of integers or in compares.
    const bool settles = category(dtypes.compute) < 2 || category(dtypes.output) == 0;
    const DType number_dtype = settles ? dtypes.compute : DType::kUndefined;
    const auto f = make(call);
    with_compute_type<Types...>(dtypes.compute, [&]<typename C>(C) {
      map_elements<C>(call.output(), in, f, number_dtype);
    });
  });
}

}  // namespace onedim::api
