#include "core/layout/partition.hpp"

#include <algorithm>

#include "core/layout/layout_check.hpp"

namespace onedim {
namespace {

// Calls `body(global_offset, local_offset, sizes)`, offsets in elements, for each box of intervals
// of `map`. The boxes are disjoint and cover the local tensor.
template <typename Body>
void for_each_box(const IndexMap& map, const Dims& global_strides, const Dims& local_strides,
                  Body&& body) {
  const size_t ndim = map.dims.size();
  for (const Intervals& intervals : map.dims) {
    if (intervals.empty()) return;
  }
  Dims chosen(ndim, 0), local_begins(ndim, 0), sizes(ndim);
  while (true) {
    int64_t global_offset = 0, local_offset = 0;
    for (size_t dim = 0; dim < ndim; ++dim) {
      const Interval& interval = map.dims[dim][chosen[dim]];
      sizes[dim] = interval.end - interval.begin;
      global_offset += interval.begin * global_strides[dim];
      local_offset += local_begins[dim] * local_strides[dim];
    }
    body(global_offset, local_offset, sizes);
    size_t dim = ndim;
    while (dim-- > 0) {
      local_begins[dim] += sizes[dim];
      if (++chosen[dim] < static_cast<int64_t>(map.dims[dim].size())) break;
      chosen[dim] = local_begins[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1)) return;
  }
}

// Whether `layout` can place a tensor of `meta` on `mesh` with real data.
Status check_layout(const TensorMeta& meta, const Layout& layout, const Mesh& mesh) {
  if (const Status status = check_placements(meta, layout, mesh); !status.ok()) return status;
  for (const Placement& placement : layout.placements) {
    if (!placement.is_partial() || is_builtin_partial(placement.partial)) continue;
    return invalid_argument("{}", no_builtin_partial(placement, meta.dtype));
  }
  return {};
}

// The kind whose identity the rank at `coordinate` takes in a split, or "" if it keeps its value.
std::string_view identity_kind(const Layout& layout, const Dims& coordinate) {
  for (size_t mesh_dim = 0; mesh_dim < coordinate.size(); ++mesh_dim) {
    const Placement& placement = layout.placements[mesh_dim];
    const bool splits = placement.is_partial("sum") || placement.is_partial("product");
    if (splits && coordinate[mesh_dim] != 0) return placement.partial;
  }
  return {};
}

Status check_local(const Tensor& local, const TensorMeta& expected, const Mesh& mesh,
                   const Dims& coordinate) {
  if (local.dtype() == expected.dtype && local.shape() == expected.shape) return {};
  return invalid_argument(
      "the local tensor at coordinate {} of the mesh {} is {}, expected {} by its layout",
      format_dims(coordinate), mesh.format(), format_meta(local.meta()), format_meta(expected));
}

// The partials of a layout, ready to reduce the ranks of one group.
struct PartialGroup {
  std::string_view kind;  // "" without partials
  int64_t divisor = 1;    // product of the mesh dims that average
  std::vector<int> mesh_dims;
};

PartialGroup partial_group(const Layout& layout, const Mesh& mesh) {
  PartialGroup group;
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const Placement& placement = layout.placements[mesh_dim];
    if (!placement.is_partial()) continue;
    group.kind = placement.partial;
    group.mesh_dims.push_back(mesh_dim);
    if (placement.is_partial("avg")) group.divisor *= mesh.size(mesh_dim);
  }
  return group;
}

Tensor reduce_group(std::span<const Tensor> locals, const PartialGroup& group) {
  if (group.kind == "sum" || group.kind == "avg") return average_elements(locals, group.divisor);
  return reduce_elements(locals, group.kind);
}

// The ranks that differ from `coordinate` only in the partial mesh dims, in rank order.
std::vector<Tensor> group_members(std::span<const Tensor> locals, const PartialGroup& group,
                                  const Mesh& mesh, Dims coordinate) {
  std::vector<Tensor> members;
  while (true) {
    members.push_back(locals[mesh.rank_of(coordinate)]);
    size_t place = group.mesh_dims.size();
    while (place-- > 0) {
      const int mesh_dim = group.mesh_dims[place];
      if (++coordinate[mesh_dim] < mesh.size(mesh_dim)) break;
      coordinate[mesh_dim] = 0;
    }
    if (place == static_cast<size_t>(-1)) return members;
  }
}

// Whether the rank is the one whose data stands for its replicas and its partial group.
bool is_representative(const Layout& layout, const Dims& coordinate) {
  for (size_t mesh_dim = 0; mesh_dim < coordinate.size(); ++mesh_dim) {
    if (!layout.placements[mesh_dim].is_shard() && coordinate[mesh_dim] != 0) return false;
  }
  return true;
}

}  // namespace

