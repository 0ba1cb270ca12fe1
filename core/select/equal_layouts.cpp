#include "core/select/equal_layouts.hpp"

#include <algorithm>

#include "core/layout/overlap.hpp"

namespace onedim {
namespace {

// The tensor dim that a placement cuts, -1 if none: to cut a dim of no length leaves what R does.
int cut_dim(const Placement& placement, std::span<const int64_t> shape) {
  return placement.is_shard() && shape[placement.dim] != 0 ? placement.dim : -1;
}

// A layout with R for what cuts a dim of no length.
Layout drop_empty_cuts(const Layout& layout, const Mesh& mesh, std::span<const int64_t> shape) {
  Dims kept(shape.size(), 2);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) kept[dim] = 1;
  }
  return drop_unit_dims(layout, mesh, kept);
}

// Tries on each mesh dim what may stand there.
class EqualLayouts {
 public:
  EqualLayouts(std::span<const int64_t> shape, const Layout& layout,
               std::span<const Placement> placements, const Dims& order, const Mesh& mesh)
      : shape_(shape),
        layout_(layout),
        placements_(placements),
        order_(order),
        mesh_(mesh),
        now_(layout.placements),
        lengths_(shape.begin(), shape.end()),
        owned_(drop_empty_cuts(layout, mesh, shape)) {
    std::replace(lengths_.begin(), lengths_.end(), int64_t{0}, int64_t{1});
  }

  std::vector<Layout> find() {
    place_next(0);
    return std::move(found_);
  }

 private:
  void place_next(size_t mesh_dim) {
    if (mesh_dim == now_.size()) {
      Layout layout = layout_in_order(now_, order_);
      if (layout == layout_ ||
          is_same_placement(lengths_, drop_empty_cuts(layout, mesh_, shape_), owned_, mesh_))
        found_.push_back(std::move(layout));
      return;
    }
    if (mesh_.size(static_cast<int>(mesh_dim)) == 1) return place_next(mesh_dim + 1);
    for (const Placement& placement : placements_) {
      if (!may_stand_for(placement, layout_.placements[mesh_dim], shape_)) continue;
      now_[mesh_dim] = placement;
      place_next(mesh_dim + 1);
    }
  }

  std::span<const int64_t> shape_;
  const Layout& layout_;
  std::span<const Placement> placements_;
  const Dims& order_;
  const Mesh& mesh_;
  std::vector<Placement> now_;
  Dims lengths_;  // 1 where there are none
  Layout owned_;  // with R for what cuts none
  std::vector<Layout> found_;
};

}  // namespace

bool may_stand_for(const Placement& placement, const Placement& given,
                   std::span<const int64_t> shape) {
  if (placement == given) return true;
  const auto is_whole = [](const Placement& p) { return p.is_shard() || p.is_replicate(); };
  return is_whole(placement) && is_whole(given) &&
         cut_dim(placement, shape) == cut_dim(given, shape);
}

Layout layout_in_order(std::vector<Placement> placements, const Dims& order) {
  Layout layout{std::move(placements), {}};
  if (std::is_sorted(order.begin(), order.end())) return layout;
  int dims = 0;
  for (const Placement& placement : layout.placements) {
    if (placement.is_shard()) dims = std::max(dims, placement.dim + 1);
  }
  for (int dim = 0; dim < dims; ++dim) {
    Dims cuts;
    for (const int64_t mesh_dim : order) {
      const Placement& placement = layout.placements[mesh_dim];
      if (placement.is_shard() && placement.dim == dim) cuts.push_back(mesh_dim);
    }
    if (cuts.size() > 1) layout.set_shard_order(dim, cuts);
  }
  return layout;
}

std::vector<Layout> equal_layouts(std::span<const int64_t> shape, const Layout& layout,
                                  std::span<const Placement> placements, const Dims& order,
                                  const Mesh& mesh) {
  return EqualLayouts(shape, layout, placements, order, mesh).find();
}

}  // namespace onedim
