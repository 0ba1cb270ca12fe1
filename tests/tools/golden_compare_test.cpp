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

TEST(GoldenCompare, NumbersAreComparedWithTheirKind) {
  const auto number = [](DType dtype, double value) {
    Tensor tensor = Tensor::zeros(dtype, {});
    if (is_floating(dtype))
      store_real(dtype, tensor.data(), value);
    else
      store_integer(dtype, tensor.data(), static_cast<int64_t>(value));
    return tensor;
  };
  const Tensor half = number(DType::kF64, 0.5), one = number(DType::kI64, 1);
  EXPECT_EQ(number_difference(half, GoldenValue{Value{0.5}}), "");
  EXPECT_EQ(number_difference(half, GoldenValue{Value{0.25}}), "[]: 0.5, expected 0.25");
  EXPECT_EQ(number_difference(one, GoldenValue{Value{int64_t{1}}}), "");
  EXPECT_EQ(number_difference(one, GoldenValue{Value{1.0}}), "i64[], expected f64[]");
  EXPECT_EQ(number_difference(number(DType::kBool, 1), GoldenValue{Value{true}}), "");
  EXPECT_EQ(number_difference(number(DType::kBool, 1), GoldenValue{Value{int64_t{1}}}),
            "bool[], expected i64[]");
  EXPECT_EQ(
      number_difference(number(DType::kF64, INFINITY), GoldenValue{Value{std::string("inf")}}), "");
  Tensor complex = Tensor::zeros(DType::kC128, {});
  store_complex(DType::kC128, complex.data(), {1, 2});
  const Value pair{ValueList{Value{1.0}, Value{2.0}}};
  EXPECT_EQ(number_difference(complex, GoldenValue{pair}), "");
  EXPECT_NE(number_difference(half, GoldenValue{Tensor::zeros(DType::kF64, {})}), "");
  EXPECT_NE(number_difference(half, GoldenValue{Value{}}), "");
}

TEST(GoldenCompare, UndefinedContentHasAShapeAndADtype) {
  const GoldenValue theirs{Tensor::zeros(DType::kF32, {2})};
  EXPECT_EQ(output_difference(reals(DType::kF32, {5, NAN}), theirs, true), "");
  EXPECT_EQ(output_difference(reals(DType::kF32, {5}), theirs, true), "f32[1], expected f32[2]");
  EXPECT_EQ(output_difference(reals(DType::kF64, {0, 0}), theirs, true), "f64[2], expected f32[2]");
  EXPECT_NE(output_difference(reals(DType::kF32, {5, 0}), theirs), "");
}

}  // namespace
}  // namespace onedim
