#include "core/layout/memory_order.hpp"

#include <algorithm>

namespace onedim {

Dims strides_with_outermost(const Dims& shape, int outermost) {
  Dims strides(shape.size(), 1);
  int64_t next = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (static_cast<int>(dim) == outermost) continue;
    strides[dim] = next;
    next *= std::max<int64_t>(1, shape[dim]);
  }
  if (!shape.empty()) strides[outermost] = next;
  return strides;
}

bool lies_with_outermost(const Dims& shape, const Dims& strides, int outermost) {
  if (volume(shape) == 0) return true;
  const Dims dense = strides_with_outermost(shape, outermost);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] > 1 && strides[dim] != dense[dim]) return false;
  }
  return true;
}

}  // namespace onedim
