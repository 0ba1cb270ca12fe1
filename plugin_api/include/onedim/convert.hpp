#pragma once
// Element conversion: rows of any dtype into a compute type C and back. C is float (for f32 and the
// narrower floats), double, int64_t (integers and bool) or complex; storing rounds to nearest,
// wraps integers, and makes bool of value != 0. One loop per (dtype, C), so kernels are
// instantiated per compute type only.

#include <cstddef>
#include <onedim/call.hpp>
#include <onedim/small_float.hpp>

namespace onedim::api {

namespace detail {
template <typename C, typename T>
C convert_plain(T value) {
  if constexpr (std::is_floating_point_v<C> || std::is_integral_v<C>)
    return static_cast<C>(value);
  else
    return C(static_cast<typename C::value_type>(value));
}
template <typename T, typename C>
void load_plain(const std::byte* from, int64_t stride, int64_t count, C* to) {
  const T* source = reinterpret_cast<const T*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = convert_plain<C>(source[i * stride]);
}
template <typename Format, typename Bits, typename C>
void load_small(const std::byte* from, int64_t stride, int64_t count, C* to) {
  const Bits* source = reinterpret_cast<const Bits*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<C>(Format::decode(source[i * stride]));
}
template <typename T, typename C>
void load_complex(const std::byte* from, int64_t stride, int64_t count, C* to) {
  const std::complex<T>* source = reinterpret_cast<const std::complex<T>*>(from);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<C> || std::is_integral_v<C>) {
      to[i] = static_cast<C>(source[i * stride].real());
    } else {
      to[i] = C(source[i * stride]);
    }
  }
}
template <typename C>
auto real_part(const C& value) {
  if constexpr (std::is_floating_point_v<C> || std::is_integral_v<C>)
    return value;
  else
    return value.real();
}
// Out-of-range floats have no defined conversion to integers; here they become the nearest integer,
// so that the conversion is monotone, and NaN the lowest. Unsigned ones wrap through 64 bits, as in
// PyTorch.
template <typename T, typename C>
T to_integer(const C& value) {
  const auto real = real_part(value);
  if constexpr (std::is_floating_point_v<decltype(real)>) {
    constexpr int kBits = std::is_signed_v<T> ? 8 * static_cast<int>(sizeof(T)) : 64;
    constexpr int64_t kLowest = INT64_MIN >> (64 - kBits);
    constexpr int64_t kHighest = INT64_MAX >> (64 - kBits);
    if (real >= -static_cast<decltype(real)>(kLowest)) return static_cast<T>(kHighest);
    const bool fits = real > static_cast<decltype(real)>(kLowest) - 1;
    return static_cast<T>(fits ? static_cast<int64_t>(real) : kLowest);
  } else {
    return static_cast<T>(real);
  }
}
template <typename T, typename C>
void store_plain(const C* from, int64_t stride, int64_t count, std::byte* to) {
  T* target = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>)
      target[i * stride] = to_integer<T>(from[i]);
    else
      target[i * stride] = static_cast<T>(real_part(from[i]));
  }
}
template <typename Format, typename Bits, typename C>
void store_small(const C* from, int64_t stride, int64_t count, std::byte* to) {
  Bits* target = reinterpret_cast<Bits*>(to);
  for (int64_t i = 0; i < count; ++i) {
    target[i * stride] = static_cast<Bits>(Format::encode(static_cast<float>(real_part(from[i]))));
  }
}
template <typename C>
void store_bool(const C* from, int64_t stride, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) to[i * stride] = static_cast<std::byte>(from[i] != C(0));
}
template <typename T, typename C>
void store_complex(const C* from, int64_t stride, int64_t count, std::byte* to) {
  std::complex<T>* target = reinterpret_cast<std::complex<T>*>(to);
  for (int64_t i = 0; i < count; ++i) target[i * stride] = std::complex<T>(from[i]);
}
}  // namespace detail

// `count` elements at `stride` into C. Complex loses its imaginary part where C is real.
template <typename C>
void load_row(DType dtype, const std::byte* from, int64_t stride, int64_t count, C* to) {
  using namespace detail;
  switch (dtype) {
    case DType::kF64:
      return load_plain<double>(from, stride, count, to);
    case DType::kF32:
      return load_plain<float>(from, stride, count, to);
    case DType::kBF16:
      return load_small<BFloat16, uint16_t>(from, stride, count, to);
    case DType::kF16:
      return load_small<Float16, uint16_t>(from, stride, count, to);
    case DType::kF8E4M3FN:
      return load_small<Float8E4M3FN, uint8_t>(from, stride, count, to);
    case DType::kF8E5M2:
      return load_small<Float8E5M2, uint8_t>(from, stride, count, to);
    case DType::kF8E8M0:
      return load_small<Float8E8M0, uint8_t>(from, stride, count, to);
    case DType::kI64:
      return load_plain<int64_t>(from, stride, count, to);
    case DType::kI32:
      return load_plain<int32_t>(from, stride, count, to);
    case DType::kI16:
      return load_plain<int16_t>(from, stride, count, to);
    case DType::kI8:
      return load_plain<int8_t>(from, stride, count, to);
    case DType::kU8:
    case DType::kBool:
      return load_plain<uint8_t>(from, stride, count, to);
    case DType::kC64:
      return load_complex<float>(from, stride, count, to);
    case DType::kC128:
      return load_complex<double>(from, stride, count, to);
    default:
      fail("a tensor of unknown dtype");
  }
}

template <typename C>
void store_row(DType dtype, const C* from, int64_t stride, int64_t count, std::byte* to) {
  using namespace detail;
  switch (dtype) {
    case DType::kF64:
      return store_plain<double>(from, stride, count, to);
    case DType::kF32:
      return store_plain<float>(from, stride, count, to);
    case DType::kBF16:
      return store_small<BFloat16, uint16_t>(from, stride, count, to);
    case DType::kF16:
      return store_small<Float16, uint16_t>(from, stride, count, to);
    case DType::kF8E4M3FN:
      return store_small<Float8E4M3FN, uint8_t>(from, stride, count, to);
    case DType::kF8E5M2:
      return store_small<Float8E5M2, uint8_t>(from, stride, count, to);
    case DType::kF8E8M0:
      return store_small<Float8E8M0, uint8_t>(from, stride, count, to);
    case DType::kI64:
      return store_plain<int64_t>(from, stride, count, to);
    case DType::kI32:
      return store_plain<int32_t>(from, stride, count, to);
    case DType::kI16:
      return store_plain<int16_t>(from, stride, count, to);
    case DType::kI8:
      return store_plain<int8_t>(from, stride, count, to);
    case DType::kU8:
      return store_plain<uint8_t>(from, stride, count, to);
    case DType::kBool:
      return store_bool(from, stride, count, to);
    case DType::kC64:
      return store_complex<float>(from, stride, count, to);
    case DType::kC128:
      return store_complex<double>(from, stride, count, to);
    default:
      fail("a tensor of unknown dtype");
  }
}

}  // namespace onedim::api
