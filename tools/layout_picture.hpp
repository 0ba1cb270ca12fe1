#pragma once
// Layout picture: a layout for people: one line per rank, and for small tensors of one or two dims
// a map that shows in each element the ranks that hold it.

#include <string>

#include "core/layout/index_map.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

struct PlacedTensor {
  TensorMeta meta;
  Layout layout;
  Mesh mesh;
  int outermost = 0;  // tensor dim; see memory_order.hpp
};

inline constexpr int64_t kMostRankRows = 64;  // ranks listed; a mesh may have a million
std::string layout_text(const PlacedTensor& placed);

}  // namespace onedim
