// Matrix products as cuBLAS makes them, for emulated devices: column-major, with its checks of the
// leading dims.

#include "plugins/matrix_cuda/blas.hpp"

#include <onedim/device_elements.hpp>
#include <onedim/error.hpp>

#include <algorithm>

namespace matrix_cuda {
namespace {

using onedim::device::Complex;
using onedim::device::Elements;

template <typename C>
std::complex<double> element(const void* data, int32_t dtype, int64_t at) {
  const C value = onedim::device::load<C>(Elements{const_cast<void*>(data), dtype, 0}, at);
  if constexpr (onedim::device::kIsComplex<C>)
    return {value.real, value.imaginary};
  else
    return static_cast<double>(value);
}

template <typename C>
C narrowed(const std::complex<double>& value) {
  if constexpr (onedim::device::kIsComplex<C>)
    return {static_cast<float>(value.real()), static_cast<float>(value.imag())};
  else
    return static_cast<C>(value.real());
}

void check(const BlasMatrix& matrix, int64_t rows, int64_t columns) {
  onedim::api::require(
      matrix.leading >= std::max<int64_t>(1, matrix.is_transposed ? columns : rows),
      "the leading dim is too small");
}

template <typename C>
void multiply_as(const BlasCall& call) {
  const auto at = [&](const BlasMatrix& m, int64_t batch, int64_t i, int64_t j) {
    if (m.is_transposed) std::swap(i, j);
    return element<C>(m.data, call.dtype, batch * m.batch_stride + i + j * m.leading);
  };
  const Elements c{call.c, call.dtype, 0};
  for (int64_t batch = 0; batch < call.batch; ++batch) {
    for (int64_t j = 0; j < call.n; ++j) {
      for (int64_t i = 0; i < call.m; ++i) {
        std::complex<double> sum = 0;
        for (int64_t k = 0; k < call.k; ++k)
          sum += at(call.a, batch, i, k) * at(call.b, batch, k, j);
        const int64_t place = batch * call.c_batch_stride + i + j * call.c_leading;
        sum *= call.alpha;
        if (call.beta != 0.0) sum += call.beta * element<C>(call.c, call.dtype, place);
        onedim::device::store(c, place, narrowed<C>(sum));
      }
    }
  }
}

}  // namespace

void multiply(const BlasCall& call, const onedim_execution_t&) {
  check(call.a, call.m, call.k);
  check(call.b, call.k, call.n);
  onedim::api::require(call.c_leading >= std::max<int64_t>(1, call.m),
                       "the output's leading dim is too small");
  if (call.dtype == ONEDIM_DTYPE_C64) return multiply_as<Complex<float>>(call);
  multiply_as<double>(call);
}

}  // namespace matrix_cuda
