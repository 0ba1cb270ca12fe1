#pragma once
// SmallFloat: the storage-only float formats, as bit patterns with exact conversions. Decoding is
// exact; encoding rounds a double once, to nearest even, subnormals included. Overflow gives
// infinity where the format has one and NaN in f8e4m3fn, as PyTorch does. f8e8m0 (OCP MX scale) is
// a bare exponent: it keeps 2^(e-127), drops the sign, and maps zero to its smallest value and
// infinities to NaN.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace onedim::api {

// `kHasInfinity`: the top exponent is reserved as in IEEE 754; else only the all-ones pattern is
// NaN.
template <typename Bits, int kExponentBits, int kMantissaBits, bool kHasInfinity, Bits kNaN,
          bool kNaNKeepsSign>
struct SmallFloat {
  Bits bits = 0;

  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kSignShift = kExponentBits + kMantissaBits;
  static constexpr uint64_t kTopExponent = ((uint64_t{1} << kExponentBits) - 1) << kMantissaBits;
  // One past the largest finite magnitude.
  static constexpr uint64_t kOverflow =
      kHasInfinity ? kTopExponent : kTopExponent | ((1u << kMantissaBits) - 1);

  // The smallest subnormal.
  static constexpr double kSmallest =
      std::bit_cast<double>(static_cast<uint64_t>(1023 + 1 - kBias - kMantissaBits) << 52);

  SmallFloat() = default;
  explicit SmallFloat(double value) : bits(encode(value)) {}
  static SmallFloat from_bits(Bits bits) {
    SmallFloat result;
    result.bits = bits;
    return result;
  }
  explicit operator double() const { return decode(bits); }
  explicit operator float() const { return static_cast<float>(decode(bits)); }

  static Bits encode(double value) {
    constexpr uint64_t kSignBit = uint64_t{1} << 63;
    const uint64_t all = std::bit_cast<uint64_t>(value);
    const uint64_t magnitude = all & ~kSignBit;
    const uint64_t sign = (all >> 63) << kSignShift;
    if (magnitude > std::bit_cast<uint64_t>(std::numeric_limits<double>::infinity())) {
      return static_cast<Bits>(kNaNKeepsSign ? kNaN | sign : kNaN);
    }
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    if (exponent > kBias + 1) return static_cast<Bits>(sign | kOverflow);
    // Below the normal range the mantissa loses one more bit for each missing exponent.
    const int missing = std::max(0, 1 - kBias - exponent);
    const int shift = 52 - kMantissaBits + missing;
    if (exponent == -1023 || shift > 53) return static_cast<Bits>(sign);
    const uint64_t mantissa = (magnitude & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
    const uint64_t to_even = (uint64_t{1} << (shift - 1)) - 1 + ((mantissa >> shift) & 1);
    const uint64_t rounded = (mantissa + to_even) >> shift;
    // The mantissa's leading one carries into the exponent field, and so does a rounding overflow.
    const uint64_t field = static_cast<uint64_t>(exponent + missing + kBias - 1) << kMantissaBits;
    return static_cast<Bits>(sign | std::min(field + rounded, kOverflow));
  }

  static double decode(Bits bits) {
    const uint64_t magnitude = bits & ((uint64_t{1} << kSignShift) - 1);
    const uint64_t sign = static_cast<uint64_t>(bits >> kSignShift) << 63;
    const uint64_t mantissa = magnitude & ((uint64_t{1} << kMantissaBits) - 1);
    const int field = static_cast<int>(magnitude >> kMantissaBits);
    if (magnitude >= kOverflow) return decode_special(magnitude, sign);
    if (field == 0) {
      const double value = static_cast<double>(mantissa) * kSmallest;
      return sign ? -value : value;
    }
    const uint64_t exponent = static_cast<uint64_t>(field - kBias + 1023) << 52;
    return std::bit_cast<double>(sign | exponent | (mantissa << (52 - kMantissaBits)));
  }

 private:
  static double decode_special(uint64_t magnitude, uint64_t sign) {
    const bool is_infinity = kHasInfinity && magnitude == kOverflow;
    const double value = is_infinity ? std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<double>(std::bit_cast<uint64_t>(value) | sign);
  }
};

using BFloat16 = SmallFloat<uint16_t, 8, 7, true, 0x7FC0, false>;
using Float16 = SmallFloat<uint16_t, 5, 10, true, 0x7E00, true>;
using Float8E4M3FN = SmallFloat<uint8_t, 4, 3, false, 0x7F, true>;
using Float8E5M2 = SmallFloat<uint8_t, 5, 2, true, 0x7F, true>;

struct Float8E8M0 {
  uint8_t bits = 0;

  Float8E8M0() = default;
  explicit Float8E8M0(double value) : bits(encode(value)) {}
  static Float8E8M0 from_bits(uint8_t bits) {
    Float8E8M0 result;
    result.bits = bits;
    return result;
  }
  explicit operator double() const { return decode(bits); }
  explicit operator float() const { return static_cast<float>(decode(bits)); }

  static uint8_t encode(double value) {
    constexpr uint8_t kNaN = 0xFF;
    if (!std::isfinite(value)) return kNaN;
    const double magnitude = std::abs(value);
    // PyTorch takes all that lies between the two smallest values up to the larger.
    if (magnitude < 0x1p-126) return magnitude > 0x1p-127 ? 1 : 0;
    int exponent = 0;
    const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
    const int rounded = exponent - 1 + (fraction >= 0.75 ? 1 : 0);
    return rounded > 127 ? kNaN : static_cast<uint8_t>(rounded + 127);
  }

  static double decode(uint8_t bits) {
    if (bits == 0xFF) return std::numeric_limits<double>::quiet_NaN();
    return std::ldexp(1.0, static_cast<int>(bits) - 127);
  }
};

}  // namespace onedim::api
