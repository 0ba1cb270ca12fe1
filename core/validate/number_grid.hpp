#pragma once
// NumberGrid: the numbers from which values and their splits are drawn. All lie on multiples of
// `step` and are small enough that sums, differences and doublings of a few of them, and sums of
// short products in f32 and f64, are exact in the dtype. So a split joins to its value bit for bit,
// and what a judge sees as error comes from the op alone. Integers stay free of wrap-around for the
// same reason. Larger values live on a grid of their own, the same one scaled by a power of two:
// thresholds of an op may lie anywhere.

#include "core/tensor/dtype.hpp"

namespace onedim {

struct NumberGrid {
  double step = 1;
  double limit = 1;     // ordinary values lie in [-limit, limit]
  double wide = 1;      // the largest value drawn on this grid
  double offset = 1;    // what splits add on one rank and take off another
  int large_power = 0;  // large values are ordinary ones times up to 2^large_power
  double reach = 1;     // constants of a call are drawn up to here
  double largest = 1;   // no local value lies beyond
  bool is_signed = true;
  bool is_integer = false;
  bool powers_only = false;  // only powers of two exist: no zero, no sign

  // The grid for splits and neighbours of values of this magnitude: this one up to `wide`.
  NumberGrid around(double magnitude) const;
};

NumberGrid grid_of(DType dtype);

}  // namespace onedim
