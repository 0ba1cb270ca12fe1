#pragma once
// Tensors that meet on a dim of J are cut there by the same mesh dims, or by none in common
// (onedim/meeting_cuts.hpp).

#include <onedim/meeting_cuts.hpp>

#include "index_space.hpp"

namespace indexing {

struct PartDim {
  Part part;
  int dim;
};
// Throws where shards of dims that meet may miss each other.
void accept_meeting(const Call& call, const std::vector<PartDim>& dims);
// The same for all dims that meet in an index space.
void accept_shards(const Call& call, const IndexSpace& space);

}  // namespace indexing
