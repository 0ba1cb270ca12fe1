#pragma once
// NumberGrid: the numbers from which values and their splits are drawn. All lie on multiples of
// `step` and are small enough that sums, differences and doublings of a few of them, and sums of
// short products in f32 and f64, are exact in the dtype. So a split joins to its value bit for bit,
// and what a judge sees as error comes from the op alone. Integers stay free of wrap-around for the
// same reason.

#include "core/tensor/dtype.hpp"

namespace onedim {

struct NumberGrid {
  double step = 1;
  double limit = 1;   // ordinary values lie in [-limit, limit]
  double wide = 1;    // the largest value drawn
  double offset = 1;  // what splits add on one rank and take off another
  bool is_signed = true;
  bool powers_only = false;  // only powers of two exist: no zero, no sign
};

NumberGrid grid_of(DType dtype);

}  // namespace onedim
