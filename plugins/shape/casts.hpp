#pragma once
// Conversions to another dtype, and which partial kinds they let through.
//   f32 to f64: all, sum and average to rounding;  f32 to i64: max and min, since truncation is
//   monotone;  c64 to f32: sum and avg, since the real part is linear;  bool to f32: max, min, and
//   the product of 0 and 1, which is min.

#include <onedim/pack.hpp>

namespace shape {

using namespace onedim::api;

// The partial kind that `kind` of the converted tensor comes from; empty for none.
std::string_view kind_before_cast(std::string_view kind, DType from, DType to);
// ONEDIM_RULE_TO_ROUNDING where a conversion rounds what the kind adds or multiplies.
uint64_t cast_flags(std::string_view kind, DType from, DType to);

// The elements of `from`, converted and broadcast to `to`.
void convert(const TensorView& from, const TensorView& to);
// The same into a row-major array of `dtype`.
void convert_dense(const TensorView& from, DType dtype, std::byte* to);

}  // namespace shape
