#include "core/validate/number_grid.hpp"

#include <algorithm>
#include <cmath>

namespace onedim {
namespace {

// Integers of large values are drawn one by one up to this many to either side.
constexpr double kIntegerSteps = 0x1p16;

constexpr NumberGrid kDoubleGrid{.step = 0x1p-6,
                                 .limit = 8,
                                 .wide = 128,
                                 .offset = 1000,
                                 .large_power = 30,
                                 .reach = 0x1p60,
                                 .largest = 0x1p1000};
constexpr NumberGrid kFloatGrid{.step = 0x1p-6,
                                .limit = 8,
                                .wide = 128,
                                .offset = 1000,
                                .large_power = 27,
                                .reach = 0x1p60,
                                .largest = 0x1p126};
constexpr NumberGrid kFloat16Grid{.step = 0x1p-3,
                                  .limit = 4,
                                  .wide = 16,
                                  .offset = 32,
                                  .large_power = 11,
                                  .reach = 0x1p14,
                                  .largest = 0x1p15};
constexpr NumberGrid kBFloat16Grid{.step = 0x1p-2,
                                   .limit = 4,
                                   .wide = 16,
                                   .offset = 12,
                                   .large_power = 20,
                                   .reach = 0x1p60,
                                   .largest = 0x1p126};
constexpr NumberGrid kFloat8E4M3Grid{.step = 1,
                                     .limit = 3,
                                     .wide = 4,
                                     .offset = 6,
                                     .large_power = 4,
                                     .reach = 0x1p6,
                                     .largest = 0x1p8};
constexpr NumberGrid kFloat8E5M2Grid{.step = 1,
                                     .limit = 2,
                                     .wide = 4,
                                     .offset = 2,
                                     .large_power = 8,
                                     .reach = 0x1p12,
                                     .largest = 0x1p15};
constexpr NumberGrid kFloat8E8M0Grid{.step = 1,
                                     .limit = 8,
                                     .wide = 16,
                                     .offset = 0,
                                     .large_power = 12,
                                     .reach = 0x1p12,
                                     .largest = 0x1p20,
                                     .is_signed = false,
                                     .powers_only = true};

NumberGrid float_grid(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kC128:
      return kDoubleGrid;
    case DType::kF32:
    case DType::kC64:
      return kFloatGrid;
    case DType::kF16:
      return kFloat16Grid;
    case DType::kBF16:
      return kBFloat16Grid;
    case DType::kF8E4M3FN:
      return kFloat8E4M3Grid;
    case DType::kF8E5M2:
      return kFloat8E5M2Grid;
    default:  // f8e8m0
      return kFloat8E8M0Grid;
  }
}

NumberGrid integer_grid(DType dtype) {
  switch (dtype) {
    case DType::kI64:
      return {.step = 1,
              .limit = 6,
              .wide = 12,
              .offset = 1000,
              .large_power = 20,
              .reach = 0x1p40,
              .largest = 0x1p62,
              .is_integer = true};
    case DType::kI32:
      return {.step = 1,
              .limit = 6,
              .wide = 12,
              .offset = 1000,
              .large_power = 17,
              .reach = 0x1p30,
              .largest = 0x1p31 - 1,
              .is_integer = true};
    case DType::kI16:
      return {.step = 1,
              .limit = 6,
              .wide = 12,
              .offset = 100,
              .large_power = 10,
              .reach = 0x1p15 - 1,
              .largest = 0x1p15 - 1,
              .is_integer = true};
    case DType::kI8:
      return {.step = 1,
              .limit = 4,
              .wide = 8,
              .offset = 20,
              .large_power = 3,
              .reach = 127,
              .largest = 127,
              .is_integer = true};
    case DType::kU8:
      return {.step = 1,
              .limit = 8,
              .wide = 12,
              .offset = 20,
              .large_power = 4,
              .reach = 255,
              .largest = 255,
              .is_signed = false,
              .is_integer = true};
    default:  // bool
      return {.offset = 0, .is_signed = false, .is_integer = true};
  }
}

}  // namespace

NumberGrid NumberGrid::around(double magnitude) const {
  if (!(magnitude > wide) || powers_only) return *this;
  NumberGrid grid = *this;
  const double scale = std::ldexp(1.0, std::ilogb(magnitude) - std::ilogb(limit));
  const double room = std::max(0.0, largest - magnitude);
  grid.step = is_integer ? std::max(step, scale / kIntegerSteps) : step * scale;
  grid.limit *= scale;
  grid.wide *= scale;
  grid.offset *= scale;
  if (is_integer) {
    grid.limit = std::floor(std::min(grid.limit, room));
    grid.offset = std::floor(std::min(grid.offset, room));
  } else {  // halved, so that they stay multiples of the step
    while (grid.limit > room && grid.limit > grid.step) grid.limit /= 2;
    while (grid.offset > room && grid.offset > grid.step) grid.offset /= 2;
  }
  return grid;
}

NumberGrid grid_of(DType dtype) {
  return is_floating(dtype) || is_complex(dtype) ? float_grid(dtype) : integer_grid(dtype);
}

}  // namespace onedim
