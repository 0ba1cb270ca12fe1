#pragma once
// Receive bound: how many bytes the busiest rank must receive in any redistribution between two
// layouts. The larger of two bounds: what a rank lacks of its part (overlap.hpp), and, where
// partials are reduced, the mean over ranks: to reduce an element over w ranks takes w - 1
// transfers, and each further rank that is to have it takes one more. For P -> R over the whole
// mesh that is the known 2 B (w-1)/w, for P -> S it is B (w-1)/w. The ranks of a new partial may
// share its value only where a shard may become a partial.

#include "core/layout/overlap.hpp"

namespace onedim {

int64_t receive_bound(std::span<const GroupMember> group, const Layout& from, const Layout& to,
                      const Mesh& mesh, int tensor_ndim, bool allow_shard_to_partial);

}  // namespace onedim
