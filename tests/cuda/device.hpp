#pragma once
// Device: where the kernels of the CUDA packs run in these tests, its memory and their registry.

#include <memory>
#include <string>

#include "core/pack/registry.hpp"

namespace onedim {

class Device {
 public:
  virtual ~Device() = default;
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  // Both wait until all that was launched before is done; the error's text, or "".
  virtual std::string upload(void* to, const void* from, size_t bytes) = 0;
  virtual std::string download(void* to, const void* from, size_t bytes) = 0;
};

enum class DeviceKind { kEmulated, kGpu };

// Null where there is none; `reason` says why.
Device* find_device(DeviceKind kind, std::string& reason);
// The shipped CPU packs with the CUDA packs, emulated or compiled by nvcc.
const Registry& registry_of(DeviceKind kind);

// Null, and a reason. Compiled where there is a CUDA toolkit.
std::unique_ptr<Device> make_gpu(std::string& reason);

}  // namespace onedim
