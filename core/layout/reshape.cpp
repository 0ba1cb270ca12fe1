#include "core/layout/reshape.hpp"

#include <algorithm>

namespace onedim {
namespace {

constexpr size_t kMostPieces = size_t{1} << 20;

// Dims [from_first, from_last) and [to_first, to_last) hold the same elements, as few as possible.
struct DimGroup {
  size_t from_first = 0, from_last = 0, to_first = 0, to_last = 0;
};

std::vector<DimGroup> group_dims(const Dims& from, const Dims& to) {
  if (volume(from) == 0) return {{0, from.size(), 0, to.size()}};
  std::vector<DimGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    DimGroup group{i, i, j, j};
    int64_t left = i < from.size() ? from[i++] : 1, right = j < to.size() ? to[j++] : 1;
    while (left != right) {
      if (left < right) {
        left *= from[i++];
      } else {
        right *= to[j++];
      }
    }
    group.from_last = i;
    group.to_last = j;
    groups.push_back(group);
  }
  return groups;
}

// What a rank owns of dims [first, last), as intervals of their row-major index; false if these are
// too many.
bool flatten(const Dims& shape, const IndexMap& map, size_t first, size_t last,
             std::vector<Interval>& pieces) {
  pieces = {{0, 1}};
  int64_t inner = 1;
  for (size_t dim = last; dim-- > first;) {
    std::vector<Interval> next;
    const auto append = [&](int64_t begin, int64_t end) {
      if (begin == end) return true;
      if (!next.empty() && next.back().end == begin) {
        next.back().end = end;
      } else {
        next.push_back({begin, end});
      }
      return next.size() <= kMostPieces;
    };
    const bool has_all_within = pieces.size() == 1 && pieces[0] == Interval{0, inner};
    for (const Interval& owned : map.dims[dim]) {
      if (has_all_within) {
        if (!append(owned.begin * inner, owned.end * inner)) return false;
        continue;
      }
      for (int64_t index = owned.begin; index < owned.end; ++index) {
        for (const Interval& piece : pieces) {
          if (!append(index * inner + piece.begin, index * inner + piece.end)) return false;
        }
      }
    }
    pieces = std::move(next);
    inner *= shape[dim];
  }
  return true;
}

class GroupReshape {
 public:
  GroupReshape(const Dims& from, const Layout& layout, const Dims& to, const Mesh& mesh,
               const DimGroup& group)
      : from_(from), layout_(layout), to_(to), mesh_(mesh), group_(group) {
    for (const int64_t mesh_dim : layout.cutting_order()) {
      const Placement& placement = layout.placements[mesh_dim];
      const auto dim = static_cast<size_t>(placement.dim);
      if (placement.is_shard() && dim >= group.from_first && dim < group.from_last)
        cutters_.push_back(static_cast<int>(mesh_dim));
    }
  }

  // Places the group's mesh dims in `result`, whose other mesh dims stay.
  Status place(Layout& result) {
    result_ = &result;
    if (try_next(0, from_, to_)) return {};
    std::string names;
    for (const int mesh_dim : cutters_)
      names += fmt::format("{}{} over mesh dim {}", names.empty() ? "" : ", ",
                           format_placement(layout_.placements[mesh_dim]), mesh_.name(mesh_dim));
    if (is_too_large_) {
      return unimplemented(
          "{} of {} as {}: ranks own more than {} pieces of memory, which are not compared", names,
          format_dims(from_), format_dims(to_), kMostPieces);
    }
    return invalid_argument(
        "{} of {} as {} is no layout: ranks would own elements that no shard, strided or not, "
        "gives",
        names, format_dims(from_), format_dims(to_));
  }

