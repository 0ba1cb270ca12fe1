#pragma once
// IndexMap: which global indices a rank owns, the one truth from which local shape, offset, slice,
// gather and equality derive. Per tensor dim it is a list of intervals in local order. Chunk rule:
// length L over n ranks gives ceil(L/n) each, trailing ranks short or empty; mesh dims cut in the
// layout's order, each cutting what is left. A strided shard SS(d,sf) cuts in sf chunks (ceil),
// then each chunk in n (ceil). Partials and R own everything.

#include <span>
#include <vector>

#include "core/layout/cut_lengths.hpp"
#include "core/layout/layout.hpp"

namespace onedim {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const Interval&) const = default;
};

using Intervals = absl::InlinedVector<Interval, 2>;

int64_t length_of(const Intervals& intervals);
// What the rank at `index` of the cut keeps of `owned`; both in local order, which ascends.
Intervals cut_intervals(const Intervals& owned, const Cut& cut, int64_t index);

struct IndexMap {
  std::vector<Intervals> dims;  // one per tensor dim; an empty shard has no interval

  Dims local_shape() const;
  // First owned index per dim; the dim's global size where nothing is owned.
  Dims offset(std::span<const int64_t> global_shape) const;
  // Global index of local index `local` on `dim`.
  int64_t global_index(int dim, int64_t local) const;
  bool operator==(const IndexMap&) const = default;
};

// Shards must name dims below shape.size(); the coordinate must lie in the mesh.
IndexMap index_map(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh,
                   const Dims& coordinate);

// True if no rank's shard is shorter than another's / if some rank owns nothing of a non-empty
// tensor.
bool is_even(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh);
bool has_empty_shard(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh);

}  // namespace onedim
