#pragma once
// Sets of the mesh dims of a code, as bits: their members, subsets and ranks.

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "core/cost/collective.hpp"
#include "core/layout/mesh.hpp"

namespace onedim {

inline int lowest(uint32_t dims) { return std::countr_zero(dims); }

// The last one first, non-empty ones only.
template <typename Body>
void for_each_subset(uint32_t dims, Body&& body) {
  for (uint32_t subset = dims; subset != 0; subset = (subset - 1) & dims) body(subset);
}

// The same, and the empty one at the end.
template <typename Body>
void for_each_subset_or_none(uint32_t dims, Body&& body) {
  for_each_subset(dims, body);
  body(uint32_t{0});
}

// What the sets of up to eight mesh dims are on their mesh.
class DimSetTable {
 public:
  // Bit i of a set is `mesh_dims[i]` of the mesh.
  void start(const Mesh& mesh, std::span<const int> mesh_dims) {
    ranks_[0] = 1;
    on_mesh_[0] = 0;
    for (uint32_t dims = 1; dims < uint32_t{1} << mesh_dims.size(); ++dims) {
      const int mesh_dim = mesh_dims[static_cast<size_t>(lowest(dims))];
      ranks_[dims] = ranks_[dims & (dims - 1)] * mesh.size(mesh_dim);
      on_mesh_[dims] = on_mesh_[dims & (dims - 1)] | MeshDimSet{1} << mesh_dim;
    }
  }
  int64_t ranks(uint32_t dims) const { return ranks_[dims]; }
  MeshDimSet on_mesh(uint32_t dims) const { return on_mesh_[dims]; }

 private:
  std::array<int64_t, 256> ranks_{};
  std::array<MeshDimSet, 256> on_mesh_{};
};

}  // namespace onedim
