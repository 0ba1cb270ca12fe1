#pragma once
// On a mesh of several dims, each with its own rule, two tensor dims whose places meet one by one
// must be cut by the same mesh dims, or by none in common. Else it depends on the order of the
// cuts, which a rank is not told, whether their shards meet. For accept_local of position-aware
// ops:
//
//   a: S(0) | S(0), S(0), S(0)   b: S(0) | S(0), R, S(0)      self and src [4], index [4], 2 x 2
//   cut by a then b, rank (1,0) holds src [2], index [2,3]; cut by b then a, src [1], index [2,3]

#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>

#include <vector>

namespace onedim::api {

struct TensorDim {
  bool is_output = false;
  int slot = 0;
  int dim = 0;
};

// One bit for each mesh dim that cuts it.
ONEDIM_INLINE uint64_t cutting_mesh_dims(const onedim_location_t& at, const TensorDim& cut) {
  const Placement* placements = (cut.is_output ? at.outputs : at.inputs)[cut.slot].placements;
  uint64_t set = 0;
  for (int mesh_dim = 0; mesh_dim < at.mesh_ndim; ++mesh_dim) {
    const Placement& placement = placements[mesh_dim];
    const bool is_shard = placement.kind == ONEDIM_PLACEMENT_SHARD ||
                          placement.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
    if (is_shard && placement.dim == cut.dim && at.mesh_shape[mesh_dim] > 1)
      set |= uint64_t{1} << mesh_dim;
  }
  return set;
}

// Throws where shards of dims that meet may miss each other.
ONEDIM_INLINE void accept_meeting_cuts(const Call& call, const std::vector<TensorDim>& meeting) {
  const onedim_location_t* at = call.location();
  if (at == nullptr || at->mesh_ndim < 2) return;
  for (const TensorDim& a : meeting) {
    for (const TensorDim& b : meeting) {
      const uint64_t by_a = cutting_mesh_dims(*at, a), by_b = cutting_mesh_dims(*at, b);
      require(by_a == by_b || (by_a & by_b) == 0,
              "tensors whose places meet are cut by different mesh dims, some of them the same");
    }
  }
}

}  // namespace onedim::api
