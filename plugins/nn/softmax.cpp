// Softmax over one dim, and what follows from it. With m = max x:
//   softmax      y = exp(x - m) / sum exp(x - m)        log_softmax  y = x - m - log sum exp(x - m)
//   safe_softmax the same, but 0 where a whole vector is -inf
//   gradients    softmax: (g - sum g y) y               log_softmax: g - exp(y) sum g
// Every other dim may be sharded: _softmax of f32[4,6] over dim 1 is `S(0) | S(0)`. The gradients
// are linear in g, so they pass its P(sum) and P(avg).

#include <cmath>
#include <limits>

#include "families.hpp"

namespace nn {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

int dim_of(const Call& call) {
  return wrap_dim(call.attribute<int64_t>("dim"), call.input(0).ndim());
}

// Calls f(at, count, step) for every vector along `dim`: elements at + i * step.
template <typename F>
void for_each_vector(const TensorView& tensor, int dim, F&& f) {
  const auto shape = tensor.shape();
  const size_t cut = static_cast<size_t>(dim);
  const int64_t count = tensor.ndim() > 0 ? shape[cut] : 1;
  const int64_t inner = tensor.ndim() > 0 ? product_of(shape.subspan(cut + 1)) : 1;
  const int64_t outer = tensor.ndim() > 0 ? product_of(shape.first(cut)) : 1;
  for (int64_t row = 0; row < outer * inner; ++row)
    f(static_cast<size_t>(row / inner * count * inner + row % inner), count,
      static_cast<size_t>(inner));
}

enum class Kind { kSoftmax, kLogSoftmax, kSafeSoftmax };

// One vector of the result, in place.
void normalise(Kind kind, double* value, int64_t count, size_t step) {
  double top = kMinusInfinity, sum = 0;
  for (int64_t i = 0; i < count; ++i) top = std::max(top, value[static_cast<size_t>(i) * step]);
  const bool is_masked = kind == Kind::kSafeSoftmax && top == kMinusInfinity;
  for (int64_t i = 0; i < count; ++i) sum += std::exp(value[static_cast<size_t>(i) * step] - top);
  for (int64_t i = 0; i < count; ++i) {
    double& x = value[static_cast<size_t>(i) * step];
    x = kind == Kind::kLogSoftmax ? x - top - std::log(sum) : std::exp(x - top) / sum;
    if (is_masked) x = 0;
  }
}

void compute(const Call& call, Kind kind) {
  std::vector<double> values = load(call.input(0));
  for_each_vector(call.input(0), dim_of(call), [&](size_t at, int64_t count, size_t step) {
    normalise(kind, values.data() + at, count, step);
  });
  store(values, call.output());
}

// All tensors cut alike on every dim but the one that is summed over.
void cut_other_dims(const Call& call, RuleSink& rules) {
  const int dim = dim_of(call);
  for (int other = 0; other < call.input(0).ndim(); ++other) {
    if (other == dim || call.input(0).size(other) == 1) continue;
    const Placement cut = any_shard(other);
    const std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), cut);
    rules.add(std::span(&cut, 1), inputs);
  }
}

void infer(const Call& call, OutputSink& outputs) {
  dim_of(call);
  const DType self = call.input(0).dtype();
  const bool widens = call.attribute<bool>("half_to_float");
  require(!widens || self == DType::kF16, "half_to_float is for f16 only");
  outputs.add(widens ? DType::kF32 : self, shape_of(call.input(0)));
}

OpBuilder& declare(Registrar& r, std::string_view schema, Kind kind) {
  return r.op(schema)
      .rules(cut_other_dims)
      .compute(kFloats,
               [kind](const Call& call, const onedim_execution_t&) { compute(call, kind); })
      .cost(cost_per_element(12));
}

// grad holds the incoming gradient of one vector and takes the outgoing one.
void differentiate(Kind kind, double* grad, const double* output, int64_t count, size_t step) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(i) * step;
    sum += kind == Kind::kLogSoftmax ? grad[at] : grad[at] * output[at];
  }
  for (int64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(i) * step;
    grad[at] = kind == Kind::kLogSoftmax ? grad[at] - std::exp(output[at]) * sum
                                         : (grad[at] - sum) * output[at];
  }
}

