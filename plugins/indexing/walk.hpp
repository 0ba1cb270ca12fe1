#pragma once
// The walk over J as one rank sees it: the places whose index values it holds, and for each the
// element of the table and of the items, -1 where that element lies on another rank. Index values
// are global, so every rank finds the same coordinates and refuses the same ones.
//
// weight [8,2] cut in rows over 2 ranks, indices [3] = 1, 6, 2 on both: rank 1 holds rows 4..7 and
// sees the table's elements -1 -1 4 5 -1 -1 (row 6 is its third) beside items 0 1 2 3 4 5.

#include "index_space.hpp"

namespace indexing {

// Offsets in elements.
struct Pair {
  int64_t table;
  int64_t items;
};

// What an offset is made of: the tensors' own strides, or those of dense copies.
struct WalkStrides {
  Shape table;
  Shape items;
};
Shape strides_of(const TensorView& tensor);
Shape dense_strides(const TensorView& tensor);

// Calls `body` for rows of places in row-major order of J. Places whose table element is the place
// itself on some dim and lies elsewhere are left out.
void walk(const Call& call, const IndexSpace& space, const WalkStrides& strides,
          const std::function<void(std::span<const Pair>)>& body);

}  // namespace indexing
