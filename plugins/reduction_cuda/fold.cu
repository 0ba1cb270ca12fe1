#include "fold.hpp"

#include <onedim/device_launch.cuh>

namespace reduction_cuda {
namespace {

using namespace onedim::device;

template <typename C>
struct SumOf {
  using Type = C;
};
template <>
struct SumOf<float> {
  using Type = double;
};
template <>
struct SumOf<Complex<float>> {
  using Type = Complex<double>;
};

template <typename S>
__device__ S added(const S& a, const S& b) {
  if constexpr (kIsComplex<S>)
    return {a.real + b.real, a.imaginary + b.imaginary};
  else if constexpr (std::is_integral_v<S>)
    return static_cast<S>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename S>
__device__ S scaled(const S& sum, double scale, double count) {
  if constexpr (kIsComplex<S>)
    return {sum.real * scale / count, sum.imaginary * scale / count};
  else if constexpr (std::is_integral_v<S>)
    return sum;
  else
    return sum * scale / count;
}

template <typename C>
__device__ typename SumOf<C>::Type term(const FoldCall& call, int64_t at) {
  C value = load<C>(call.in, at);
  if (call.is_any != 0) return converted<typename SumOf<C>::Type>(is_nonzero(value) ? 1 : 0);
  if constexpr (std::is_floating_point_v<C>) {
    const auto narrow = static_cast<float>(value);
    if (call.rounds_to == ONEDIM_DTYPE_BF16) value = bf16_to_float(float_to_bf16(narrow));
    if (call.rounds_to == ONEDIM_DTYPE_F16) value = f16_to_float(float_to_f16(narrow));
    return value;
  } else if constexpr (kIsComplex<C>) {
    return {value.real, value.imaginary};
  } else {
    return value;
  }
}

// Threads of one x fold one output element.
template <typename C>
__global__ void fold(FoldCall call) {
  using S = typename SumOf<C>::Type;
  __shared__ S sums[kBlockSize];
  const unsigned place = threadIdx.y * blockDim.x + threadIdx.x;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x; first < call.kept.count;
       first += element_step()) {
    const int64_t output = first + threadIdx.x;
    const bool is_output = output < call.kept.count;
    int64_t kept[2] = {}, folded[1];
    if (is_output) call.kept.locate(output, kept);
    S sum{};
    for (int64_t i = threadIdx.y; is_output && i < call.folded.count; i += blockDim.y) {
      call.folded.locate(i, folded);
      sum = added(sum, term<C>(call, kept[0] + folded[0]));
    }
    sums[place] = sum;
    for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.y < half) sums[place] = added(sums[place], sums[place + half * blockDim.x]);
    }
    if (threadIdx.y == 0 && is_output)
      store(call.out, kept[1], scaled(sums[place], call.scale, call.count));
    __syncthreads();
  }
}

struct Shape {
  dim3 grid, block;
};

// As many threads to an output element as its terms can feed, neighbours in memory side by side.
Shape shape_of(const FoldCall& call) {
  const bool folds_neighbours =
      call.kept.ndim == 0 ||
      (call.folded.ndim > 0 && call.folded.strides[0][0] < call.kept.strides[0][0]);
  const unsigned most = folds_neighbours ? kBlockSize : kBlockSize / 32;
  unsigned to_one = 1;
  while (to_one < most && to_one < call.folded.count) to_one *= 2;
  const unsigned outputs = kBlockSize / to_one;
  const int64_t blocks = (call.kept.count + outputs - 1) / outputs;
  constexpr int64_t kMost = int64_t{1} << 20;
  return {dim3(static_cast<unsigned>(blocks < kMost ? blocks : kMost)), dim3(outputs, to_one)};
}

}  // namespace

void run_fold(const FoldCall& call, const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (call.kept.count == 0) return;
  const Shape shape = shape_of(call);
  // Elements are read as the result's type; what is only compared with zero, as its own.
  switch (call.is_any != 0 ? call.in.dtype : call.out.dtype) {
    case ONEDIM_DTYPE_F64:
      return launch(execution, fold<double>, shape.grid, shape.block, call);
    case ONEDIM_DTYPE_F32:
    case ONEDIM_DTYPE_BF16:
    case ONEDIM_DTYPE_F16:
      return launch(execution, fold<float>, shape.grid, shape.block, call);
    case ONEDIM_DTYPE_C64:
      return launch(execution, fold<Complex<float>>, shape.grid, shape.block, call);
    default:
      return launch(execution, fold<int64_t>, shape.grid, shape.block, call);
  }
}

}  // namespace reduction_cuda
