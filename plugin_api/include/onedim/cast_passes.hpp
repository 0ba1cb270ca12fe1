#pragma once
// Which partials pass through a cast of every element, `P(out) | P(in)`. A reduction of one element
// is that cast; a longer one keeps the passes that its own operation commutes with.
// Theory: a cast that is linear passes sum and avg, a multiplicative one product, a monotone one
// max and min. Bool is 0 and 1, so `and` of bools is their product, a bool is a product of equal
// bools, and `x != 0` of a product is the `and` of its factors' `x != 0`. Truncation is monotone
// only; integers wrap modulo 2^w, which is linear and multiplicative, but monotone only where
// nothing wraps.
//   f32 -> i64: 0.5 + 0.5 is 1, but 0 + 0 is 0; max(0.5, 1.5) is 1 either way

#include <onedim/dtype.hpp>
#include <onedim/inline.hpp>

#include <string_view>
#include <vector>

namespace onedim::api {

struct Pass {
  std::string_view out;
  std::string_view in;  // empty: replicated
  bool to_rounding = false;

  bool is_linear() const { return out == in && (in == "sum" || in == "avg"); }
};

// x != 0. Unsigned integers differ from zero if their maximum or sum does (short of wrap-around, as
// for all comparisons); signed ones may not.
ONEDIM_INLINE std::vector<Pass> truth_passes(DType from) {
  if (is_bool(from)) return {{"max", "max"}, {"min", "min"}};
  std::vector<Pass> passes = {{"min", "product"}};
  if (from == DType::kU8)
    passes.insert(passes.end(), {{"max", "max"}, {"min", "min"}, {"max", "sum"}});
  return passes;
}

namespace detail {
ONEDIM_INLINE bool is_exact_cast(DType from, DType to) {
  if (category(from) < 2) return category(to) < 2;
  return from == to || from == to_real(to) || size_of(to_real(to)) > size_of(to_real(from));
}
// Whether a cast to integers is monotone. Casts to 32 bits are taken as free of wrap-around, as
// all maxima of integers are; narrower ones wrap on ordinary values, and so do negative ones that
// become unsigned.
ONEDIM_INLINE bool is_monotone_cast(DType from, DType to) {
  if (from == to) return true;
  if (to == DType::kU8) return false;
  return !is_integral(from) || size_of(to) > size_of(from) || size_of(to) >= 4;
}
// f8e4m3fn has no infinity: what overflows is no number, and its range is that of 8-bit integers.
ONEDIM_INLINE bool overflows_to_nan(DType from, DType to) {
  return to == DType::kF8E4M3FN && from != to && category(from) > 0 &&
         (is_floating(from) || is_complex(from) || size_of(from) > 1);
}
}  // namespace detail

ONEDIM_INLINE std::vector<Pass> cast_passes(DType from, DType to) {
  if (is_bool(to)) return truth_passes(from);
  if (is_bool(from)) return {{"max", "max"}, {"min", "min"}, {"product", "min"}, {"product", ""}};
  if (is_integral(to) && !is_integral(from)) {  // truncation
    if (is_complex(from) || !detail::is_monotone_cast(from, to)) return {};
    return {{"max", "max"}, {"min", "min"}};
  }
  // f8e8m0 drops the sign, and zero becomes the smallest scale.
  if (detail::overflows_to_nan(from, to) || (to == DType::kF8E8M0 && from != to)) return {};
  const bool rounds = !detail::is_exact_cast(from, to);
  std::vector<Pass> passes = {{"sum", "sum", rounds}, {"avg", "avg", rounds}};
  if (is_complex(from) && !is_complex(to)) return passes;  // the real part
  passes.push_back({"product", "product", rounds});
  if (is_complex(to) || (is_integral(to) && !detail::is_monotone_cast(from, to))) return passes;
  passes.insert(passes.end(), {{"max", "max"}, {"min", "min"}});
  return passes;
}

}  // namespace onedim::api
