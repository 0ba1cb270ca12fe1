#pragma once
// Which partials pass through a cast of every element, `P(out) | P(in)`. A reduction of one element
// is that cast; a longer one keeps the passes that its own operation commutes with.
// Theory: a cast that is linear passes sum and avg, a multiplicative one product, a monotone one
// max and min. Bool is 0 and 1, so `and` of bools is their product, a bool is a product of equal
// bools, and `x != 0` of a product is the `and` of its factors' `x != 0`.

#include <onedim/dtype.hpp>

#include <string_view>
#include <vector>

namespace reduction {

using onedim::api::DType;

struct Pass {
  std::string_view out;
  std::string_view in;  // empty: replicated
  bool to_rounding = false;

  bool is_linear() const { return out == in && (in == "sum" || in == "avg"); }
};

std::vector<Pass> cast_passes(DType from, DType to);

}  // namespace reduction
