#include "acceptance.hpp"

namespace indexing {
namespace {

// One bit for each mesh dim that cuts it.
uint64_t cutting_mesh_dims(const onedim_location_t& at, const PartDim& cut) {
  uint64_t set = 0;
  const Placement* placements =
      (cut.part.is_output ? at.outputs : at.inputs)[cut.part.slot].placements;
  for (int mesh_dim = 0; mesh_dim < at.mesh_ndim; ++mesh_dim) {
    const Placement& placement = placements[mesh_dim];
    const bool is_shard = placement.kind == ONEDIM_PLACEMENT_SHARD ||
                          placement.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
    if (is_shard && placement.dim == cut.dim && at.mesh_shape[mesh_dim] > 1)
      set |= uint64_t{1} << mesh_dim;
  }
  return set;
}

}  // namespace

void accept_meeting(const Call& call, const std::vector<PartDim>& dims) {
  const onedim_location_t* at = call.location();
  if (at == nullptr || at->mesh_ndim < 2) return;
  for (const PartDim& a : dims) {
    for (const PartDim& b : dims) {
      const uint64_t by_a = cutting_mesh_dims(*at, a), by_b = cutting_mesh_dims(*at, b);
      require(by_a == by_b || (by_a & by_b) == 0,
              "tensors that are indexed together are cut by different mesh dims, some of them the "
              "same");
    }
  }
}

void accept_shards(const Call& call, const IndexSpace& space) {
  for (size_t dim = 0; dim < space.sizes.size(); ++dim) {
    std::vector<PartDim> meeting;
    for (const IndexPart& index : space.indices) {
      if (index.runs_over(dim) && !index.is_mask) meeting.push_back({index, index.dims[dim]});
    }
    if (space.items.runs_over(dim)) meeting.push_back({space.items, space.items.dims[dim]});
    const Coordinate* own = space.along(dim);
    if (own != nullptr && own->dim >= 0) meeting.push_back({space.table, own->dim});
    accept_meeting(call, meeting);
  }
  for (const Coordinate& coordinate : space.coordinates) {
    if (coordinate.index < 0) continue;
    const IndexPart& index = space.indices[static_cast<size_t>(coordinate.index)];
    if (index.is_mask)
      accept_meeting(call, {{index, coordinate.mask_dim}, {space.table, coordinate.dim}});
  }
}

}  // namespace indexing
