#pragma once
// Layout: a tensor's placements, one per mesh dim, and the order in which mesh dims cut. By default they cut
// left to right; `S(0)[b,a],S(0)` lets mesh dim b cut tensor dim 0 before a does. The order is only stored
// where it differs from left to right, so equal layouts compare equal.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/dims.hpp"
#include "core/layout/mesh.hpp"
#include "core/layout/placement.hpp"

namespace onedim {

struct Layout {
  std::vector<Placement> placements;  // one per mesh dim
  Dims order;                         // permutation of the mesh dims in cutting order; empty: left to right

  static Layout replicated(int mesh_ndim);
  // The mesh dims that shard `tensor_dim`, in cutting order.
  Dims shard_order(int tensor_dim) const;
  bool operator==(const Layout&) const = default;
};

// `S(0),R`; orders name mesh dims of `mesh`.
std::string format_layout(const Layout& layout, const Mesh& mesh);
// Orders may use mesh dim names or indices. Shard dims must be below `ndim`; the number of placements must be
// the mesh's; partial kinds may not mix but sum with avg.
Result<Layout> parse_layout(std::string_view text, const Mesh& mesh, int ndim);

}  // namespace onedim
