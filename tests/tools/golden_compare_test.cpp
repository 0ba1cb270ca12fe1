#include "tools/golden_compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

namespace onedim {
namespace {

Tensor reals(DType dtype, std::initializer_list<double> values) {
  Tensor tensor = Tensor::zeros(dtype, {static_cast<int64_t>(values.size())});
  int64_t index = 0;
  for (const double value : values) store_real(dtype, tensor.element(index++), value);
  return tensor;
}

TEST(GoldenCompare, SpecialValuesMustStandWhereTheyStand) {
  const Tensor theirs = reals(DType::kF32, {NAN, INFINITY, -INFINITY, 1});
  EXPECT_EQ(tensor_difference(theirs, theirs), "");
  EXPECT_EQ(tensor_difference(reals(DType::kF32, {0, INFINITY, -INFINITY, 1}), theirs),
            "[0]: 0, expected nan");
  EXPECT_EQ(tensor_difference(reals(DType::kF32, {NAN, 3e38, -INFINITY, 1}), theirs).substr(0, 4),
            "[1]:");
  EXPECT_EQ(tensor_difference(reals(DType::kF32, {NAN, INFINITY, INFINITY, 1}), theirs),
            "[2]: inf, expected -inf");
  EXPECT_EQ(tensor_difference(reals(DType::kF32, {NAN, INFINITY, -INFINITY, NAN}), theirs),
            "[3]: nan, expected 1");
}

TEST(GoldenCompare, TolerancesFollowTheDtype) {
  EXPECT_EQ(tensor_difference(reals(DType::kF32, {100.0001}), reals(DType::kF32, {100})), "");
  EXPECT_NE(tensor_difference(reals(DType::kF32, {100.001}), reals(DType::kF32, {100})), "");
  EXPECT_NE(tensor_difference(reals(DType::kF64, {100.0001}), reals(DType::kF64, {100})), "");
  EXPECT_EQ(tensor_difference(reals(DType::kBF16, {101}), reals(DType::kBF16, {100})), "");
  EXPECT_NE(tensor_difference(reals(DType::kF16, {101}), reals(DType::kF16, {100})), "");
}

TEST(GoldenCompare, IntegersDtypesAndShapesAreExact) {
  Tensor one = Tensor::zeros(DType::kI64, {1});
  Tensor two = Tensor::zeros(DType::kI64, {1});
  store_integer(DType::kI64, one.data(), INT64_MAX);
  store_integer(DType::kI64, two.data(), INT64_MAX - 1);
  EXPECT_NE(tensor_difference(one, two), "");
  EXPECT_EQ(tensor_difference(Tensor::zeros(DType::kI32, {1}), two), "i32[1], expected i64[1]");
  EXPECT_EQ(tensor_difference(Tensor::zeros(DType::kI64, {1, 1}), two),
            "i64[1,1], expected i64[1]");
}

TEST(GoldenCompare, AbsentOutputsMustBeAbsent) {
  const GoldenValue none{Value{}};
  const GoldenValue tensor{Tensor::zeros(DType::kF32, {2})};
  EXPECT_EQ(output_difference(std::nullopt, none), "");
  EXPECT_EQ(output_difference(std::nullopt, tensor), "absent, expected f32[2]");
  EXPECT_EQ(output_difference(Tensor::zeros(DType::kF32, {2}), none), "f32[2], expected none");
  EXPECT_NE(output_difference(Tensor::zeros(DType::kF32, {}), GoldenValue{Value{1.0}}), "");
}

}  // namespace
}  // namespace onedim
