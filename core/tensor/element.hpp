#pragma once
// Element: the C++ type that stores one element of a dtype, and the switch from a dtype to that
// type. Loops over tensors switch once and run on the type; only code that includes this header
// pays for the instances.

#include <complex>
#include <onedim/small_float.hpp>
#include <type_traits>
#include <utility>

#include "core/tensor/dtype.hpp"

namespace onedim {

using api::BFloat16;
using api::Float16;
using api::Float8E4M3FN;
using api::Float8E5M2;
using api::Float8E8M0;

// One byte; any value but 0 is true, so foreign bytes are safe to read.
struct BoolElement {
  uint8_t byte = 0;
};

// Calls `f(std::type_identity<T>{})` with the element type of `dtype`.
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF64:
      return f(std::type_identity<double>{});
    case DType::kF32:
      return f(std::type_identity<float>{});
    case DType::kBF16:
      return f(std::type_identity<BFloat16>{});
    case DType::kF16:
      return f(std::type_identity<Float16>{});
    case DType::kF8E4M3FN:
      return f(std::type_identity<Float8E4M3FN>{});
    case DType::kF8E5M2:
      return f(std::type_identity<Float8E5M2>{});
    case DType::kF8E8M0:
      return f(std::type_identity<Float8E8M0>{});
    case DType::kI64:
      return f(std::type_identity<int64_t>{});
    case DType::kI32:
      return f(std::type_identity<int32_t>{});
    case DType::kI16:
      return f(std::type_identity<int16_t>{});
    case DType::kI8:
      return f(std::type_identity<int8_t>{});
    case DType::kU8:
      return f(std::type_identity<uint8_t>{});
    case DType::kBool:
      return f(std::type_identity<BoolElement>{});
    case DType::kC64:
      return f(std::type_identity<std::complex<float>>{});
    case DType::kC128:
      break;
  }
  return f(std::type_identity<std::complex<double>>{});
}

template <typename T>
inline constexpr bool kIsComplexElement =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

// The storage-only floats.
template <typename T>
inline constexpr bool kIsSmallFloat =
    std::is_class_v<T> && !kIsComplexElement<T> && !std::is_same_v<T, BoolElement>;

}  // namespace onedim
