#include "core/cost/roofline.hpp"

#include <gtest/gtest.h>

#include "core/cost/autoparallel_roofline.hpp"

namespace onedim {
namespace {

TEST(Roofline, TheSlowestOfThreeBinds) {
  ClusterCompute compute{1000, 0.5, 3, {}};
  compute.peak_tflops[static_cast<size_t>(DType::kBF16)] = 100;
  EXPECT_EQ(roofline_us(compute, 0, 0, DType::kBF16), 3);
  // 10^9 bytes at half of 1000 GB/s.
  EXPECT_NEAR(roofline_us(compute, 1e9, 1e9, DType::kBF16), 2000, 1e-9);
  // 10^12 operations at half of 100 TFLOP/s.
  EXPECT_NEAR(roofline_us(compute, 1e12, 1e9, DType::kBF16), 20000, 1e-9);
  EXPECT_NEAR(roofline_us(compute, 1e12, 1e9, DType::kF32), 2000, 1e-9);
}

// Nodes of AutoParallel's solution of the 2-layer Llama on 8x8, sizes local to a rank.
TEST(AutoParallelRoofline, NodesOfASolution) {
  const double mk = 16384.0 * 4096, activation = 2.0 * 1024 * 4096;
  // Matrix products in bf16: 16384 x 4096 by 4096 x 512, and x 128, where memory binds.
  EXPECT_NEAR(
      autoparallel_roofline_us(2 * mk * 512, 2 * (mk + 4096 * 512 + 16384 * 512), DType::kBF16),
      99.26256931388127, 1e-9);
  EXPECT_NEAR(
      autoparallel_roofline_us(2 * mk * 128, 2 * (mk + 4096 * 128 + 16384 * 128), DType::kBF16),
      54.08899107975746, 1e-9);
  // bf16 to f32; a square in f32.
  EXPECT_NEAR(autoparallel_roofline_us(0, activation * 6, DType::kBF16), 19.520838885927507, 1e-9);
  EXPECT_NEAR(autoparallel_roofline_us(0, activation * 8, DType::kF32), 26.027785181236673, 1e-9);
  // Attention: 4 B H S S D.
  EXPECT_NEAR(autoparallel_roofline_us(4.0 * 2 * 4 * 8192 * 8192 * 128, 0, DType::kBF16),
              397.0502772555251, 1e-9);
  EXPECT_EQ(autoparallel_roofline_us(0, 100, DType::kF32), 7);
}

}  // namespace
}  // namespace onedim
