#pragma once
// Launches of CUDA kernels, for the .cu sources of packs: on the device and stream that the host
// names, without waiting; what CUDA refuses is thrown as an Error with CUDA's own words.
//
//   const DeviceScope scope(execution);
//   launch(execution, fill<float>, blocks_of(count), 256, tensor, count, 1.0f);

#include <cuda_runtime.h>
#include <onedim/device_scope.cuh>
#include <onedim/device_walk.hpp>

#include <vector>

namespace onedim::device {

template <typename... Parameters, typename... Arguments>
void launch(const onedim_execution_t& execution, void (*kernel)(Parameters...), dim3 grid,
            dim3 block, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = static_cast<cudaStream_t>(execution.stream);
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "the launch");
}

// Kernels walk elements with a stride of the whole grid, a thread an element.
inline constexpr unsigned kBlockSize = 256;
inline dim3 blocks_of(int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const int64_t blocks = (count + kBlockSize - 1) / kBlockSize;
  return dim3(static_cast<unsigned>(blocks < kMost ? blocks : kMost));
}
__device__ inline int64_t first_element() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t element_step() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

inline constexpr int kPieceBatch = 64;
struct PieceBatch {
  Piece pieces[kPieceBatch];
};
static __global__ void write_pieces(PieceBatch batch) {
  const Piece piece = batch.pieces[blockIdx.x];
  for (int64_t i = threadIdx.x; i < piece.end - piece.begin; i += blockDim.x)
    piece.to[i] = piece.begin + i;
}

// Fills the positions lists of a call.
inline void write_positions(const onedim_execution_t& execution, const std::vector<Piece>& pieces) {
  for (size_t first = 0; first < pieces.size(); first += kPieceBatch) {
    PieceBatch batch;
    const size_t left = pieces.size() - first;
    const size_t count = left < kPieceBatch ? left : kPieceBatch;
    for (size_t i = 0; i < count; ++i) batch.pieces[i] = pieces[first + i];
    launch(execution, write_pieces, dim3(static_cast<unsigned>(count)), dim3(kBlockSize), batch);
  }
}

}  // namespace onedim::device
