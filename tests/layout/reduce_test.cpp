#include "core/layout/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/layout/placement.hpp"

namespace onedim {
namespace {

Tensor scalar(DType dtype, double value) {
  Tensor tensor = Tensor::zeros(dtype, {1});
  store_real(dtype, tensor.element(0), value);
  return tensor;
}

double reduced(DType dtype, std::vector<double> values, std::string_view kind) {
  std::vector<Tensor> locals;
  for (double value : values) locals.push_back(scalar(dtype, value));
  return load_real(dtype, reduce_elements(locals, kind).element(0));
}

TEST(Reduce, Arithmetic) {
  for (DType dtype :
       {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3FN, DType::kF8E5M2}) {
    EXPECT_EQ(reduced(dtype, {1, 2, 3}, "sum"), 6) << name_of(dtype);
    EXPECT_EQ(reduced(dtype, {1, 2, 3}, "avg"), 2) << name_of(dtype);
    EXPECT_EQ(reduced(dtype, {2, 2, 3}, "product"), 12) << name_of(dtype);
    EXPECT_EQ(reduced(dtype, {1, -2, 3}, "max"), 3) << name_of(dtype);
    EXPECT_EQ(reduced(dtype, {1, -2, 3}, "min"), -2) << name_of(dtype);
  }
}

TEST(Reduce, SmallFloatsRoundOnce) {
  // Each step alone would round back to 256.
  EXPECT_EQ(reduced(DType::kBF16, {256, 1, 1}, "sum"), 258);
  EXPECT_EQ(reduced(DType::kF32, {0x1p24, 1, 1}, "sum"), 0x1p24 + 2);
  EXPECT_EQ(reduced(DType::kBF16, {0x1p120, 0x1p120, 0x1p-120}, "product"), INFINITY)
      << "f32 overflows as bf16 does";
}

TEST(Reduce, IntegersWrap) {
  EXPECT_EQ(reduced(DType::kI8, {100, 100}, "sum"), -56);
  EXPECT_EQ(reduced(DType::kU8, {16, 16}, "product"), 0);
  EXPECT_EQ(reduced(DType::kI16, {255, 257}, "product"), -1);
  Tensor large = Tensor::zeros(DType::kI64, {1});
  store_integer(DType::kI64, large.element(0), INT64_MAX);
  EXPECT_EQ(load_integer(DType::kI64, reduce_elements(std::vector{large, large}, "sum").element(0)),
            -2);
}

TEST(Reduce, IntegerExtremaAreExact) {
  Tensor a = Tensor::zeros(DType::kI64, {1}), b = a.clone();
  store_integer(DType::kI64, a.element(0), INT64_MAX);
  store_integer(DType::kI64, b.element(0), INT64_MAX - 1);
  EXPECT_EQ(load_integer(DType::kI64, reduce_elements(std::vector{b, a}, "max").element(0)),
            INT64_MAX);
  EXPECT_EQ(load_integer(DType::kI64, reduce_elements(std::vector{a, b}, "min").element(0)),
            INT64_MAX - 1);
}

TEST(Reduce, ExtremaPropagateNaN) {
  for (DType dtype :
       {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3FN, DType::kF8E5M2}) {
    for (const char* kind : {"max", "min"}) {
      EXPECT_TRUE(std::isnan(reduced(dtype, {1, NAN, 2}, kind))) << name_of(dtype);
      EXPECT_TRUE(std::isnan(reduced(dtype, {NAN, 1}, kind))) << name_of(dtype);
      EXPECT_TRUE(std::isnan(reduced(dtype, {1, NAN}, kind))) << name_of(dtype);
    }
  }
}

TEST(Reduce, ExtremaOrderTheZeros) {
  for (DType dtype :
       {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3FN, DType::kF8E5M2}) {
    for (const std::vector<double>& zeros :
         {std::vector<double>{0.0, -0.0}, std::vector<double>{-0.0, 0.0}}) {
      EXPECT_FALSE(std::signbit(reduced(dtype, zeros, "max"))) << name_of(dtype);
      EXPECT_TRUE(std::signbit(reduced(dtype, zeros, "min"))) << name_of(dtype);
    }
  }
}

TEST(Reduce, BoolMaxIsOrAndMinIsAnd) {
  for (double a : {0, 1}) {
    for (double b : {0, 1}) {
      EXPECT_EQ(reduced(DType::kBool, {a, b}, "max"), a || b);
      EXPECT_EQ(reduced(DType::kBool, {a, b}, "min"), a && b);
    }
  }
}

TEST(Reduce, Complex) {
  Tensor a = Tensor::zeros(DType::kC64, {1}), b = a.clone();
  store_complex(DType::kC64, a.element(0), {1, 2});
  store_complex(DType::kC64, b.element(0), {3, -4});
  const auto value = [&](std::string_view kind) {
    return load_complex(DType::kC64, reduce_elements(std::vector{a, b}, kind).element(0));
  };
  EXPECT_EQ(value("sum"), std::complex<double>(4, -2));
  EXPECT_EQ(value("avg"), std::complex<double>(2, -1));
  EXPECT_EQ(value("product"), std::complex<double>(11, 2));
}

TEST(Reduce, StridedAndLongTensors) {
  Tensor a = Tensor::zeros(DType::kI32, {30, 20}), b = Tensor::zeros(DType::kI32, {20, 30});
  for (int64_t i = 0; i < 600; ++i) {
    store_integer(DType::kI32, a.element(i), i);
    store_integer(DType::kI32, b.element(i), 1000 * i);
  }
  const Tensor turned = b.view(TensorMeta{DType::kI32, {30, 20}, {1, 30}}, 0);
  const Tensor sum = reduce_elements(std::vector{turned, a}, "sum");
  for (int64_t row = 0; row < 30; ++row) {
    for (int64_t column = 0; column < 20; ++column) {
      const int64_t i = row * 20 + column;
      ASSERT_EQ(load_integer(DType::kI32, sum.element(i)), i + 1000 * (column * 30 + row));
    }
  }
}

TEST(Reduce, OneTensorIsItself) {
  for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
    EXPECT_TRUE(std::signbit(reduced(DType::kF32, {-0.0}, kind))) << kind;
  }
}

TEST(Reduce, EmptyTensorsStayEmpty) {
  const Tensor empty = Tensor::zeros(DType::kF32, {0, 3});
  EXPECT_EQ(reduce_elements(std::vector{empty, empty}, "sum").shape(), (Dims{0, 3}));
}

// The identity changes no value, bit for bit, from either side.
TEST(Reduce, IdentityIsNeutral) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    for (const char* kind : {"sum", "max", "min", "product"}) {
      if (!is_legal_partial(kind, dtype)) continue;
      const Tensor identity = identity_tensor(TensorMeta::contiguous(dtype, {1}), kind);
      EXPECT_TRUE(bit_equal(reduce_elements(std::vector{identity, identity}, kind), identity));
      for (double value :
           {0.0, -0.0, 1.0, -1.0, 2.0, 100.0, -100.0, double{INFINITY}, -double{INFINITY}}) {
        if (is_complex(dtype) && !(std::abs(value) > 0 && std::isfinite(value))) continue;
        const Tensor tensor = scalar(dtype, value);
        EXPECT_TRUE(bit_equal(reduce_elements(std::vector{tensor, identity}, kind), tensor))
            << name_of(dtype) << ' ' << kind << ' ' << value;
        EXPECT_TRUE(bit_equal(reduce_elements(std::vector{identity, tensor}, kind), tensor))
            << name_of(dtype) << ' ' << kind << ' ' << value;
      }
    }
  }
}

TEST(Reduce, IdentityFillsStridedTensors) {
  const Tensor tensor = identity_tensor(TensorMeta{DType::kF32, {2, 3}, {1, 2}}, "sum");
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_TRUE(std::signbit(load_real(DType::kF32, tensor.element(i))));
}

}  // namespace
}  // namespace onedim
