#pragma once
// One batch of matrix products in BLAS terms: matrices are column-major, element (i,j) of a matrix
// lies at i + j * leading, and c = alpha op(a) op(b) + beta c with op the identity or a transpose.
//   c [m,n], op(a) [m,k], op(b) [k,n]

#include <complex>

#include <onedim/pack.h>

namespace matrix_cuda {

struct BlasMatrix {
  const void* data = nullptr;
  bool is_transposed = false;
  int64_t leading = 1;
  int64_t batch_stride = 0;
};

struct BlasCall {
  int32_t dtype = 0;  // f64 f32 bf16 f16 c64
  int64_t m = 0, n = 0, k = 0, batch = 1;
  std::complex<double> alpha = 1, beta = 0;
  BlasMatrix a, b;
  void* c = nullptr;
  int64_t c_leading = 1, c_batch_stride = 0;
  // For the library's own use.
  void* scratch = nullptr;
  uint64_t scratch_bytes = 0;
};

// What the library needs to split long sums.
inline constexpr uint64_t kBlasScratch = uint64_t{32} << 20;

// On the execution's device and stream.
void multiply(const BlasCall& call, const onedim_execution_t& execution);

}  // namespace matrix_cuda
