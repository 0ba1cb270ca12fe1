// Device kernels of elementwise ops, casts and copies. What an op means, its dtypes and its shape
// are the declaring packs'; the kernels are in map.hpp.
//   mul.Tensor f32[4,6], bf16[6] -> f32[4,6], computed in f32
//   add.Tensor, mul.Tensor, exp, sigmoid ...; prims.convert_element_type, _to_copy; clone, _conj

#include <onedim/device_call.hpp>
#include <onedim/pack.hpp>

#include "map.hpp"

namespace pointwise_cuda {
namespace {

using namespace onedim::api;

constexpr uint64_t kNumbers = kDeviceDTypes;
constexpr uint64_t kReal = kDeviceDTypes & ~dtype_bit(DType::kC64);

// As the CPU's kernels read a number: of integers it takes the result's dtype, of floats none.
Number number_of(const Operand& operand, DType dtype) {
  if (operand.value == nullptr) return {};
  Number number;
  if (category(dtype) < 2) {
    number.integer = settled(detail::number_as<int64_t>(operand), dtype);
  } else {
    number.real = operand.number.real();
    number.imaginary = operand.number.imag();
  }
  return number;
}

// Results are computed in their own dtype, but a copy converts from its input's.
void run(const Call& call, const onedim_execution_t& execution, Function function,
         std::span<const std::string_view> names) {
  const TensorView out = call.output();
  MapCall map;
  std::array<TensorView, 2> tensors;
  for (size_t k = 0; k < names.size(); ++k) {
    const Operand in = operand(call, names[k]);
    tensors[k] = in.tensor;
    map.inputs[k] = {elements_of(in.tensor), number_of(in, out.dtype())};
  }
  map.alpha.real = map.alpha.integer = 1;
  if (call.has_attribute("alpha")) map.alpha = number_of(operand(call, "alpha"), out.dtype());
  map.out = elements_of(out);
  map.walk = broadcast_walk(out, tensors);
  const bool is_copy = function == Function::kCopy;
  const DType computed = is_copy ? tensors[0].dtype() : out.dtype();
  run_map(function, compute_type(static_cast<int32_t>(computed)), map, execution);
}

class Kernels {
 public:
  explicit Kernels(Registrar& r) : r_(r) {}

  void one(std::string_view op, uint64_t dtypes, Function function,
           std::string_view name = "self") {
    r_.kernel(op, ONEDIM_DEVICE_CUDA)
        .compute(dtypes, [function, name](const Call& call, const onedim_execution_t& execution) {
          run(call, execution, function, std::array{name});
        });
  }
  void two(std::string_view op, uint64_t dtypes, Function function,
           std::string_view other = "other") {
    r_.kernel(op, ONEDIM_DEVICE_CUDA)
        .compute(dtypes, [function, other](const Call& call, const onedim_execution_t& execution) {
          run(call, execution, function, std::array<std::string_view, 2>{"self", other});
        });
  }

 private:
  Registrar& r_;
};

}  // namespace
}  // namespace pointwise_cuda

ONEDIM_PACK("pointwise_cuda", "1.0.0", [](onedim::api::Registrar& r) {
  using namespace pointwise_cuda;
  Kernels kernels(r);
  for (const char* overload : {"Tensor", "Scalar"}) {
    const auto name = [&](const char* base) { return std::string(base) + "." + overload; };
    kernels.two(name("add"), kNumbers, Function::kAdd);
    kernels.two(name("sub"), kNumbers, Function::kSubtract);
    kernels.two(name("mul"), kNumbers, Function::kMultiply);
    kernels.two(name("div"), kNumbers, Function::kDivide);
  }
  kernels.two("pow.Tensor_Scalar", kReal, Function::kPower, "exponent");
  kernels.two("pow.Tensor_Tensor", kReal, Function::kPower, "exponent");
  kernels.one("neg", kNumbers, Function::kNegate);
  kernels.one("exp", kReal, Function::kExp);
  kernels.one("log", kReal, Function::kLog);
  kernels.one("sqrt", kReal, Function::kSqrt);
  kernels.one("rsqrt", kReal, Function::kRsqrt);
  kernels.one("reciprocal", kReal, Function::kReciprocal);
  kernels.one("sigmoid", kReal, Function::kSigmoid);
  kernels.one("silu", kDeviceFloats, Function::kSilu);
  kernels.one("tanh", kReal, Function::kTanh);
  kernels.one("prims.convert_element_type", kNumbers, Function::kCopy, "a");
  kernels.one("_to_copy", kNumbers, Function::kCopy);
  kernels.one("to.dtype", kNumbers, Function::kCopy);
  kernels.one("clone", kNumbers, Function::kCopy);
  kernels.one("_conj", dtype_bit(DType::kC64), Function::kConjugate);
});
