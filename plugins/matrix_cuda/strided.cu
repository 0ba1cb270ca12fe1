#include "strided.hpp"

#include <onedim/device_launch.cuh>

namespace matrix_cuda {
namespace {

using namespace onedim::device;
using Wide = Complex<double>;

template <typename Element>
__global__ void copy(Walk<2> walk, Element* to, const Element* from) {
  for (int64_t i = first_element(); i < walk.count; i += element_step()) {
    int64_t at[2];
    walk.locate(i, at);
    to[at[0]] = from[at[1]];
  }
}

template <typename Element>
void launch_copy(const Walk<2>& walk, void* to, const void* from,
                 const onedim_execution_t& execution) {
  launch(execution, copy<Element>, blocks_of(walk.count), dim3(kBlockSize), walk,
         static_cast<Element*>(to), static_cast<const Element*>(from));
}

// Elements are of kind C, sums in f64.
template <typename C>
__device__ auto widened(const C& value) {
  if constexpr (kIsComplex<C>)
    return Wide{value.real, value.imaginary};
  else
    return static_cast<double>(value);
}
__device__ double factor_as(const Wide& factor, double) { return factor.real; }
__device__ Wide factor_as(const Wide& factor, Wide) { return factor; }
__device__ double sum_with_product(double sum, double a, double b) { return sum + a * b; }
__device__ Wide sum_with_product(const Wide& sum, const Wide& a, const Wide& b) {
  return {sum.real + a.real * b.real - a.imaginary * b.imaginary,
          sum.imaginary + a.real * b.imaginary + a.imaginary * b.real};
}
__device__ double narrowed(double sum, double) { return sum; }
__device__ Complex<float> narrowed(const Wide& sum, Complex<float>) {
  return {static_cast<float>(sum.real), static_cast<float>(sum.imaginary)};
}

template <typename C>
__global__ void multiply_plainly(PlainCall call) {
  using S = decltype(widened(C{}));
  const S alpha = factor_as(call.alpha, S{}), beta = factor_as(call.beta, S{});
  const bool reads_operands = is_nonzero(alpha);
  for (int64_t i = first_element(); i < call.places.count; i += element_step()) {
    int64_t at[4], inner[2];
    call.places.locate(i, at);
    S sum{};
    for (int64_t k = 0; reads_operands && k < call.inner.count; ++k) {
      call.inner.locate(k, inner);
      sum = sum_with_product(sum, widened(load<C>(call.left, at[1] + inner[0])),
                             widened(load<C>(call.right, at[2] + inner[1])));
    }
    S result = sum_with_product(S{}, alpha, sum);
    if (call.bias.data != nullptr)
      result = sum_with_product(result, beta, widened(load<C>(call.bias, at[3])));
    store(call.out, at[0], narrowed(result, C{}));
  }
}

}  // namespace

void run_copy(const Walk<2>& walk, int64_t element_size, void* to, const void* from,
              const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (walk.count == 0) return;
  if (element_size == 2) return launch_copy<uint16_t>(walk, to, from, execution);
  if (element_size == 4) return launch_copy<uint32_t>(walk, to, from, execution);
  launch_copy<uint64_t>(walk, to, from, execution);
}

void run_plain(const PlainCall& call, const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (call.places.count == 0) return;
  const dim3 grid = blocks_of(call.places.count), block(kBlockSize);
  if (call.out.dtype == ONEDIM_DTYPE_C64)
    launch(execution, multiply_plainly<Complex<float>>, grid, block, call);
  else
    launch(execution, multiply_plainly<double>, grid, block, call);
}

}  // namespace matrix_cuda
