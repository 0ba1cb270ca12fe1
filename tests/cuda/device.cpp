#include "tests/cuda/device.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/pack/pack_loader.hpp"

namespace onedim {
namespace {

// The host's memory, with marks around each piece that nothing may overwrite.
class Emulated : public Device {
 public:
  void* allocate(size_t bytes) override {
    auto* memory = static_cast<unsigned char*>(std::malloc(bytes + 2 * kMargin));
    std::memset(memory, kMark, kMargin + std::min(bytes, size_t{1} << 16));
    std::memset(memory + kMargin + bytes, kMark, kMargin);
    sizes_[memory + kMargin] = bytes;
    return memory + kMargin;
  }
  void release(void* memory) override {
    auto* begin = static_cast<unsigned char*>(memory) - kMargin;
    const size_t bytes = sizes_[memory];
    for (size_t i = 0; i < kMargin; ++i) {
      EXPECT_EQ(begin[i], kMark) << "written before a tensor";
      EXPECT_EQ(begin[kMargin + bytes + i], kMark) << "written behind a tensor";
    }
    sizes_.erase(memory);
    std::free(begin);
  }
  std::string upload(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return "";
  }
  std::string download(void* to, const void* from, size_t bytes) override {
    std::memcpy(to, from, bytes);
    return "";
  }

 private:
  static constexpr size_t kMargin = 256;
  static constexpr unsigned char kMark = 0xA5;
  std::map<void*, size_t> sizes_;
};

constexpr const char* kCudaPacks[] = {"attention_cuda", "indexing_cuda", "matrix_cuda",
                                      "pointwise_cuda", "reduction_cuda"};
constexpr const char* kCpuPacks[] = {"attention", "cast",      "indexing", "matrix",
                                     "pointwise", "reduction", "shape"};

Registry* load(DeviceKind kind) {
  LoadOptions options;
  for (const char* name : kCpuPacks)
    options.paths.push_back(fmt::format("{}/{}.so", ONEDIM_PACK_FOLDER, name));
  for (const char* name : kCudaPacks) {
    options.paths.push_back(kind == DeviceKind::kEmulated
                                ? fmt::format("{}/emulated_{}.so", ONEDIM_EMULATED_PACKS, name)
                                : fmt::format("{}/{}.so", ONEDIM_PACK_FOLDER, name));
  }
  auto* registry = new Registry;
  for (const PackReport& report : load_packs(options, *registry))
    EXPECT_TRUE(report.verdict.ok()) << report.path << ": " << report.verdict.reason;
  return registry;
}

}  // namespace

Device* find_device(DeviceKind kind, std::string& reason) {
  static Emulated emulated;
  if (kind == DeviceKind::kEmulated) return &emulated;
#ifdef ONEDIM_CUDA
  static std::string why;
  static const std::unique_ptr<Device> gpu = make_gpu(why);
  reason = why;
  return gpu.get();
#else
  reason = "built without a CUDA toolkit";
  return nullptr;
#endif
}

const Registry& registry_of(DeviceKind kind) {
  static Registry* registries[2] = {};
  Registry*& registry = registries[static_cast<int>(kind)];
  if (registry == nullptr) registry = load(kind);
  return *registry;
}

}  // namespace onedim
