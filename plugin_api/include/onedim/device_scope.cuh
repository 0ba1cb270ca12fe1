#pragma once
// The CUDA device that a kernel runs on, and CUDA's refusals as Errors. Needs no CUDA compiler.

#include <cuda_runtime_api.h>
#include <onedim/error.hpp>

namespace onedim::device {

inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // which would be told again, to whoever asks next
  api::fail(std::string("CUDA refuses ") + what + ": " + cudaGetErrorString(code),
            code == cudaErrorMemoryAllocation ? ONEDIM_STATUS_RESOURCE_EXHAUSTED
                                              : ONEDIM_STATUS_INTERNAL);
}

// The execution's device is the current one while this lives.
class DeviceScope {
 public:
  explicit DeviceScope(const onedim_execution_t& execution) {
    int count = 0;
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
      cudaGetLastError();
      api::fail(std::string("no CUDA device: ") +
                    (code == cudaSuccess ? "none is visible" : cudaGetErrorString(code)),
                ONEDIM_STATUS_FAILED_PRECONDITION);
    }
    if (execution.device_ordinal < 0 || execution.device_ordinal >= count) {
      api::fail("no CUDA device " + std::to_string(execution.device_ordinal) +
                    ": this machine has " + std::to_string(count),
                ONEDIM_STATUS_FAILED_PRECONDITION);
    }
    check(cudaGetDevice(&before_), "to name the current device");
    check(cudaSetDevice(execution.device_ordinal), "the device");
  }
  ~DeviceScope() { cudaSetDevice(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
};

}  // namespace onedim::device
