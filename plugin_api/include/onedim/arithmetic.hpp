#pragma once
// Arithmetic for accumulating kernels, one definition for all compute types: integers wrap modulo
// 2^64 instead of overflowing, complex products follow the plain formula (no repair of NaN parts,
// as in PyTorch), and each compute type has an accumulator that is at least as precise.

#include <complex>
#include <cstdint>
#include <type_traits>

namespace onedim::api {

namespace detail {
template <typename C>
struct AccumulatorOf {
  using Type = C;
};
template <>
struct AccumulatorOf<float> {
  using Type = double;
};
template <>
struct AccumulatorOf<std::complex<float>> {
  using Type = std::complex<double>;
};
}  // namespace detail

template <typename C>
using Accumulator = typename detail::AccumulatorOf<C>::Type;

template <typename T>
T plus(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <typename T>
T minus(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}

template <typename T>
T times(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
}

}  // namespace onedim::api
