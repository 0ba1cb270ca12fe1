#include "core/layout/index_map.hpp"

#include <algorithm>

namespace onedim {
namespace {

int64_t divide_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Piece `index` of `length` cut by the chunk rule into `parts`.
Interval chunk(int64_t length, int64_t parts, int64_t index) {
  const int64_t size = divide_up(length, parts);
  return {std::min(index * size, length), std::min((index + 1) * size, length)};
}

// The local indices, in order, that rank `index` keeps of `length`.
Intervals kept_indices(int64_t length, const Cut& cut, int64_t index) {
  Intervals kept;
  if (cut.split_factor == 1) {
    kept.push_back(chunk(length, cut.parts, index));
    return kept;
  }
  const int64_t stride = divide_up(length, cut.split_factor);
  for (int64_t begin = 0; begin < length; begin += stride) {
    const Interval piece = chunk(std::min(stride, length - begin), cut.parts, index);
    kept.push_back({begin + piece.begin, begin + piece.end});
  }
  return kept;
}

void append(Intervals& intervals, Interval interval) {
  if (interval.begin >= interval.end) return;
  if (!intervals.empty() && intervals.back().end == interval.begin) {
    intervals.back().end = interval.end;
  } else {
    intervals.push_back(interval);
  }
}

// The global intervals behind the local ones `kept`; both lists run in local order, so one pass
// does.
Intervals compose(const Intervals& owned, const Intervals& kept) {
  Intervals result;
  size_t source = 0;
  int64_t source_begin = 0;  // local index where owned[source] begins
  for (Interval local : kept) {
    while (local.begin < local.end) {
      const int64_t length = owned[source].end - owned[source].begin;
      if (local.begin >= source_begin + length) {
        source_begin += length;
        ++source;
        continue;
      }
      const int64_t end = std::min(local.end, source_begin + length);
      const int64_t shift = owned[source].begin - source_begin;
      append(result, {local.begin + shift, end + shift});
      local.begin = end;
    }
  }
  return result;
}

// The different local lengths of `tensor_dim` over all ranks.
CutLengths local_lengths(int64_t global_length, int tensor_dim, const Layout& layout,
                         const Mesh& mesh) {
  CutLengths lengths(global_length);
  for (int64_t mesh_dim : layout.shard_order(tensor_dim)) {
    lengths.cut(cut_of(layout.placements[mesh_dim], mesh.size(static_cast<int>(mesh_dim))));
  }
  return lengths;
}

}  // namespace

int64_t length_of(const Intervals& intervals) {
  int64_t length = 0;
  for (const Interval& interval : intervals) length += interval.end - interval.begin;
  return length;
}

Intervals cut_intervals(const Intervals& owned, const Cut& cut, int64_t index) {
  return compose(owned, kept_indices(length_of(owned), cut, index));
}

Dims IndexMap::local_shape() const {
  Dims shape;
  for (const Intervals& intervals : dims) shape.push_back(length_of(intervals));
  return shape;
}

Dims IndexMap::offset(std::span<const int64_t> global_shape) const {
  Dims offset(global_shape.begin(), global_shape.end());
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (!dims[dim].empty()) offset[dim] = dims[dim].front().begin;
  }
  return offset;
}

int64_t IndexMap::global_index(int dim, int64_t local) const {
  for (const Interval& interval : dims[dim]) {
    const int64_t length = interval.end - interval.begin;
    if (local < length) return interval.begin + local;
    local -= length;
  }
  return -1;
}

IndexMap index_map(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh,
                   const Dims& coordinate) {
  IndexMap map;
  map.dims.resize(shape.size());
  for (size_t dim = 0; dim < shape.size(); ++dim) append(map.dims[dim], {0, shape[dim]});
  const bool is_ordered = !layout.order.empty();
  for (int place = 0; place < mesh.ndim(); ++place) {
    const int mesh_dim = is_ordered ? static_cast<int>(layout.order[place]) : place;
    const Placement& placement = layout.placements[mesh_dim];
    if (!placement.is_shard() || mesh.size(mesh_dim) == 1) continue;
    Intervals& owned = map.dims[placement.dim];
    owned = cut_intervals(owned, cut_of(placement, mesh.size(mesh_dim)), coordinate[mesh_dim]);
  }
  return map;
}

bool is_even(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (local_lengths(shape[dim], static_cast<int>(dim), layout, mesh).lengths().size() > 1)
      return false;
  }
  return true;
}

bool has_empty_shard(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh) {
  for (int64_t size : shape) {
    if (size == 0) return false;
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const CutLengths cut = local_lengths(shape[dim], static_cast<int>(dim), layout, mesh);
    if (std::find(cut.lengths().begin(), cut.lengths().end(), 0) != cut.lengths().end())
      return true;
  }
  return false;
}

}  // namespace onedim
