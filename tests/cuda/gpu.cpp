#include <cuda_runtime_api.h>

#include "tests/cuda/device.hpp"

namespace onedim {
namespace {

class Gpu : public Device {
 public:
  void* allocate(size_t bytes) override {
    void* memory = nullptr;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : nullptr;
  }
  void release(void* memory) override { cudaFree(memory); }
  std::string upload(void* to, const void* from, size_t bytes) override {
    return text_of(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  }
  std::string download(void* to, const void* from, size_t bytes) override {
    return text_of(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }

 private:
  static std::string text_of(cudaError_t code) {
    return code == cudaSuccess ? "" : cudaGetErrorString(code);
  }
};

}  // namespace

std::unique_ptr<Device> make_gpu(std::string& reason) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return std::make_unique<Gpu>();
  reason = code == cudaSuccess ? "no CUDA device is visible" : cudaGetErrorString(code);
  return nullptr;
}

}  // namespace onedim
