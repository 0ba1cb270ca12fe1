#pragma once
// What is done of a product without BLAS, on tensors of any strides: copies into scratch and out of
// it, and the product itself where there is no room for copies, an element a thread.

#include <onedim/device_elements.hpp>

namespace matrix_cuda {

// `walk` is of the target, then the source.
void run_copy(const onedim::device::Walk<2>& walk, int64_t element_size, void* to, const void* from,
              const onedim_execution_t& execution);

// out = alpha sum(left right) + beta bias
struct PlainCall {
  onedim::device::Walk<4> places;  // of the output: out, left, right, bias
  onedim::device::Walk<2> inner;   // what is summed: left, right
  onedim::device::Elements out, left, right, bias;
  onedim::device::Complex<double> alpha, beta;
};
void run_plain(const PlainCall& call, const onedim_execution_t& execution);

}  // namespace matrix_cuda
