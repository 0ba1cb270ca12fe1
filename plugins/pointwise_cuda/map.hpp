#pragma once
// Elementwise device kernels: out[i] = f(a[i], b[i]) in one pass over the output, inputs broadcast
// and of any strides. Elements are loaded into the compute type of the result's dtype and stored
// with its rounding, as the CPU's kernels do.
//   mul.Tensor f32[4,6], bf16[6]: float; sizes (6,4), strides out (1,6), a (1,6), b (1,0)

#include <onedim/device_elements.hpp>

namespace pointwise_cuda {

enum class Function {
  kAdd,       // a + alpha b
  kSubtract,  // a - alpha b
  kMultiply,
  kDivide,
  kPower,
  kCopy,  // of one input from here on
  kConjugate,
  kNegate,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kSigmoid,
  kSilu,
  kTanh,
};

// A number in every compute type.
struct Number {
  double real = 0;
  double imaginary = 0;
  int64_t integer = 0;
};

// A tensor, or a number that every element sees.
struct Input {
  onedim::device::Elements tensor;
  Number number;
};

struct MapCall {
  onedim::device::Walk<3> walk;  // out, a, b
  onedim::device::Elements out;
  Input inputs[2];
  Number alpha;
};

enum class ComputeType { kFloat, kDouble, kInteger, kComplex };

// Which of them an element of the dtype is computed in.
constexpr ComputeType compute_type(int32_t dtype) {
  if (dtype == ONEDIM_DTYPE_F64) return ComputeType::kDouble;
  if (dtype == ONEDIM_DTYPE_C64) return ComputeType::kComplex;
  return dtype < ONEDIM_DTYPE_I64 ? ComputeType::kFloat : ComputeType::kInteger;
}

// Throws onedim::api::Error where the function has no kernel of this compute type.
void run_map(Function function, ComputeType type, const MapCall& call,
             const onedim_execution_t& execution);

}  // namespace pointwise_cuda
