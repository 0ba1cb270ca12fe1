#pragma once
// Sums over dims on a device: each block folds some output elements, several threads to one, in
// f64 (integers in i64), always in the same order. A number of threads reads neighbours, along the
// folded dims or along the kept ones, whichever lie closer in memory.
//   sum.dim_IntList f32[4,6], dim [0]: kept (6) with strides in 1, out 1; folded (4) with stride 6

#include <onedim/device_elements.hpp>

namespace reduction_cuda {

struct FoldCall {
  onedim::device::Walk<2> kept;    // in, out
  onedim::device::Walk<1> folded;  // in
  onedim::device::Elements in;
  onedim::device::Elements out;
  int32_t rounds_to = -1;       // the dtype that each element is rounded to first; -1: none
  int32_t is_any = 0;           // whether some element differs from zero, instead of the sum
  double scale = 1, count = 1;  // result = sum * scale / count
};

void run_fold(const FoldCall& call, const onedim_execution_t& execution);

}  // namespace reduction_cuda
