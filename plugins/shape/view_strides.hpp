#pragma once
// Strides: of a dense tensor, of a reshaped view, of a copy that keeps its source's order in
// memory.

#include <onedim/pack.hpp>
#include <optional>

namespace shape {

using namespace onedim::api;

Shape row_major_strides(const Shape& sizes);

// Strides of `sizes` over the elements of a tensor of shape `from`, in its row-major order; nullopt
// where no strides give that order. Both have as many elements.
std::optional<Shape> reshaped_strides(const Shape& from, const Shape& strides, const Shape& sizes);

// Strides of a dense copy whose dims lie in memory in the order of `strides`; these, if they are
// dense.
Shape dense_like(const Shape& sizes, const Shape& strides);

// The `size` argument of a reshape, its -1 replaced.
Shape resolved_size(Shape size, int64_t element_count);

}  // namespace shape
