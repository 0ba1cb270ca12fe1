#include "acceptance.hpp"

namespace indexing {
void accept_meeting(const Call& call, const std::vector<PartDim>& dims) {
  std::vector<TensorDim> meeting;
  for (const PartDim& at : dims) meeting.push_back({at.part.is_output, at.part.slot, at.dim});
  accept_meeting_cuts(call, meeting);
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
