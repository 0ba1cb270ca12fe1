#pragma once
// Layout check: whether a layout can place a tensor on a mesh at all, in words. Policies are a
// further question (policy.hpp).

#include "core/layout/layout.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// One placement per mesh dim, each R, S, SS or P; shards of dims that the tensor has, split factors
// of 1 or more, partial kinds that are legal for the dtype and may stand together.
Status check_placements(const TensorMeta& meta, const Layout& layout, const Mesh& mesh);

}  // namespace onedim
