// Decoding is held against a definition in plain arithmetic for every pattern; encoding against a
// search over all patterns for the nearest, for every value on, between and beside neighbours.
#include <onedim/small_float.hpp>

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/random_seed.hpp"

namespace onedim::api {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
};

// sign * 2^(e - bias) * 1.m, or sign * 2^(1 - bias) * 0.m.
double define(uint32_t bits, Format format) {
  const uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const uint32_t exponent = (bits >> format.mantissa_bits) & ((1u << format.exponent_bits) - 1);
  const bool is_negative = bits >> (format.exponent_bits + format.mantissa_bits);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const bool is_top = exponent == (1u << format.exponent_bits) - 1;
  double value = mantissa / std::pow(2.0, format.mantissa_bits);
  if (is_top && format.has_infinity) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (is_top && mantissa + 1 == 1u << format.mantissa_bits) {
    value = NAN;
  } else {
    value = exponent == 0 ? value * std::pow(2.0, 1 - bias)
                          : (1 + value) * std::pow(2.0, exponent - bias * 1.0);
  }
  return is_negative ? -value : value;
}

template <typename T>
class SmallFloats : public testing::Test {};

template <typename T, int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct Case {
  using Type = T;
  static constexpr Format kFormat{kExponentBits, kMantissaBits, kHasInfinity};
  static constexpr uint32_t kCount = 1u << (1 + kExponentBits + kMantissaBits);
};
using Cases = testing::Types<Case<BFloat16, 8, 7, true>, Case<Float16, 5, 10, true>,
                             Case<Float8E4M3FN, 4, 3, false>, Case<Float8E5M2, 5, 2, true>>;
TYPED_TEST_SUITE(SmallFloats, Cases);

template <typename T>
double decode(uint32_t bits) {
  return static_cast<double>(T::from_bits(static_cast<decltype(T::bits)>(bits)));
}

TYPED_TEST(SmallFloats, DecodesEveryPattern) {
  using T = typename TypeParam::Type;
  for (uint32_t bits = 0; bits < TypeParam::kCount; ++bits) {
    const double expected = define(bits, TypeParam::kFormat);
    const double value = decode<T>(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(static_cast<double>(T(value)))) << bits;
      continue;
    }
    ASSERT_EQ(value, expected) << bits;
    ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    ASSERT_EQ(static_cast<float>(T::from_bits(static_cast<decltype(T::bits)>(bits))), expected)
        << bits;
    ASSERT_EQ(T(value).bits, bits) << "a value of the format encodes as itself";
  }
}

