#include "core/validate/number_grid.hpp"

namespace onedim {

NumberGrid grid_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kC64:
    case DType::kC128:
      return {.step = 0x1p-6, .limit = 8, .wide = 128, .offset = 1000};
    case DType::kF16:
      return {.step = 0x1p-3, .limit = 4, .wide = 16, .offset = 32};
    case DType::kBF16:
      return {.step = 0x1p-2, .limit = 4, .wide = 16, .offset = 12};
    case DType::kF8E4M3FN:
      return {.step = 1, .limit = 3, .wide = 4, .offset = 6};
    case DType::kF8E5M2:
      return {.step = 1, .limit = 2, .wide = 4, .offset = 2};
    case DType::kF8E8M0:
      return {
          .step = 1, .limit = 8, .wide = 16, .offset = 0, .is_signed = false, .powers_only = true};
    case DType::kI64:
    case DType::kI32:
      return {.step = 1, .limit = 6, .wide = 12, .offset = 1000};
    case DType::kI16:
      return {.step = 1, .limit = 6, .wide = 12, .offset = 100};
    case DType::kI8:
      return {.step = 1, .limit = 4, .wide = 8, .offset = 20};
    case DType::kU8:
      return {.step = 1, .limit = 8, .wide = 12, .offset = 20, .is_signed = false};
    case DType::kBool:
      break;
  }
  return {.step = 1, .limit = 1, .wide = 1, .offset = 0, .is_signed = false};
}

}  // namespace onedim
