#pragma once
// Shared part: the elements of a tensor that two local tensors both hold, and where they lie in the
// memory of each.

#include "core/layout/index_map.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// Places in a tensor's memory, in elements.
struct MemorySpan {
  int64_t begin = 0;
  int64_t end = 0;
  // Whether `count` elements within it leave no gaps.
  bool is_filled_by(int64_t count) const { return count == 0 || end - begin == count; }
};

struct SharedPart {
  int64_t count = 0;  // elements
  MemorySpan in_from;
  MemorySpan in_to;
};

// Elements that it owns.
int64_t count_of(const IndexMap& map);
// What both own.
IndexMap shared_map(const IndexMap& a, const IndexMap& b);

// Of tensors with these strides; nothing is copied.
SharedPart find_shared(const IndexMap& from_map, const Dims& from_strides, const IndexMap& to_map,
                       const Dims& to_strides);

// Copies what `from` holds of `to`'s part.
SharedPart copy_shared(const Tensor& from, const IndexMap& from_map, Tensor& to,
                       const IndexMap& to_map);

}  // namespace onedim