// The positive finite values in order; their patterns count up.
template <typename TypeParam>
std::vector<double> magnitudes() {
  std::vector<double> values;
  for (uint32_t bits = 0; bits < TypeParam::kCount / 2; ++bits) {
    const double value = define(bits, TypeParam::kFormat);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

// The nearest pattern by search, ties to the even one. One step beyond the largest value stands for
// overflow.
uint32_t nearest(const std::vector<double>& values, double magnitude) {
  const double beyond = 2 * values.back() - values[values.size() - 2];
  if (magnitude >= beyond) return static_cast<uint32_t>(values.size());
  const size_t above = std::upper_bound(values.begin(), values.end(), magnitude) - values.begin();
  const double low = values[above - 1], high = above < values.size() ? values[above] : beyond;
  if (magnitude - low != high - magnitude) {
    return static_cast<uint32_t>(magnitude - low < high - magnitude ? above - 1 : above);
  }
  return static_cast<uint32_t>(above % 2 == 0 ? above : above - 1);
}

TYPED_TEST(SmallFloats, EncodesToTheNearest) {
  using T = typename TypeParam::Type;
  const std::vector<double> values = magnitudes<TypeParam>();
  const double step = values.back() - values[values.size() - 2];
  std::vector<double> probes = {
      values.back() + step / 2, values.back() + step, 1e300, INFINITY, 5e-324, 1e-300};
  for (size_t i = 0; i < values.size(); ++i) {
    probes.push_back(values[i]);
    if (i > 0) probes.push_back((values[i - 1] + values[i]) / 2);
  }
  const uint32_t sign = TypeParam::kCount / 2;
  for (double probe : probes) {
    for (double value : {std::nextafter(probe, 0.0), probe, std::nextafter(probe, INFINITY)}) {
      const uint32_t expected = nearest(values, value);
      ASSERT_EQ(T(value).bits, expected) << value;
      ASSERT_EQ(T(-value).bits, expected | sign) << -value;
    }
  }
}

TYPED_TEST(SmallFloats, EncodesRandomDoublesToTheNearest) {
  using T = typename TypeParam::Type;
  const std::vector<double> values = magnitudes<TypeParam>();
  std::mt19937_64 random(random_seed());
  std::uniform_real_distribution<double> exponent(std::log2(values[1]) - 3,
                                                  std::log2(values.back()) + 1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::exp2(exponent(random));
    ASSERT_EQ(T(value).bits, nearest(values, value)) << value;
  }
}

TEST(SmallFloat, OverflowAndNaNAreAsInPyTorch) {
  EXPECT_EQ(Float8E4M3FN(448.0).bits, 0x7E);
  EXPECT_EQ(Float8E4M3FN(464.0).bits, 0x7E) << "a tie goes to the even neighbour";
  EXPECT_EQ(Float8E4M3FN(465.0).bits, 0x7F) << "no infinity: NaN";
  EXPECT_EQ(Float8E4M3FN(-1e9).bits, 0xFF);
  EXPECT_EQ(Float8E5M2(57344.0).bits, 0x7B);
  EXPECT_EQ(Float8E5M2(61440.0).bits, 0x7C);
  EXPECT_EQ(Float8E5M2(-INFINITY).bits, 0xFC);
  EXPECT_EQ(Float16(65519.0).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520.0).bits, 0x7C00);
  EXPECT_EQ(BFloat16(static_cast<double>(NAN)).bits, 0x7FC0);
  EXPECT_EQ(Float16(static_cast<double>(NAN)).bits, 0x7E00);
  EXPECT_EQ(Float8E4M3FN(static_cast<double>(NAN)).bits, 0x7F);
  EXPECT_EQ(Float8E5M2(static_cast<double>(NAN)).bits, 0x7F);
}

TEST(SmallFloat, RoundsOnce) {
  // Through f32 this would first become a tie and then round down to even.
  EXPECT_EQ(BFloat16(1 + 0x1p-8 + 0x1p-40).bits, 0x3F81);
}

TEST(Float8E8M0, DecodesEveryPattern) {
  for (int bits = 0; bits < 255; ++bits) {
    const Float8E8M0 value = Float8E8M0::from_bits(static_cast<uint8_t>(bits));
    EXPECT_EQ(static_cast<double>(value), std::pow(2.0, bits - 127));
    EXPECT_EQ(Float8E8M0(static_cast<double>(value)).bits, bits);
  }
  EXPECT_TRUE(std::isnan(static_cast<double>(Float8E8M0::from_bits(0xFF))));
}

TEST(Float8E8M0, RoundsToTheNearestPowerOfTwo) {
  for (int exponent = -126; exponent < 127; ++exponent) {
    const double value = std::pow(2.0, exponent);
    EXPECT_EQ(Float8E8M0(std::nextafter(1.5 * value, 0.0)).bits, exponent + 127);
    EXPECT_EQ(Float8E8M0(1.5 * value).bits, exponent + 128) << "ties go up, as in PyTorch";
    EXPECT_EQ(Float8E8M0(std::nextafter(2 * value, 0.0)).bits, exponent + 128);
  }
}

TEST(Float8E8M0, EdgesAreAsInPyTorch) {
  EXPECT_EQ(Float8E8M0(0.0).bits, 0) << "there is no zero";
  EXPECT_EQ(Float8E8M0(-4.0).bits, 129) << "there is no sign";
  EXPECT_EQ(Float8E8M0(0x1p-127).bits, 0);
  EXPECT_EQ(Float8E8M0(0x1.01p-127).bits, 1);
  EXPECT_EQ(Float8E8M0(0x1p-140).bits, 0);
  EXPECT_EQ(Float8E8M0(0x1.7p127).bits, 254);
  EXPECT_EQ(Float8E8M0(0x1.8p127).bits, 255);
  EXPECT_EQ(Float8E8M0(static_cast<double>(INFINITY)).bits, 255);
  EXPECT_EQ(Float8E8M0(static_cast<double>(NAN)).bits, 255);
}

}  // namespace
}  // namespace onedim::api
