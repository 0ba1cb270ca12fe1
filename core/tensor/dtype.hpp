#pragma once
// DType: the element types that cross the ABI, with the ABI's numbers. f8, bf16 and f16 are storage
// types: arithmetic on them happens in f32 and is rounded to nearest even on the way back.

#include <onedim/pack.h>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/status.hpp"

namespace onedim {

enum class DType : int32_t {
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

inline constexpr int kDTypeCount = ONEDIM_DTYPE_COUNT;

int64_t size_of(DType dtype);           // bytes of one element
std::string_view name_of(DType dtype);  // `f32`
Result<DType> parse_dtype(std::string_view name);

bool is_floating(DType dtype);  // real floats, f8 included
bool is_integral(DType dtype);  // signed and unsigned integers, not bool
bool is_complex(DType dtype);

// Distance from 1 to the next larger value; 0 for integers and bool. Complex: of its parts.
double epsilon_of(DType dtype);

// One element as the widest type of its class. Integers and bool go through int64_t, floats through
// double, all kinds through complex<double>; storing rounds (floats) or wraps (integers); bool
// stores value != 0.
double load_real(DType dtype, const std::byte* element);
void store_real(DType dtype, std::byte* element, double value);
int64_t load_integer(DType dtype, const std::byte* element);
void store_integer(DType dtype, std::byte* element, int64_t value);
std::complex<double> load_complex(DType dtype, const std::byte* element);
void store_complex(DType dtype, std::byte* element, std::complex<double> value);

}  // namespace onedim
