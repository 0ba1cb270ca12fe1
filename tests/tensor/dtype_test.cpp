#include "core/tensor/dtype.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/tensor/element.hpp"

namespace onedim {
namespace {

std::vector<DType> all_dtypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i < kDTypeCount; ++i) dtypes.push_back(static_cast<DType>(i));
  return dtypes;
}

double through(DType dtype, double value) {
  std::byte element[16] = {};
  store_real(dtype, element, value);
  return load_real(dtype, element);
}

int64_t integer_through(DType dtype, int64_t value) {
  std::byte element[16] = {};
  store_integer(dtype, element, value);
  return load_integer(dtype, element);
}

TEST(DType, NamesAreParsedBack) {
  for (DType dtype : all_dtypes()) EXPECT_EQ(*parse_dtype(name_of(dtype)), dtype) << name_of(dtype);
}

TEST(DType, UnknownNamesAreRefused) {
  EXPECT_EQ(message_of(parse_dtype("f31").status()),
            "unknown dtype \"f31\", expected one of f64 f32 bf16 f16 f8e4m3fn f8e5m2 f8e8m0 i64 "
            "i32 i16 i8 u8 bool c64 c128; did you mean \"f32\"?");
  EXPECT_FALSE(parse_dtype("").ok());
  EXPECT_FALSE(parse_dtype("F32").ok());
}

TEST(DType, SizesAreThoseOfTheElementTypes) {
  for (DType dtype : all_dtypes()) {
    visit_dtype(dtype, [&]<typename T>(std::type_identity<T>) {
      EXPECT_EQ(size_of(dtype), static_cast<int64_t>(sizeof(T))) << name_of(dtype);
    });
  }
}

TEST(DType, EveryDTypeIsOfOneClass) {
  for (DType dtype : all_dtypes()) {
    const int classes =
        is_floating(dtype) + is_integral(dtype) + is_complex(dtype) + (dtype == DType::kBool);
    EXPECT_EQ(classes, 1) << name_of(dtype);
  }
}

TEST(DType, EpsilonIsTheStepAboveOne) {
  for (DType dtype : all_dtypes()) {
    if (!is_floating(dtype)) continue;
    const double epsilon = epsilon_of(dtype);
    EXPECT_EQ(through(dtype, 1 + epsilon), 1 + epsilon) << name_of(dtype);
    const double between = through(dtype, 1 + epsilon / 2);
    EXPECT_TRUE(between == 1 || between == 1 + epsilon) << name_of(dtype);
  }
  EXPECT_EQ(epsilon_of(DType::kI32), 0);
  EXPECT_EQ(epsilon_of(DType::kBool), 0);
  EXPECT_EQ(epsilon_of(DType::kC64), epsilon_of(DType::kF32));
}

TEST(DType, StoringIntegersWraps) {
  EXPECT_EQ(integer_through(DType::kI8, 130), -126);
  EXPECT_EQ(integer_through(DType::kU8, -1), 255);
  EXPECT_EQ(integer_through(DType::kI32, int64_t{1} << 32), 0);
  EXPECT_EQ(integer_through(DType::kI64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(integer_through(DType::kF32, 7), 7);
  EXPECT_EQ(integer_through(DType::kBool, 256), 1) << "a bool is not the low byte";
}

TEST(DType, StoringFloatsToIntegersTruncates) {
  EXPECT_EQ(through(DType::kI32, -2.9), -2);
  EXPECT_EQ(through(DType::kU8, -1.0), 255);
  EXPECT_EQ(through(DType::kI64, 1e300), static_cast<double>(INT64_MIN));
  EXPECT_EQ(through(DType::kI64, NAN), static_cast<double>(INT64_MIN));
}

TEST(DType, BoolsAreZeroOrOne) {
  EXPECT_EQ(through(DType::kBool, 0.25), 1);
  EXPECT_EQ(through(DType::kBool, NAN), 1);
  EXPECT_EQ(through(DType::kBool, -0.0), 0);
  const std::byte foreign{7};
  EXPECT_EQ(load_integer(DType::kBool, &foreign), 1);
}

TEST(DType, ComplexValuesKeepBothParts) {
  std::byte element[16] = {};
  store_complex(DType::kC64, element, {1.5, -2.5});
  EXPECT_EQ(load_complex(DType::kC64, element), std::complex<double>(1.5, -2.5));
  EXPECT_EQ(load_real(DType::kC64, element), 1.5);
  store_complex(DType::kI16, element, {3, 4});
  EXPECT_EQ(load_complex(DType::kI16, element), std::complex<double>(3, 0));
  store_complex(DType::kBool, element, {0, 4});
  EXPECT_EQ(load_integer(DType::kBool, element), 1);
  store_real(DType::kC128, element, -7);
  EXPECT_EQ(load_complex(DType::kC128, element), std::complex<double>(-7, 0));
}

TEST(DType, NaNAndInfinityPassThroughWhereTheyExist) {
  for (DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kF8E5M2}) {
    EXPECT_TRUE(std::isnan(through(dtype, NAN))) << name_of(dtype);
    EXPECT_EQ(through(dtype, -INFINITY), -INFINITY) << name_of(dtype);
    EXPECT_TRUE(std::signbit(through(dtype, -0.0))) << name_of(dtype);
  }
}

TEST(DType, UnalignedElementsAreRead) {
  std::byte bytes[9] = {};
  store_real(DType::kF64, bytes + 1, 0.1);
  EXPECT_EQ(load_real(DType::kF64, bytes + 1), 0.1);
}

}  // namespace
}  // namespace onedim
