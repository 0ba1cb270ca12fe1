#pragma once
// Reshape: the layout that a reshaped tensor has when no rank moves anything, as a view has it.
// Invariant: under both layouts every rank owns the same elements in the same row-major order;
// each answer is compared with the index maps of both. A shard of a dim that is not the first of
// those that are flattened becomes a strided shard (f32[4,6]@S(1) as f32[24] is SS(0,4)); so does a
// mesh dim that cuts inside of a dim which another one has cut. What is no layout is refused by
// name: an uneven dim flattened into others, or a mesh dim that would have to cut two dims.

#include "core/layout/index_map.hpp"

namespace onedim {

// `from` and `to` must have as many elements. Refuses, too, what would take more than 2^20 pieces
// to compare.
Result<Layout> reshaped_layout(const Dims& from, const Layout& layout, const Dims& to,
                               const Mesh& mesh);

}  // namespace onedim
