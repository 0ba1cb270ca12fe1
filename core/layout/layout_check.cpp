#include "core/layout/layout_check.hpp"

#include <algorithm>

namespace onedim {
namespace {

Status check_shard(const TensorMeta& meta, const Placement& placement) {
  if (placement.dim < 0 || placement.dim >= static_cast<int>(meta.shape.size())) {
    return invalid_argument("{} shards a dim that the tensor {} does not have",
                            format_placement(placement), format_meta(meta));
  }
  if (placement.kind == Placement::Kind::kStridedShard && placement.split_factor < 1) {
    return invalid_argument("{} has a split factor below 1", format_placement(placement));
  }
  return {};
}

// A permutation of the mesh dims, or none.
Status check_order(const Layout& layout) {
  Dims sorted = layout.order;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.empty() || sorted.size() == layout.placements.size();
  for (size_t i = 0; i < sorted.size(); ++i)
    is_permutation = is_permutation && sorted[i] == static_cast<int64_t>(i);
  if (is_permutation) return {};
  return invalid_argument("the cutting order {} of a layout is no permutation of its {} mesh dims",
                          format_dims(layout.order), layout.placements.size());
}

}  // namespace

Status check_placements(const TensorMeta& meta, const Layout& layout, const Mesh& mesh) {
  if (layout.placements.size() != static_cast<size_t>(mesh.ndim())) {
    return invalid_argument(
        "a layout needs one placement for each dim of the mesh {} ({}), but has {}", mesh.format(),
        mesh.ndim(), layout.placements.size());
  }
  if (const Status status = check_order(layout); !status.ok()) return status;
  const Placement* first_partial = nullptr;
  for (const Placement& placement : layout.placements) {
    if (placement.is_none() || placement.kind == Placement::Kind::kAnyShard) {
      return invalid_argument("{} does not place a tensor {}, expected R, S, SS or P",
                              format_placement(placement), format_meta(meta));
    }
    if (placement.is_shard()) {
      if (const Status status = check_shard(meta, placement); !status.ok()) return status;
    }
    if (!placement.is_partial()) continue;
    if (!is_legal_partial(placement.partial, meta.dtype)) {
      return invalid_argument("{}", no_builtin_partial(placement, meta.dtype));
    }
    if (first_partial == nullptr) first_partial = &placement;
    if (!can_stand_together(*first_partial, placement)) {
      return invalid_argument("{} stands beside {}, only sum and avg may mix",
                              format_placement(placement), format_placement(*first_partial));
    }
  }
  return {};
}

}  // namespace onedim
