#pragma once
// DType and ATen's type promotion, for packs. Categories are ordered bool < integer < float <
// complex. In one op, tensors with dims outrank 0-dim tensors, which outrank plain numbers: a lower
// rank changes the result only if its category is higher. Source: c10/core/ScalarType.h and ATen's
// TypeProperties, by behaviour.

#include <onedim/pack.h>

#include <complex>
#include <cstdint>
#include <type_traits>

namespace onedim::api {

enum class DType : int32_t {
  kUndefined = -1,
  kF64 = ONEDIM_DTYPE_F64,
  kF32 = ONEDIM_DTYPE_F32,
  kBF16 = ONEDIM_DTYPE_BF16,
  kF16 = ONEDIM_DTYPE_F16,
  kF8E4M3FN = ONEDIM_DTYPE_F8E4M3FN,
  kF8E5M2 = ONEDIM_DTYPE_F8E5M2,
  kF8E8M0 = ONEDIM_DTYPE_F8E8M0,
  kI64 = ONEDIM_DTYPE_I64,
  kI32 = ONEDIM_DTYPE_I32,
  kI16 = ONEDIM_DTYPE_I16,
  kI8 = ONEDIM_DTYPE_I8,
  kU8 = ONEDIM_DTYPE_U8,
  kBool = ONEDIM_DTYPE_BOOL,
  kC64 = ONEDIM_DTYPE_C64,
  kC128 = ONEDIM_DTYPE_C128,
};

constexpr bool is_complex(DType t) { return t == DType::kC64 || t == DType::kC128; }
constexpr bool is_floating(DType t) { return t >= DType::kF64 && t <= DType::kF8E8M0; }
constexpr bool is_integral(DType t) { return t >= DType::kI64 && t <= DType::kU8; }
constexpr bool is_bool(DType t) { return t == DType::kBool; }

// 0 bool, 1 integer, 2 float, 3 complex; -1 undefined.
constexpr int category(DType t) {
  if (t == DType::kUndefined) return -1;
  return is_bool(t) ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3;
}

// As in tensor text: `f32`.
constexpr const char* name_of(DType t) {
  constexpr const char* kNames[] = {"f64",    "f32",    "bf16", "f16", "f8e4m3fn",
                                    "f8e5m2", "f8e8m0", "i64",  "i32", "i16",
                                    "i8",     "u8",     "bool", "c64", "c128"};
  return t == DType::kUndefined ? "undefined" : kNames[static_cast<int>(t)];
}

// Sets of dtypes, as kernels state them.
constexpr uint64_t dtype_bit(DType t) { return uint64_t{1} << static_cast<int>(t); }
inline constexpr uint64_t kBoolDTypes = dtype_bit(DType::kBool);
inline constexpr uint64_t kF8DTypes =
    dtype_bit(DType::kF8E4M3FN) | dtype_bit(DType::kF8E5M2) | dtype_bit(DType::kF8E8M0);
inline constexpr uint64_t kIntegerDTypes = dtype_bit(DType::kI64) | dtype_bit(DType::kI32) |
                                           dtype_bit(DType::kI16) | dtype_bit(DType::kI8) |
                                           dtype_bit(DType::kU8);

// Bytes of one element.
constexpr int64_t size_of(DType t) {
  switch (t) {
    case DType::kC128:
      return 16;
    case DType::kF64:
    case DType::kI64:
    case DType::kC64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
    case DType::kI16:
      return 2;
    default:
      return 1;
  }
}

// The dtype whose elements are of type T in memory; kUndefined where there is none. A u8 is an
// unsigned char, a bool a bool; bf16, f16 and f8 have no type of C++.
template <typename T>
constexpr DType element_dtype() {
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kI32;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kI16;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kI8;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kU8;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::kC64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DType::kC128;
  return DType::kUndefined;
}
// Exactly these dtypes: for kernels that read the elements where they lie.
template <typename... Types>
constexpr uint64_t exact_dtypes() {
  static_assert(((element_dtype<Types>() != DType::kUndefined) && ...),
                "no dtype has such elements");
  return (dtype_bit(element_dtype<Types>()) | ...);
}

// The complex type whose parts have the precision of `t`; f32's for the narrower floats.
constexpr DType to_complex(DType t) {
  return t == DType::kF64 || t == DType::kC128 ? DType::kC128 : DType::kC64;
}
constexpr DType to_real(DType t) {
  return t == DType::kC128 ? DType::kF64 : t == DType::kC64 ? DType::kF32 : t;
}
// What a float function makes of an integer or bool input: the default float type.
constexpr DType to_floating(DType t) { return category(t) < 2 ? DType::kF32 : t; }

// The smallest type that holds both; f8 types mix only with themselves and give kUndefined else.
constexpr DType promote(DType a, DType b) {
  if (a == b || b == DType::kUndefined) return a;
  if (a == DType::kUndefined) return b;
  if (category(a) < category(b)) return promote(b, a);
  if (is_complex(a)) {
    const bool wide = a == DType::kC128 || b == DType::kC128 || b == DType::kF64;
    return wide ? DType::kC128 : DType::kC64;
  }
  const bool a_f8 = is_floating(a) && size_of(a) == 1;
  const bool b_f8 = is_floating(b) && size_of(b) == 1;
  if (category(b) < category(a)) return a;
  if (a_f8 || b_f8) return DType::kUndefined;
  if (is_floating(a)) {
    if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
    return DType::kF32;  // bf16 with f16
  }
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::kI16;  // i8 with u8
}

// Accumulates the operands of one op; see the header's first paragraph.
class ResultType {
 public:
  void add_tensor(DType t, int ndim) {
    DType& rank = ndim > 0 ? dims_ : zero_dims_;
    rank = promote(rank, t);
  }
  // A plain number: its category counts, its precision does not.
  void add_number(DType t) {
    numbers_ = promote(numbers_, is_floating(t) ? DType::kF32 : is_complex(t) ? DType::kC64 : t);
  }
  DType get() const { return combine(dims_, combine(zero_dims_, numbers_)); }

 private:
  static constexpr DType combine(DType higher, DType lower) {
    if (is_complex(higher)) return higher;
    if (is_floating(higher)) return is_complex(lower) ? to_complex(higher) : higher;
    if (is_bool(higher) || is_floating(lower) || is_complex(lower)) return promote(higher, lower);
    return higher != DType::kUndefined ? higher : lower;
  }
  DType dims_ = DType::kUndefined;
  DType zero_dims_ = DType::kUndefined;
  DType numbers_ = DType::kUndefined;
};

}  // namespace onedim::api