 private:
  // Where the `at`-th mesh dim may cut, given the local lengths that the ones before left.
  bool try_next(size_t at, Dims from, Dims to) {
    if (at == cutters_.size()) return is_right();
    const int mesh_dim = cutters_[at];
    const Placement& placement = layout_.placements[mesh_dim];
    const int64_t parts = mesh_.size(mesh_dim);
    const auto cut = [&](int64_t length) { return (length + parts - 1) / parts; };
    // A cut of a dim is a strided cut of what is flattened, once for each index of the dims
    // outside.
    const int64_t length = from[placement.dim];
    const int64_t chunks =
        placement.kind == Placement::Kind::kStridedShard ? placement.split_factor : 1;
    const int64_t chunk = std::max<int64_t>(1, (length + chunks - 1) / chunks);
    int64_t before = length % chunk == 0 ? std::max<int64_t>(1, length / chunk) : chunks;
    for (size_t dim = group_.from_first; dim < static_cast<size_t>(placement.dim); ++dim)
      before *= from[dim];
    from[placement.dim] = cut(length);
    int64_t outside = 1;
    for (size_t dim = group_.to_first; dim < group_.to_last; outside *= to[dim++]) {
      Dims next = to;
      next[dim] = cut(next[dim]);
      if (outside != 0 && before % outside == 0 && try_cut(at, dim, before / outside, from, next))
        return true;
      // Chunks of one element leave all to the first rank.
      if (chunk == 1 && try_cut(at, dim, std::max<int64_t>(1, to[dim]), from, next)) return true;
    }
    return false;
  }

  bool try_cut(size_t at, size_t dim, int64_t factor, const Dims& from, const Dims& to) {
    result_->placements[cutters_[at]] =
        factor == 1 ? Placement::shard(static_cast<int>(dim))
                    : Placement::strided_shard(static_cast<int>(dim), factor);
    return try_next(at + 1, from, to);
  }

  // Every rank, of those that differ in this group's mesh dims alone.
  bool is_right() {
    Layout candidate = *result_;
    Dims order = layout_.cutting_order();
    for (size_t dim = group_.to_first; dim < group_.to_last; ++dim) {
      Dims cuts;
      for (const int64_t mesh_dim : order) {
        const Placement& placement = candidate.placements[mesh_dim];
        if (placement.is_shard() && placement.dim == static_cast<int>(dim))
          cuts.push_back(mesh_dim);
      }
      if (cuts.size() > 1) candidate.set_shard_order(static_cast<int>(dim), cuts);
    }
    Dims coordinate(mesh_.ndim(), 0);
    size_t pieces = 0;
    while (true) {
      std::vector<Interval> before, after;
      const bool fits = flatten(from_, index_map(from_, layout_, mesh_, coordinate),
                                group_.from_first, group_.from_last, before) &&
                        flatten(to_, index_map(to_, candidate, mesh_, coordinate), group_.to_first,
                                group_.to_last, after);
      pieces += before.size();
      if (!fits || pieces > kMostPieces) {
        is_too_large_ = true;
        return false;
      }
      if (before != after) return false;
      size_t at = cutters_.size();
      while (at-- > 0) {
        if (++coordinate[cutters_[at]] < mesh_.size(cutters_[at])) break;
        coordinate[cutters_[at]] = 0;
      }
      if (at == static_cast<size_t>(-1)) break;
    }
    *result_ = std::move(candidate);
    return true;
  }

  const Dims& from_;
  const Layout& layout_;
  const Dims& to_;
  const Mesh& mesh_;
  const DimGroup& group_;
  std::vector<int> cutters_;
  Layout* result_ = nullptr;
  bool is_too_large_ = false;
};

}  // namespace

Result<Layout> reshaped_layout(const Dims& from, const Layout& layout, const Dims& to,
                               const Mesh& mesh) {
  if (checked_volume(from) < 0 || checked_volume(to) != checked_volume(from)) {
    return invalid_argument("{} cannot be reshaped to {}: they differ in their number of elements",
                            format_dims(from), format_dims(to));
  }
  Layout result = Layout::replicated(mesh.ndim());
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    if (!layout.placements[mesh_dim].is_shard())
      result.placements[mesh_dim] = layout.placements[mesh_dim];
  }
  const Layout source = drop_unit_mesh_dims(layout, mesh);
  for (const DimGroup& group : group_dims(from, to)) {
    if (Status status = GroupReshape(from, source, to, mesh, group).place(result); !status.ok())
      return status;
  }
  return result;
}

}  // namespace onedim
