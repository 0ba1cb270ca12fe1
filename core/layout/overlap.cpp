#include "core/layout/overlap.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace onedim {
namespace {

int64_t shared_length(const Intervals& a, const Intervals& b) {
  int64_t length = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    length += std::max<int64_t>(0, std::min(a[i].end, b[j].end) - std::max(a[i].begin, b[j].begin));
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return length;
}

bool is_plain(std::span<const MeshCut> cuts) {
  return std::all_of(cuts.begin(), cuts.end(),
                     [](const MeshCut& cut) { return cut.cut.split_factor == 1; });
}

Interval plain_interval(int64_t length, std::span<const MeshCut> cuts, const int64_t* coordinate) {
  Interval owned{0, length};
  for (const MeshCut& cut : cuts) {
    const int64_t rest = owned.end - owned.begin;
    const int64_t size = rest / cut.cut.parts + (rest % cut.cut.parts != 0);
    const int64_t begin = owned.begin + std::min(rest, coordinate[cut.mesh_dim] * size);
    owned = {begin, std::min(owned.end, begin + size)};
  }
  return owned;
}

Intervals strided_intervals(int64_t length, std::span<const MeshCut> cuts,
                            const int64_t* coordinate) {
  Intervals owned;
  if (length > 0) owned.push_back({0, length});
  for (const MeshCut& cut : cuts) owned = cut_intervals(owned, cut.cut, coordinate[cut.mesh_dim]);
  return owned;
}

// The cuts of one tensor dim that differ, behind those that both layouts begin with.
struct MovingDim {
  std::span<const MeshCut> from;
  std::span<const MeshCut> to;
  size_t common = 0;
  bool plain = true;
};

struct MovedLength {
  int64_t wanted = 0;
  int64_t kept = 0;
};

MovedLength moved_length(int64_t length, const MovingDim& dim, const int64_t* coordinate) {
  if (dim.plain) {
    const Interval from = plain_interval(length, dim.from, coordinate);
    const Interval to = plain_interval(length, dim.to, coordinate);
    return {to.end - to.begin,
            std::max<int64_t>(0, std::min(from.end, to.end) - std::max(from.begin, to.begin))};
  }
  const Intervals from = strided_intervals(length, dim.from, coordinate);
  const Intervals to = strided_intervals(length, dim.to, coordinate);
  return {length_of(to), shared_length(from, to)};
}

class Walk {
 public:
  Walk(std::span<const GroupMember> group, const TensorCuts& from, const TensorCuts& to)
      : group_(group) {
    for (size_t dim = 0; dim < from.size(); ++dim) {
      MovingDim moving;
      // Tensors of a group see the same ranks, so their common cuts are walked with the others.
      if (group.size() == 1) {
        while (moving.common < std::min(from[dim].size(), to[dim].size()) &&
               from[dim][moving.common] == to[dim][moving.common]) {
          ++moving.common;
        }
      }
      moving.from = std::span(from[dim]).subspan(moving.common);
      moving.to = std::span(to[dim]).subspan(moving.common);
      moving.plain = is_plain(moving.from) && is_plain(moving.to);
      add_mesh_dims(moving.from);
      add_mesh_dims(moving.to);
      dims_.push_back(moving);
    }
    for (const GroupMember& member : group) {
      units_.push_back(member.element_size * volume(member.shape.subspan(from.size())));
      for (size_t dim = 0; dim < from.size(); ++dim) {
        CutLengths lengths(member.shape[dim]);
        for (size_t i = 0; i < dims_[dim].common; ++i) lengths.cut(to[dim][i].cut);
        regions_.push_back(lengths.lengths());
        for (const MeshCut& cut : dims_[dim].to) lengths.cut(cut.cut);
        longest_.push_back(lengths.longest());
      }
    }
  }

  int64_t rank_count() const {
    int64_t count = 1;
    for (const MeshDim& mesh_dim : mesh_dims_) count *= mesh_dim.parts;  // at most the mesh's
    return count;
  }

  // What the largest part under `to` has.
  int64_t most_wanted() const {
    int64_t bytes = 0;
    for (size_t member = 0; member < group_.size(); ++member) {
      int64_t count = units_[member];
      for (size_t dim = 0; dim < dims_.size(); ++dim)
        count *= longest_[member * dims_.size() + dim];
      bytes += count;
    }
    return bytes;
  }

