#pragma once
// Layout: a tensor's placements, one per mesh dim, and the order in which mesh dims cut. By default
// they cut left to right; `S(0)[b,a],S(0)` lets mesh dim b cut tensor dim 0 before a does. The
// order is only stored where it differs from left to right, so equal layouts compare equal.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dims.hpp"
#include "core/layout/mesh.hpp"
#include "core/layout/placement.hpp"

namespace onedim {

struct Layout {
  std::vector<Placement> placements;  // one per mesh dim
  Dims order;  // permutation of the mesh dims in cutting order; empty: left to right

  static Layout replicated(int mesh_ndim);
  // All mesh dims in cutting order.
  Dims cutting_order() const;
  // The mesh dims that shard `tensor_dim`, in cutting order.
  Dims shard_order(int tensor_dim) const;
  // `mesh_dims` is a permutation of shard_order(tensor_dim); `order` stays the unique one for equal
  // layouts.
  void set_shard_order(int tensor_dim, const Dims& mesh_dims);
  bool operator==(const Layout&) const = default;
};

// The same layout with R where a mesh dim of size 1 is sharded.
Layout drop_unit_mesh_dims(const Layout& layout, const Mesh& mesh);
// And where a tensor dim of size 1 is: every rank holds it whole, so S is R there.
Layout drop_unit_dims(const Layout& layout, const Mesh& mesh, std::span<const int64_t> shape);

// `S(0),R`; orders name mesh dims of `mesh`. A shard over a mesh dim of size 1 is printed as R.
std::string format_layout(const Layout& layout, const Mesh& mesh);
// Orders may use mesh dim names or indices; `S(0)[b,a]` alone stands for both mesh dims. Shard dims
// must be below `ndim`; the number of placements must be the mesh's; partial kinds may not mix but
// sum with avg.
Result<Layout> parse_layout(std::string_view text, const Mesh& mesh, int ndim);

}  // namespace onedim
