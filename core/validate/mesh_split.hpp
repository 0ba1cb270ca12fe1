#pragma once
// Mesh split: exact local tensors of a global one under a layout on a mesh of any number of dims.
// Mesh dims are taken one by one in cutting order, each splitting what those before it left: a
// shard takes its pieces, a partial splits every piece anew (partial_split.hpp), so partials of
// partials and sums of means come about. This is what a layout means, told without the index map
// of the whole layout. Ranks that differ only in replicated mesh dims hold the same.

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/layout/layout.hpp"
#include "core/pack/call.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

// One tensor a rank; replicas share storage. Shards name dims of the tensor, built-in partials are
// legal for its dtype; a partial of a pack is copied, as nothing reads it. `key` decides the splits
// of partials.
std::vector<Tensor> split_over_mesh(const Tensor& global, const Layout& layout, const Mesh& mesh,
                                    const Domain& domain, uint64_t key);

}  // namespace onedim
