#include "core/exec/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onedim {
namespace {

Tensor of(DType dtype, std::initializer_list<double> values) {
  Tensor tensor = Tensor::zeros(dtype, {static_cast<int64_t>(values.size())});
  int64_t i = 0;
  for (const double value : values) store_complex(dtype, tensor.element(i++), value);
  return tensor;
}

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

TEST(Comparison, BitEqual) {
  const Tensor a = of(DType::kF32, {1, kNan, -0.0});
  const Comparison same = compare_tensors(a, a.clone(), nullptr, 0);
  EXPECT_TRUE(same.is_equal && same.is_bit_equal);
  EXPECT_EQ(same.max_ulp, 0);
}

TEST(Comparison, ZerosOfBothSignsAreEqualButNotBitEqual) {
  const Comparison zeros =
      compare_tensors(of(DType::kF32, {0.0}), of(DType::kF32, {-0.0}), nullptr, 0);
  EXPECT_TRUE(zeros.is_equal);
  EXPECT_FALSE(zeros.is_bit_equal);
}

TEST(Comparison, IntegersMustBeEqual) {
  const Comparison wrong =
      compare_tensors(of(DType::kI32, {5, 7}), of(DType::kI32, {5, 8}), nullptr, 1e9);
  EXPECT_FALSE(wrong.is_equal);
  EXPECT_EQ(wrong.element, 1);
  EXPECT_EQ(wrong.difference, "it is 8, expected 7");
  EXPECT_EQ(wrong.max_abs_error, 1);
}

// n eps sum|terms|: a unit in the last place of 1 is eps.
TEST(Comparison, FloatsMayDifferByRounding) {
  const Tensor one = of(DType::kF32, {1});
  const Tensor off = of(DType::kF32, {1 + 3 * epsilon_of(DType::kF32)});
  EXPECT_FALSE(compare_tensors(one, off, nullptr, 2).is_equal);
  const Comparison near = compare_tensors(one, off, nullptr, 3);
  EXPECT_TRUE(near.is_equal);
  EXPECT_DOUBLE_EQ(near.max_ulp, 3);
  const Tensor terms = of(DType::kF64, {2});
  EXPECT_TRUE(compare_tensors(one, off, &terms, 2).is_equal) << "terms of 2 that cancelled to 1";
}

TEST(Comparison, WhatIsNotFiniteMustBeTheSame) {
  const Tensor one = of(DType::kF64, {1}), nan = of(DType::kF64, {kNan}),
               infinity = of(DType::kF64, {kInfinity});
  EXPECT_FALSE(compare_tensors(one, nan, nullptr, 1e30).is_equal);
  EXPECT_FALSE(compare_tensors(nan, one, nullptr, 1e30).is_equal);
  EXPECT_FALSE(compare_tensors(one, infinity, nullptr, 1e30).is_equal);
  EXPECT_TRUE(compare_tensors(nan, nan.clone(), nullptr, 0).is_equal);
  EXPECT_EQ(compare_tensors(infinity, one, nullptr, 1e30).max_abs_error, 0);
}

TEST(Comparison, ShapesAndDTypesMustBeEqual) {
  EXPECT_EQ(compare_tensors(of(DType::kF32, {1}), of(DType::kF64, {1}), nullptr, 1).difference,
            "it is f64[1], expected f32[1]");
}

TEST(Comparison, MagnitudesAreFinite) {
  const Tensor magnitudes = magnitudes_of(of(DType::kF32, {-3, kInfinity, kNan}));
  EXPECT_EQ(load_real(DType::kF64, magnitudes.element(0)), 3);
  EXPECT_EQ(load_real(DType::kF64, magnitudes.element(1)), 0);
  EXPECT_EQ(load_real(DType::kF64, magnitudes.element(2)), 0);
}

}  // namespace
}  // namespace onedim
