#pragma once
// Comparison: is what a rank holds the same as its part of what the whole computation gives? Equal
// means: bit equal for integers and bool; floats bit equal too, or |error| <= n eps sum|terms|,
// where n bounds how many roundings make an element, here and in the whole, eps is the output's,
// and sum|terms| is what the element's terms add up to without cancelling (Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd ed., 4.2). NaN equals NaN, -0 equals +0.

#include <string>

#include "core/tensor/tensor.hpp"

namespace onedim {

struct Comparison {
  bool is_equal = true;
  bool is_bit_equal = true;
  double max_abs_error = 0;  // over elements that are finite on both sides
  double max_ulp = 0;        // the same in units of the last place of what is expected
  // The first element that is not equal: linear index, and both values in words.
  int64_t element = -1;
  std::string difference;
};

// `magnitude`, of one shape with the others, holds sum|terms| as f64; without it |expected| counts.
Comparison compare_tensors(const Tensor& expected, const Tensor& got, const Tensor* magnitude,
                           double roundings);

// |value| of every element, as f64.
Tensor magnitudes_of(const Tensor& tensor);

}  // namespace onedim
