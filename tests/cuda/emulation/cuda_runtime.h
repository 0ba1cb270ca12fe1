#pragma once
// The part of CUDA that the packs' kernels use, on the CPU: so their arithmetic and their barriers
// are tested on machines without a GPU. Device memory is the host's. Blocks run one after another;
// the threads of a block are fibers, each of which runs to its next barrier in turn (block.hpp).
// What only hardware shows, such as races and alignment, it does not show.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "block.hpp"

#define __global__
#define __device__
#define __host__
#define __shared__ static

using cudaError_t = int;
using cudaStream_t = void*;
inline constexpr cudaError_t cudaSuccess = 0;
inline constexpr cudaError_t cudaErrorMemoryAllocation = 2;

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
      : x(of_x), y(of_y), z(of_z) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  cudaStream_t stream = nullptr;
};

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "a launch that no device takes"; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }

inline void __syncthreads() { emulation::block().wait(); }
inline int __syncthreads_or(int value) { return emulation::block().wait_for_any(value); }
[[noreturn]] inline void __trap() { std::abort(); }

// Refuses what hardware refuses.
inline bool is_launchable(const cudaLaunchConfig_t& config) {
  const dim3 grid = config.gridDim, block = config.blockDim;
  const bool is_empty = grid.x * grid.y * grid.z == 0 || block.x * block.y * block.z == 0;
  return !is_empty && grid.x <= 0x7FFFFFFF && grid.y <= 65535 && grid.z <= 65535 &&
         block.x * block.y * block.z <= 1024 && block.z <= 64;
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments... arguments) {
  static_assert((sizeof(Parameters) + ... + 0) <= 4096, "parameters of more than 4 KiB");
  if (!is_launchable(*config)) return 1;
  const dim3 grid = config->gridDim;
  gridDim = grid;
  blockDim = config->blockDim;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = dim3(x, y, z);
        emulation::block().run(
            blockDim.x * blockDim.y * blockDim.z, [&] { kernel(arguments...); },
            [](unsigned thread) {
              const unsigned row = thread / blockDim.x;
              threadIdx = dim3(thread % blockDim.x, row % blockDim.y, row / blockDim.y);
            });
      }
    }
  }
  return cudaSuccess;
}