OpBuilder& declare_gradient(Registrar& r, std::string_view schema, Kind kind) {
  return r.op(schema)
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView grad = call.tensor("grad_output");
        require_shape(call.tensor("output"), grad.shape(), "output");
        require(call.tensor("output").dtype() == grad.dtype(),
                "grad_output and output need one dtype");
        dim_of(call);
        const DType dtype = call.attribute<DType>("input_dtype");
        require(dtype == grad.dtype() || (grad.dtype() == DType::kF32 && dtype == DType::kF16),
                "input_dtype must be that of grad_output, or f16 where that is f32");
        outputs.add(dtype, shape_of(grad));
      })
      .rules(cut_other_dims)
      .families({{kLinear, {"grad_output"}}})
      .compute(kFloats,
               [kind](const Call& call, const onedim_execution_t&) {
                 std::vector<double> grad = load(call.tensor("grad_output"));
                 const std::vector<double> output = load(call.tensor("output"));
                 for_each_vector(call.tensor("output"), dim_of(call),
                                 [&](size_t at, int64_t count, size_t step) {
                                   differentiate(kind, grad.data() + at, output.data() + at, count,
                                                 step);
                                 });
                 store(grad, call.output());
               })
      .cost(cost_per_element(6))
      .samples({"f32[5,7]; f32[5,7]; dim=1; input_dtype=f32",
                "f64[4,1,6]; f64[4,1,6]; dim=0; input_dtype=f64",
                "f64[2,3,4]; f64[2,3,4]; dim=-2; input_dtype=f64",
                "bf16[3,4]; bf16[3,4]; dim=-1; input_dtype=bf16",
                "f32[4,5]; f32[4,5]; dim=0; input_dtype=f16",
                "f64[7]; f64[7]; dim=0; input_dtype=f64"});
}

void declare_safe_softmax(Registrar& r) {
  declare(r, "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
          Kind::kSafeSoftmax)
      .summary("softmax over one dim; a vector of -inf gives zeros")
      .infer([](const Call& call, OutputSink& outputs) {
        dim_of(call);
        const DType self = call.input(0).dtype();
        const DType dtype = call.attribute<std::optional<DType>>("dtype").value_or(self);
        require(is_floating(dtype), "softmax is defined for floats; pass dtype for others");
        outputs.add(dtype, shape_of(call.input(0)));
      })
      .compute(
          kFloats | kIntegerDTypes | kBoolDTypes,
          [](const Call& call, const onedim_execution_t&) { compute(call, Kind::kSafeSoftmax); })
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[2,3,4]; dim=-2", "bf16[3,4]; dim=-1",
                "f64[7]; dim=0", "f32[3,5]; dim=0; dtype=f64", "i64[3,4]; dim=1; dtype=f32"});
}

}  // namespace

void declare_softmax(Registrar& r) {
  declare(r, "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", Kind::kSoftmax)
      .summary("exp(x) over its sum along one dim")
      .infer(infer)
      .gradient({"_softmax_backward_data"})
      .samples({"f32[5,7]; dim=1; half_to_float=false", "f64[4,1,6]; dim=0; half_to_float=false",
                "f64[2,3,4]; dim=-2; half_to_float=false", "bf16[3,4]; dim=-1; half_to_float=false",
                "f16[4,5]; dim=1; half_to_float=true", "f64[7]; dim=0; half_to_float=false"})
      .out("_softmax.out");
  declare(r, "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", Kind::kLogSoftmax)
      .summary("logarithm of softmax along one dim")
      .infer(infer)
      .gradient({"_log_softmax_backward_data"})
      .samples({"f32[5,7]; dim=1; half_to_float=false", "f64[4,1,6]; dim=0; half_to_float=false",
                "f64[2,3,4]; dim=-2; half_to_float=false", "bf16[3,4]; dim=-1; half_to_float=false",
                "f16[4,5]; dim=1; half_to_float=true", "f64[7]; dim=0; half_to_float=false"})
      .out("_log_softmax.out");
  declare_safe_softmax(r);
  declare_gradient(r,
                   "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
                   "input_dtype) -> Tensor",
                   Kind::kSoftmax)
      .summary("gradient of softmax: (g - sum g y) y");
  declare_gradient(r,
                   "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
                   "ScalarType input_dtype) -> Tensor",
                   Kind::kLogSoftmax)
      .summary("gradient of log_softmax: g - exp(y) sum g")
      .out("_log_softmax_backward_data.out");
}

}  // namespace nn
