#include "core/layout/layout.hpp"

#include <numeric>

namespace onedim {
namespace {

Dims left_to_right(int mesh_ndim) {
  Dims dims(mesh_ndim);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

}  // namespace

Layout Layout::replicated(int mesh_ndim) {
  Layout layout;
  layout.placements.resize(mesh_ndim);
  return layout;
}

Dims Layout::cutting_order() const {
  return order.empty() ? left_to_right(static_cast<int>(placements.size())) : order;
}

Dims Layout::shard_order(int tensor_dim) const {
  Dims dims;
  for (int64_t mesh_dim : cutting_order()) {
    const Placement& placement = placements[mesh_dim];
    if (placement.is_shard() && placement.dim == tensor_dim) dims.push_back(mesh_dim);
  }
  return dims;
}

void Layout::set_shard_order(int tensor_dim, const Dims& mesh_dims) {
  const Dims identity = left_to_right(static_cast<int>(placements.size()));
  Dims result = cutting_order();
  size_t next = 0;
  // The mesh dims of one tensor dim permute among their own places, which makes the stored order
  // unique.
  for (size_t place = 0; place < placements.size(); ++place) {
    const Placement& placement = placements[place];
    if (placement.is_shard() && placement.dim == tensor_dim) result[place] = mesh_dims[next++];
  }
  order = result == identity ? Dims() : std::move(result);
}

namespace {

// With R instead of each shard for which `is_unit(mesh_dim, tensor_dim)`.
template <typename IsUnit>
Layout drop_shards(const Layout& layout, IsUnit is_unit) {
  Layout result;
  result.placements = layout.placements;
  for (size_t mesh_dim = 0; mesh_dim < result.placements.size(); ++mesh_dim) {
    Placement& placement = result.placements[mesh_dim];
    if (placement.is_shard() && is_unit(static_cast<int>(mesh_dim), placement.dim))
      placement = Placement::replicate();
  }
  if (layout.order.empty()) return result;
  for (const Placement& placement : result.placements) {
    if (!placement.is_shard()) continue;
    Dims kept;
    for (int64_t mesh_dim : layout.shard_order(placement.dim)) {
      if (result.placements[mesh_dim].is_shard()) kept.push_back(mesh_dim);
    }
    result.set_shard_order(placement.dim, kept);
  }
  return result;
}

}  // namespace

Layout drop_unit_mesh_dims(const Layout& layout, const Mesh& mesh) {
  return drop_shards(layout, [&](int mesh_dim, int) { return mesh.size(mesh_dim) == 1; });
}

Layout drop_unit_dims(const Layout& layout, const Mesh& mesh, std::span<const int64_t> shape) {
  return drop_shards(layout, [&](int mesh_dim, int tensor_dim) {
    return mesh.size(mesh_dim) == 1 || shape[static_cast<size_t>(tensor_dim)] == 1;
  });
}

}  // namespace onedim
