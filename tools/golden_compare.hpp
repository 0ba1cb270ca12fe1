#pragma once
// Golden compare: does a result agree with the one in the file? Dtype and shape must be equal;
// integers and bool must be equal; NaN and infinities must stand where they stand in the file.
// Other floats must satisfy |ours - theirs| <= atol + rtol |theirs|, complex numbers by absolute
// value, with the tolerances that PyTorch's own comparison uses by dtype:
//   f64 c128  rtol 1e-7    atol 1e-7        bf16  rtol 1.6e-2  atol 1e-5
//   f32 c64   rtol 1.3e-6  atol 1e-5        f16   rtol 1e-3    atol 1e-5        f8  rtol eps, atol
//   1e-5
// f32's rtol is 11 eps: a sum of products of a few dozen terms of one sign may differ by that much
// if it is added up in another order; atol covers sums that cancel.

#include <string>

#include "tools/golden_calls.hpp"

namespace onedim {

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};
Tolerance tolerance_of(DType dtype);

// "" if they agree, otherwise what differs: `f32[2], expected f32[3]`.
std::string meta_difference(const Tensor& ours, const Tensor& theirs);
// The same of metas and elements, the first that differs: `[2,1]: 0.5, expected 0.25`.
std::string tensor_difference(const Tensor& ours, const Tensor& theirs);
// One output slot; an absent output is nullopt, and null in the file. Undefined content is not
// compared.
std::string output_difference(const std::optional<Tensor>& ours, const GoldenValue& theirs,
                              bool has_undefined_content = false);
// The same where the slot stands for a number: bool, int, float or complex, as in the file.
std::string number_difference(const Tensor& ours, const GoldenValue& theirs);

}  // namespace onedim
