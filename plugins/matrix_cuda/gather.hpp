#pragma once
// Strided copies between tensors of one dtype: what BLAS cannot read where it lies is gathered into
// scratch, what it cannot write where it belongs is scattered from there.

#include <onedim/pack.h>
#include <onedim/device_walk.hpp>

namespace matrix_cuda {

// `walk` is of the target, then the source.
void run_copy(const onedim::device::Walk<2>& walk, int64_t element_size, void* to, const void* from,
              const onedim_execution_t& execution);
void run_zero(const onedim::device::Walk<2>& walk, int64_t element_size, void* to,
              const onedim_execution_t& execution);

}  // namespace matrix_cuda
