#pragma once
// On a mesh of several dims, each with its own rule, two tensors that meet on a dim of J must be
// cut there by the same mesh dims, or by none in common. Else it depends on the order of the cuts,
// which a rank is not told, whether their shards meet:
//
//   a: S(0) | S(0), S(0), S(0)   b: S(0) | S(0), R, S(0)      self and src [4], index [4], 2 x 2
//   cut by a then b, rank (1,0) holds src [2], index [2,3]; cut by b then a, src [1], index [2,3]

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
