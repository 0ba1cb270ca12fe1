#pragma once
// Sets of the mesh dims of a code, as bits: their members and subsets.

#include <bit>
#include <cstdint>

namespace onedim {

inline int lowest(uint32_t dims) { return std::countr_zero(dims); }

// The last one first, non-empty ones only.
template <typename Body>
void for_each_subset(uint32_t dims, Body&& body) {
  for (uint32_t subset = dims; subset != 0; subset = (subset - 1) & dims) body(subset);
}

// The same, and the empty one at the end.
template <typename Body>
void for_each_subset_or_none(uint32_t dims, Body&& body) {
  for_each_subset(dims, body);
  body(uint32_t{0});
}

}  // namespace onedim
