#pragma once
// Elements in device kernels: a load converts any dtype to the compute type C, a store rounds, cuts
// or wraps C to the dtype, bit for bit as onedim/convert.hpp does on the CPU. C is float (f32 and
// the narrower floats), double, int64_t (integers and bool) or Complex<float>. No f8, no c128.
//   bf16 0x3F80 loads as 1.0f; 1.00390625f lies halfway between two bf16s and stores as 0x3F80

#include <onedim/pack.h>
#include <onedim/device_walk.hpp>

#include <type_traits>

namespace onedim::device {

template <typename T>
struct Complex {
  T real = 0;
  T imaginary = 0;
};

template <typename C>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<Complex<T>> : std::true_type {};
template <typename C>
inline constexpr bool kIsComplex = IsComplex<C>::value;

// The dtypes that these functions know.
constexpr bool has_device_elements(int32_t dtype) {
  return dtype >= 0 && dtype <= ONEDIM_DTYPE_C64 &&
         (dtype < ONEDIM_DTYPE_F8E4M3FN || dtype > ONEDIM_DTYPE_F8E8M0);
}

ONEDIM_ON_DEVICE constexpr float bf16_to_float(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}
ONEDIM_ON_DEVICE constexpr uint16_t float_to_bf16(float value) {
  const auto bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FC0;
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1)) >> 16);
}

ONEDIM_ON_DEVICE constexpr float f16_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7FFF) << 13;
  // The exponent's bias differs by 112; a product moves it, for subnormals too.
  const float moved = __builtin_bit_cast(float, magnitude) * __builtin_bit_cast(float, 0x77800000u);
  const bool is_finite = (half & 0x7C00) != 0x7C00;
  const uint32_t bits = is_finite ? __builtin_bit_cast(uint32_t, moved) : magnitude | 0x7F800000u;
  return __builtin_bit_cast(float, sign | bits);
}
ONEDIM_ON_DEVICE constexpr uint16_t float_to_f16(float value) {
  const auto bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7C00);
  if (magnitude < 0x38800000u) {
    // Added to 0.5, the number is rounded to multiples of the smallest subnormal.
    const float sum = __builtin_bit_cast(float, magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, sum) - 0x3F000000u));
  }
  const uint32_t rounded = magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

template <typename C, typename T>
ONEDIM_ON_DEVICE C converted(T value) {
  if constexpr (kIsComplex<C>)
    return {static_cast<decltype(C{}.real)>(value), 0};
  else
    return static_cast<C>(value);
}

template <typename C>
ONEDIM_ON_DEVICE C load(const Elements& from, int64_t at) {
  switch (from.dtype) {
    case ONEDIM_DTYPE_F64:
      return converted<C>(static_cast<const double*>(from.data)[at]);
    case ONEDIM_DTYPE_F32:
      return converted<C>(static_cast<const float*>(from.data)[at]);
    case ONEDIM_DTYPE_BF16:
      return converted<C>(bf16_to_float(static_cast<const uint16_t*>(from.data)[at]));
    case ONEDIM_DTYPE_F16:
      return converted<C>(f16_to_float(static_cast<const uint16_t*>(from.data)[at]));
    case ONEDIM_DTYPE_I64:
      return converted<C>(static_cast<const int64_t*>(from.data)[at]);
    case ONEDIM_DTYPE_I32:
      return converted<C>(static_cast<const int32_t*>(from.data)[at]);
    case ONEDIM_DTYPE_I16:
      return converted<C>(static_cast<const int16_t*>(from.data)[at]);
    case ONEDIM_DTYPE_I8:
      return converted<C>(static_cast<const int8_t*>(from.data)[at]);
    case ONEDIM_DTYPE_U8:
    case ONEDIM_DTYPE_BOOL:
      return converted<C>(static_cast<const uint8_t*>(from.data)[at]);
    default: {
      const Complex<float> value = static_cast<const Complex<float>*>(from.data)[at];
      if constexpr (kIsComplex<C>)
        return {value.real, value.imaginary};
      else
        return static_cast<C>(value.real);
    }
  }
}

template <typename C>
ONEDIM_ON_DEVICE auto real_part(const C& value) {
  if constexpr (kIsComplex<C>)
    return value.real;
  else
    return value;
}

// Floats beyond the range become the nearest integer, NaN the lowest; unsigned ones wrap.
template <typename T, typename R>
ONEDIM_ON_DEVICE T to_integer(R value) {
  if constexpr (std::is_floating_point_v<R>) {
    constexpr int kBits = std::is_signed_v<T> ? 8 * static_cast<int>(sizeof(T)) : 64;
    constexpr int64_t kLowest = INT64_MIN >> (64 - kBits), kHighest = INT64_MAX >> (64 - kBits);
    if (value >= -static_cast<R>(kLowest)) return static_cast<T>(kHighest);
    const bool fits = value > static_cast<R>(kLowest) - 1;
    return static_cast<T>(fits ? static_cast<int64_t>(value) : kLowest);
  } else {
    return static_cast<T>(value);
  }
}

template <typename C>
ONEDIM_ON_DEVICE bool is_nonzero(const C& value) {
  if constexpr (kIsComplex<C>)
    return value.real != 0 || value.imaginary != 0;
  else
    return value != 0;
}

template <typename C>
ONEDIM_ON_DEVICE void store(const Elements& to, int64_t at, const C& value) {
  const auto real = real_part(value);
  switch (to.dtype) {
    case ONEDIM_DTYPE_F64:
      static_cast<double*>(to.data)[at] = static_cast<double>(real);
      break;
    case ONEDIM_DTYPE_F32:
      static_cast<float*>(to.data)[at] = static_cast<float>(real);
      break;
    case ONEDIM_DTYPE_BF16:
      static_cast<uint16_t*>(to.data)[at] = float_to_bf16(static_cast<float>(real));
      break;
    case ONEDIM_DTYPE_F16:
      static_cast<uint16_t*>(to.data)[at] = float_to_f16(static_cast<float>(real));
      break;
    case ONEDIM_DTYPE_I64:
      static_cast<int64_t*>(to.data)[at] = to_integer<int64_t>(real);
      break;
    case ONEDIM_DTYPE_I32:
      static_cast<int32_t*>(to.data)[at] = to_integer<int32_t>(real);
      break;
    case ONEDIM_DTYPE_I16:
      static_cast<int16_t*>(to.data)[at] = to_integer<int16_t>(real);
      break;
    case ONEDIM_DTYPE_I8:
      static_cast<int8_t*>(to.data)[at] = to_integer<int8_t>(real);
      break;
    case ONEDIM_DTYPE_U8:
      static_cast<uint8_t*>(to.data)[at] = to_integer<uint8_t>(real);
      break;
    case ONEDIM_DTYPE_BOOL:
      static_cast<uint8_t*>(to.data)[at] = is_nonzero(value) ? 1 : 0;
      break;
    default: {
      Complex<float> pair{static_cast<float>(real), 0};
      if constexpr (kIsComplex<C>) pair.imaginary = static_cast<float>(value.imaginary);
      static_cast<Complex<float>*>(to.data)[at] = pair;
    }
  }
}

}  // namespace onedim::device
