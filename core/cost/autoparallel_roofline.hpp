#pragma once
// AutoParallelRoofline: what AutoParallel (a54c252, H100) takes a kernel and a local copy to cost.
// It counts on 3.35 x 2^40 bytes a second, not 10^12, and so differs from the cluster's roofline.

#include "core/tensor/dtype.hpp"

namespace onedim {

// A kernel that reads and writes `bytes`: 0.7 of the memory's peak, at least 7 us.
double autoparallel_copy_us(double bytes);

// An op that is no view: `flops` at 0.7 of the peak of its first tensor's dtype, and never less
// than its bytes take. A dtype without a peak is priced by its bytes alone.
double autoparallel_roofline_us(double flops, double bytes, DType first);

}  // namespace onedim
