#pragma once
// Overlap: how much of its part under one layout a rank lacks under another; the largest over ranks
// is what some rank must receive in any move between the two. Derived from the index map's cuts;
// partials count as R here, since a rank that holds a partial holds a value of each element.

#include <span>

#include "core/layout/index_map.hpp"

namespace onedim {

// The cut that one mesh dim makes of one tensor dim.
struct MeshCut {
  int mesh_dim = 0;
  Cut cut;
  bool operator==(const MeshCut& other) const {
    return mesh_dim == other.mesh_dim && cut.parts == other.cut.parts &&
           cut.split_factor == other.cut.split_factor;
  }
};

// Per tensor dim its cuts in order; mesh dims of one rank are left out.
using DimCuts = absl::InlinedVector<MeshCut, 4>;
using TensorCuts = absl::InlinedVector<DimCuts, 4>;
TensorCuts cuts_of(const Layout& layout, const Mesh& mesh, int tensor_ndim);

// One tensor of a group that moves together; its dims beyond the cuts' are not cut.
struct GroupMember {
  std::span<const int64_t> shape;
  int64_t element_size = 1;
};

// Bytes that the rank which lacks most must receive to hold its part under `to`, when it holds its
// part under `from`. Walks the coordinates of the mesh dims that differ; where these are more than
// `most_ranks`, the answer is the upper bound that a rank lacks everything.
int64_t most_missing_bytes(std::span<const GroupMember> group, const TensorCuts& from,
                           const TensorCuts& to, int64_t most_ranks);

// Whether every rank owns the same indices under both layouts, in the same places, and the partials
// are the same: then one is the other.
bool is_same_placement(std::span<const int64_t> shape, const Layout& a, const Layout& b,
                       const Mesh& mesh);

}  // namespace onedim
