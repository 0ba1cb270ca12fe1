#pragma once
// The storage formats narrower than f32: bf16, f16, f8e4m3fn, f8e5m2, f8e8m0. Each converts exactly
// to float and from float by rounding to nearest, ties to even. Overflow gives infinity where the
// format has one and NaN in f8e4m3fn, as PyTorch has it. Source: IEEE 754, OCP 8-bit floating point
// specification 1.0.

#include <bit>
#include <cstdint>

namespace onedim::api {

// A binary format with `kExponentBits` and `kMantissaBits`, a sign bit, subnormals, and the usual
// bias.
template <int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kShift = 23 - kMantissaBits;
  static constexpr uint32_t kExponentMask = (1u << kExponentBits) - 1;
  static constexpr uint32_t kMantissaMask = (1u << kMantissaBits) - 1;
  static constexpr int kSignPosition = kExponentBits + kMantissaBits;
  static constexpr uint32_t kInfinity = kExponentMask << kMantissaBits;
  static constexpr uint32_t kNaN =
      kHasInfinity ? kInfinity | (1u << (kMantissaBits - 1)) : kInfinity | kMantissaMask;

  static float decode(uint32_t bits) {
    const uint32_t sign = ((bits >> kSignPosition) & 1u) << 31;
    const uint32_t exponent = (bits >> kMantissaBits) & kExponentMask;
    const uint32_t mantissa = bits & kMantissaMask;
    const bool is_nan = kHasInfinity ? exponent == kExponentMask && mantissa != 0
                                     : exponent == kExponentMask && mantissa == kMantissaMask;
    if (is_nan) return std::bit_cast<float>(sign | 0x7fc00000u | (mantissa << kShift));
    if (kHasInfinity && exponent == kExponentMask) return std::bit_cast<float>(sign | 0x7f800000u);
    if (exponent == 0) {
      const float unit =
          std::bit_cast<float>(static_cast<uint32_t>(127 + 1 - kBias - kMantissaBits) << 23);
      const float value = static_cast<float>(mantissa) * unit;
      return sign ? -value : value;
    }
    const uint32_t rebased = exponent + static_cast<uint32_t>(127 - kBias);
    return std::bit_cast<float>(sign | (rebased << 23) | (mantissa << kShift));
  }

  static uint32_t encode(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 31) << kSignPosition;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | kNaN;
    const uint32_t rounded = round_magnitude(magnitude);
    constexpr uint32_t kLargest = kHasInfinity ? kInfinity - 1 : kInfinity | (kMantissaMask - 1);
    if (rounded > kLargest) return sign | (kHasInfinity ? kInfinity : kNaN);
    return sign | rounded;
  }

 private:
  // Format bits of a non-negative finite or infinite float; may exceed the largest finite value.
  static uint32_t round_magnitude(uint32_t magnitude) {
    if (magnitude >= 0x7f800000u) return 0xffffffffu;
    const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
    if (exponent >= 1) {
      const uint32_t rebased = magnitude - (static_cast<uint32_t>(127 - kBias) << 23);
      return round_shift(rebased, kShift);
    }
    const int shift = kShift + 1 - exponent;
    if (shift > 25) return 0;
    const bool is_subnormal = (magnitude >> 23) == 0;
    const uint32_t significand = (magnitude & 0x7fffffu) | (is_subnormal ? 0u : 0x800000u);
    return round_shift(significand, is_subnormal ? shift - 1 : shift);
  }
  static uint32_t round_shift(uint32_t value, int shift) {
    if (shift == 0) return value;
    const uint32_t half = 1u << (shift - 1);
    const uint32_t kept = value >> shift;
    const uint32_t rest = value & ((1u << shift) - 1);
    return kept + (rest > half || (rest == half && (kept & 1u)) ? 1u : 0u);
  }
};

using BF16 = SmallFloat<8, 7, true>;
using F16 = SmallFloat<5, 10, true>;
using F8E4M3FN = SmallFloat<4, 3, false>;
using F8E5M2 = SmallFloat<5, 2, true>;

// An exponent alone: 2^(bits - 127); 255 is NaN; no sign, no zero.
struct F8E8M0 {
  static float decode(uint32_t bits) {
    if (bits == 255) return std::bit_cast<float>(0x7fc00000u);
    return std::bit_cast<float>(bits == 0 ? 0x00400000u : bits << 23);
  }
  static uint32_t encode(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7f800000u) == 0x7f800000u) return 255;
    const uint32_t exponent = (bits >> 23) & 0xffu;
    const uint32_t mantissa = bits & 0x7fffffu;
    if (exponent == 0) return mantissa > 0x400000u ? 1 : 0;
    const bool up = mantissa > 0x400000u || (mantissa == 0x400000u && (exponent & 1u));
    return exponent + (up ? 1u : 0u);
  }
};

}  // namespace onedim::api
