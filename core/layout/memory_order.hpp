#pragma once
// Memory order: which dim of a tensor is outermost in memory; the others follow in their order, so
// 0 is row-major. A collective that joins or cuts the outermost dim moves whole buffers; any other
// one must pack or unpack.

#include "core/base/dims.hpp"

namespace onedim {

// The strides of a dense tensor, in elements; `outermost` is a dim of it, or 0.
Dims strides_with_outermost(const Dims& shape, int outermost);

// Whether a dense tensor of that shape lies so; strides of dims of length 1 do not count.
bool lies_with_outermost(const Dims& shape, const Dims& strides, int outermost);

// Bit i: dim i has length 1, or less, in all tensors at hand.
using UnitDims = uint32_t;

// Whether dim `dim` is outermost in memory but for dims of length 1.
inline bool is_outermost(int dim, int outermost, UnitDims units) {
  if (dim == outermost) return true;
  const UnitDims before = ((UnitDims{1} << dim) - 1) | UnitDims{1} << outermost;
  return (units & before) == before;
}

// Whether tensors of these lengths lie alike in both orders.
inline bool is_same_memory(int a, int b, UnitDims units) {
  const auto is_row_major = [&](int outermost) {
    const UnitDims before = (UnitDims{1} << outermost) - 1;
    return (units >> outermost & 1) != 0 || (units & before) == before;
  };
  return a == b || (is_row_major(a) && is_row_major(b));
}

}  // namespace onedim
