#pragma once
// StridedRun: walks two strided boxes of one shape in step. Dims of size 1 are dropped and
// neighbours that lie alike in both boxes are merged, so that the body sees the longest possible
// inner runs: one for two contiguous boxes.

#include <cstdint>
#include <span>

#include "core/base/dims.hpp"

namespace onedim {

struct StridedPair {
  Dims sizes;
  Dims a_strides;
  Dims b_strides;
};

// The same elements in the same order with as few dims as possible; always at least one.
inline StridedPair merge_dims(std::span<const int64_t> sizes, std::span<const int64_t> a_strides,
                              std::span<const int64_t> b_strides) {
  StridedPair merged;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    const int64_t size = sizes[dim], a = a_strides[dim], b = b_strides[dim];
    if (size == 1) continue;
    const bool continues = !merged.sizes.empty() && merged.a_strides.back() == a * size &&
                           merged.b_strides.back() == b * size;
    if (!continues) {
      merged.sizes.push_back(size);
      merged.a_strides.push_back(a);
      merged.b_strides.push_back(b);
      continue;
    }
    merged.sizes.back() *= size;
    merged.a_strides.back() = a;
    merged.b_strides.back() = b;
  }
  if (merged.sizes.empty()) return {{1}, {1}, {1}};
  return merged;
}

// Calls `body(a_offset, b_offset)` at the start of each innermost run of `pair`, offsets in
// elements, until the body returns false. Returns whether it ran to the end. The innermost dim is
// the body's own.
template <typename Body>
bool for_each_run(const StridedPair& pair, Body&& body) {
  const int outer = static_cast<int>(pair.sizes.size()) - 1;
  for (int64_t size : pair.sizes) {
    if (size == 0) return true;
  }
  Dims index(outer, 0);
  int64_t a_offset = 0, b_offset = 0;
  while (true) {
    if (!body(a_offset, b_offset)) return false;
    int dim = outer - 1;
    for (; dim >= 0; --dim) {
      a_offset += pair.a_strides[dim];
      b_offset += pair.b_strides[dim];
      if (++index[dim] < pair.sizes[dim]) break;
      a_offset -= pair.a_strides[dim] * pair.sizes[dim];
      b_offset -= pair.b_strides[dim] * pair.sizes[dim];
      index[dim] = 0;
    }
    if (dim < 0) return true;
  }
}

}  // namespace onedim