  int64_t run() {
    const int64_t limit = most_wanted();
    std::array<int64_t, 32> coordinate{};
    int64_t most = 0;
    do {
      most = std::max(most, missing(coordinate.data()));
    } while (most < limit && next(coordinate));
    return most;
  }

 private:
  const Dims& region(size_t member, size_t dim) const {
    return regions_[member * dims_.size() + dim];
  }

  void add_mesh_dims(std::span<const MeshCut> cuts) {
    for (const MeshCut& cut : cuts) {
      const bool is_known =
          std::any_of(mesh_dims_.begin(), mesh_dims_.end(),
                      [&](const MeshDim& known) { return known.number == cut.mesh_dim; });
      if (!is_known) mesh_dims_.push_back({cut.mesh_dim, cut.cut.parts});
    }
  }

  bool next(std::array<int64_t, 32>& coordinate) const {
    for (const MeshDim& mesh_dim : mesh_dims_) {
      if (++coordinate[mesh_dim.number] < mesh_dim.parts) return true;
      coordinate[mesh_dim.number] = 0;
    }
    return false;
  }

  int64_t missing(const int64_t* coordinate) const {
    int64_t bytes = 0;
    for (size_t member = 0; member < group_.size(); ++member)
      bytes += missing_from(member, 0, coordinate, units_[member], units_[member]);
    return bytes;
  }

  // Over all lengths that the common cuts may leave: their coordinates are free of the others'.
  int64_t missing_from(size_t member, size_t dim, const int64_t* coordinate, int64_t wanted,
                       int64_t kept) const {
    while (dim < dims_.size() && dims_[dim].from.empty() && dims_[dim].to.empty()) {
      wanted *= region(member, dim).front();  // all of the longest
      kept *= region(member, dim).front();
      ++dim;
    }
    if (dim == dims_.size()) return wanted - kept;
    int64_t most = 0;
    for (int64_t length : region(member, dim)) {
      const MovedLength moved = moved_length(length, dims_[dim], coordinate);
      if (moved.wanted == 0) continue;
      most = std::max(most, missing_from(member, dim + 1, coordinate, wanted * moved.wanted,
                                         kept * moved.kept));
    }
    return most;
  }

  std::span<const GroupMember> group_;
  absl::InlinedVector<MovingDim, 4> dims_;
  absl::InlinedVector<int64_t, 2> units_;    // per member: bytes of one index of the dims above
  absl::InlinedVector<int64_t, 4> longest_;  // per member and tensor dim, under `to`
  std::vector<Dims> regions_;                // per member and tensor dim
  struct MeshDim {
    int number = 0;
    int64_t parts = 1;
  };
  absl::InlinedVector<MeshDim, 8> mesh_dims_;  // that move something
};

}  // namespace

TensorCuts cuts_of(const Layout& layout, const Mesh& mesh, int tensor_ndim) {
  TensorCuts cuts(tensor_ndim);
  for (int64_t mesh_dim : layout.cutting_order()) {
    const Placement& placement = layout.placements[mesh_dim];
    const int64_t parts = mesh.size(static_cast<int>(mesh_dim));
    if (!placement.is_shard() || parts == 1) continue;
    cuts[placement.dim].push_back({static_cast<int>(mesh_dim), cut_of(placement, parts)});
  }
  return cuts;
}

int64_t most_missing_bytes(std::span<const GroupMember> group, const TensorCuts& from,
                           const TensorCuts& to, int64_t most_ranks) {
  Walk walk(group, from, to);
  return walk.rank_count() > most_ranks ? walk.most_wanted() : walk.run();
}

bool is_same_placement(std::span<const int64_t> shape, const Layout& a, const Layout& b,
                       const Mesh& mesh) {
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const Placement &pa = a.placements[mesh_dim], &pb = b.placements[mesh_dim];
    if (mesh.size(mesh_dim) == 1 || (!pa.is_partial() && !pb.is_partial())) continue;
    if (pa != pb) return false;
  }
  const int ndim = static_cast<int>(shape.size());
  const TensorCuts cuts_a = cuts_of(a, mesh, ndim), cuts_b = cuts_of(b, mesh, ndim);
  const GroupMember member{shape, 1};
  const int64_t all = std::numeric_limits<int64_t>::max();
  return most_missing_bytes({&member, 1}, cuts_a, cuts_b, all) == 0 &&
         most_missing_bytes({&member, 1}, cuts_b, cuts_a, all) == 0;
}

}  // namespace onedim
