// What holds of the CUDA packs without a device.

#include <gtest/gtest.h>
#include <onedim/device_elements.hpp>
#include <onedim/small_float.hpp>

#include <cmath>

#include "core/pack/abi_bridge.hpp"
#include "core/pack/host_table.hpp"
#include "core/validate/random.hpp"
#include "tests/cuda/device.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

// What a training step of Llama 3 computes; all its other ops are views.
constexpr const char* kTrainingStep[] = {"_conj",
                                         "_scaled_dot_product_flash_attention_for_cpu",
                                         "_scaled_dot_product_flash_attention_for_cpu_backward",
                                         "add.Scalar",
                                         "add.Tensor",
                                         "clone",
                                         "div.Scalar",
                                         "div.Tensor",
                                         "einsum",
                                         "embedding",
                                         "embedding_dense_backward",
                                         "exp",
                                         "mean.dim",
                                         "mul.Scalar",
                                         "mul.Tensor",
                                         "neg",
                                         "pow.Tensor_Scalar",
                                         "prims.convert_element_type",
                                         "rsqrt",
                                         "sigmoid",
                                         "sub.Tensor",
                                         "sum.dim_IntList"};

#ifdef ONEDIM_CUDA
constexpr DeviceKind kPacks[] = {DeviceKind::kEmulated, DeviceKind::kGpu};
#else
constexpr DeviceKind kPacks[] = {DeviceKind::kEmulated};
#endif

TEST(CudaPacks, HaveTheOpsOfATrainingStep) {
  for (const DeviceKind kind : kPacks) {
    for (const char* name : kTrainingStep) {
      const Op* op = registry_of(kind).find(name);
      ASSERT_NE(op, nullptr) << name;
      const Kernel* kernel = op->find_kernel(ONEDIM_DEVICE_CUDA);
      ASSERT_NE(kernel, nullptr) << name;
      const bool is_complex = std::string_view(name) == "_conj";
      const uint64_t wanted =
          is_complex ? uint64_t{1} << ONEDIM_DTYPE_C64
                     : uint64_t{1} << ONEDIM_DTYPE_F32 | uint64_t{1} << ONEDIM_DTYPE_BF16;
      EXPECT_EQ(kernel->dtypes & wanted, wanted) << name;
    }
  }
}

TEST(CudaPacks, InPlaceAndOutFormsShareTheKernels) {
  const Registry& registry = registry_of(DeviceKind::kEmulated);
  for (const char* name : {"add_.Tensor", "add.out", "mm.out", "embedding.out"}) {
    ASSERT_NE(registry.find(name), nullptr) << name;
    EXPECT_NE(registry.find(name)->find_kernel(ONEDIM_DEVICE_CUDA), nullptr) << name;
  }
}

#ifdef ONEDIM_CUDA
std::string run_on(int ordinal) {
  const Op* op = registry_of(DeviceKind::kGpu).find("exp");
  const Kernel* kernel = op == nullptr ? nullptr : op->find_kernel(ONEDIM_DEVICE_CUDA);
  if (kernel == nullptr) return "no kernel";
  const Result<CallText> call = parse_call(op->schema, "f32[0]");
  const AbiCall abi(call->call, *op->infer(call->call), nullptr);
  onedim_execution_t execution{};
  execution.struct_size = sizeof(execution);
  execution.device = ONEDIM_DEVICE_CUDA;
  execution.device_ordinal = ordinal;
  CallbackScope scope;
  const int32_t code = kernel->compute(&host_table(), kernel->user, abi.get(), &execution);
  return std::string(message_of(scope.finish(code, op->name(), "compute", kernel->pack)));
}

TEST(CudaPacks, SayWhichDeviceIsMissing) {
  std::string reason;
  const bool has_device = find_device(DeviceKind::kGpu, reason) != nullptr;
  const std::string expected =
      has_device ? "exp: no CUDA device 999: this machine has " : "exp: no CUDA device: " + reason;
  EXPECT_EQ(run_on(has_device ? 999 : 0).substr(0, expected.size()), expected);
}
#endif

TEST(DeviceElements, NarrowFloatsAreThoseOfTheCpu) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double f16 = api::Float16::decode(half), bf16 = api::BFloat16::decode(half);
    if (std::isnan(f16))
      EXPECT_TRUE(std::isnan(device::f16_to_float(half)));
    else
      EXPECT_EQ(device::f16_to_float(half), f16) << bits;
    if (std::isnan(bf16))
      EXPECT_TRUE(std::isnan(device::bf16_to_float(half)));
    else
      EXPECT_EQ(device::bf16_to_float(half), bf16) << bits;
  }
  Random random(random_seed());
  const auto compare = [](float value) {
    EXPECT_EQ(device::float_to_f16(value), api::Float16::encode(value)) << value;
    EXPECT_EQ(device::float_to_bf16(value), api::BFloat16::encode(value)) << value;
  };
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random.next());
    compare(__builtin_bit_cast(float, bits));
    // Near the range of f16, and halfway between its values.
    const int exponent = static_cast<int>(random.between(-27, 17));
    const auto value = static_cast<float>(random.between(-4096, 4096));
    compare(std::ldexp(value, exponent - 11));
  }
}

}  // namespace
}  // namespace onedim