Tensor gather_elements(const Tensor& global, const IndexMap& map) {
  Tensor local = Tensor::uninitialized(TensorMeta::contiguous(global.dtype(), map.local_shape()));
  const int64_t size = size_of(global.dtype());
  for_each_box(map, global.strides(), local.strides(),
               [&](int64_t from, int64_t to, const Dims& sizes) {
                 copy_box(global.data() + from * size, global.strides(), local.data() + to * size,
                          local.strides(), sizes, size);
               });
  return local;
}

void scatter_elements(const Tensor& local, const IndexMap& map, Tensor& global) {
  const int64_t size = size_of(global.dtype());
  for_each_box(map, global.strides(), local.strides(),
               [&](int64_t to, int64_t from, const Dims& sizes) {
                 copy_box(local.data() + from * size, local.strides(), global.data() + to * size,
                          global.strides(), sizes, size);
               });
}

Result<std::vector<Tensor>> split(const Tensor& global, const Layout& layout, const Mesh& mesh) {
  if (const Status status = check_layout(global.meta(), layout, mesh); !status.ok()) return status;
  if (const Status status = check_allocatable(global.meta()); !status.ok()) return status;
  std::vector<Tensor> locals;
  locals.reserve(static_cast<size_t>(mesh.rank_count()));
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    const IndexMap map = index_map(global.shape(), layout, mesh, coordinate);
    const std::string_view kind = identity_kind(layout, coordinate);
    if (kind.empty()) {
      locals.push_back(gather_elements(global, map));
    } else {
      locals.push_back(
          identity_tensor(TensorMeta::contiguous(global.dtype(), map.local_shape()), kind));
    }
  }
  return locals;
}

Result<Tensor> join(std::span<const Tensor> locals, std::span<const int64_t> shape,
                    const Layout& layout, const Mesh& mesh) {
  if (locals.empty() || static_cast<int64_t>(locals.size()) != mesh.rank_count()) {
    return invalid_argument("{} local tensors for the mesh {}, expected one for each of {} ranks",
                            locals.size(), mesh.format(), mesh.rank_count());
  }
  const TensorMeta meta =
      TensorMeta::contiguous(locals[0].dtype(), Dims(shape.begin(), shape.end()));
  if (const Status status = check_layout(meta, layout, mesh); !status.ok()) return status;
  if (const Status status = check_allocatable(meta); !status.ok()) return status;
  const PartialGroup group = partial_group(layout, mesh);
  Tensor global = Tensor::uninitialized(meta);
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    const IndexMap map = index_map(shape, layout, mesh, coordinate);
    const TensorMeta expected = TensorMeta::contiguous(meta.dtype, map.local_shape());
    if (const Status status = check_local(locals[rank], expected, mesh, coordinate); !status.ok())
      return status;
  }
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    if (!is_representative(layout, coordinate)) continue;
    const IndexMap map = index_map(shape, layout, mesh, coordinate);
    if (group.mesh_dims.empty()) {
      scatter_elements(locals[rank], map, global);
    } else {
      scatter_elements(reduce_group(group_members(locals, group, mesh, coordinate), group), map,
                       global);
    }
  }
  return global;
}

}  // namespace onedim
