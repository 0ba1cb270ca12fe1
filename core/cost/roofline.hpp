#pragma once
// Roofline: the time of one kernel from what it computes and moves: the slower of arithmetic and
// memory, both at the share of their peak that kernels reach, and never less than a launch.

#include "core/cost/cluster.hpp"

namespace onedim {

// `flops` operations on elements of `dtype`, `bytes` read and written in all. A dtype without a
// peak is priced by its bytes alone.
double roofline_us(const ClusterCompute& compute, double flops, double bytes, DType dtype);

}  // namespace onedim
