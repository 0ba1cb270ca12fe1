#pragma once
// A tensor as lines along one dim: outer x length x inner elements in row-major order, `outer`
// times `inner` lines. What works line by line may shard every other dim.

#include "families.hpp"

namespace reduction {

struct Lines {
  int64_t outer = 1, length = 1, inner = 1;

  Lines(std::span<const int64_t> shape, int dim) {
    for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
      if (i < dim) outer *= shape[i];
      if (i == dim) length = shape[i];
      if (i > dim) inner *= shape[i];
    }
  }
  int64_t count() const { return outer * inner; }
  // Where a line begins in row-major order; its elements follow each other at distance `inner`.
  int64_t begin(int64_t line) const { return line / inner * length * inner + line % inner; }
};

// The dim that the argument `dim` names; 0 for a tensor without dims.
inline int line_dim(const Call& call) {
  return wrap_dim(call.attribute<int64_t>("dim"), call.input(0).ndim());
}

// Dims as a mask, for the rules of all other dims.
inline std::vector<bool> line_mask(const Call& call) {
  std::vector<bool> mask(static_cast<size_t>(call.input(0).ndim()), false);
  if (!mask.empty()) mask[static_cast<size_t>(line_dim(call))] = true;
  return mask;
}

inline int64_t global_length(const Call& call) {
  return call.input(0).ndim() > 0 ? call.global_size(false, 0, line_dim(call)) : 1;
}

}  // namespace reduction
