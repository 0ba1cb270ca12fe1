#include "core/solve/value_pruning.hpp"

#include <algorithm>
#include <limits>

#include "core/solve/range_least.hpp"

namespace onedim {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// The least that the values still possible hold, by use; kNone if there is no such value.
std::vector<int64_t> least_bytes(const CoreNetwork& core, const DualBound& dual) {
  std::vector<int64_t> least(core.uses.size(), kNone);
  for (int node = 0; node < core.size; ++node) {
    const int first = core.first_value[node];
    for (int u = core.first_use[node]; u < core.first_use[node + 1]; ++u) {
      for (int v = 0; v < core.domain(node); ++v) {
        if (dual.is_alive(first + v))
          least[u] = std::min(least[u], core.bytes[core.uses[u].bytes + v]);
      }
    }
  }
  return least;
}

Pruned prune_dear(const CoreNetwork& core, DualBound& dual, Cost cutoff) {
  if (dual.bound() >= cutoff) return Pruned::kInfeasible;
  const Cost most = cutoff - dual.bound();
  Pruned pruned = Pruned::kNothing;
  for (int value = 0; value < core.value_count(); ++value) {
    if (!dual.is_alive(value) || dual.excess(value) < most) continue;
    dual.block(value);
    pruned = Pruned::kSomething;
  }
  return pruned;
}

}  // namespace

Pruned prune_values(const CoreNetwork& core, DualBound& dual, Cost cutoff) {
  Pruned pruned = prune_dear(core, dual, cutoff);
  if (core.capacity.empty() || pruned == Pruned::kInfeasible) return pruned;
  const std::vector<int64_t> least = least_bytes(core, dual);
  std::vector<int64_t> room(core.capacity.size() + 1, 0);
  for (size_t u = 0; u < least.size(); ++u) {
    if (least[u] == kNone) return Pruned::kInfeasible;
    room[core.uses[u].begin] -= least[u];
    room[core.uses[u].end] += least[u];
  }
  for (size_t t = 1; t < room.size(); ++t) room[t] += room[t - 1];
  room.pop_back();
  for (size_t t = 0; t < room.size(); ++t) {
    room[t] += core.capacity[t];
    if (room[t] < 0) return Pruned::kInfeasible;
  }
  const RangeLeast left(std::move(room));
  for (int node = 0; node < core.size; ++node) {
    const int first = core.first_value[node];
    for (int u = core.first_use[node]; u < core.first_use[node + 1]; ++u) {
      const CoreUse& use = core.uses[u];
      const int64_t most = left.least(use.begin, use.end) + least[u];
      for (int v = 0; v < core.domain(node); ++v) {
        if (!dual.is_alive(first + v) || core.bytes[use.bytes + v] <= most) continue;
        dual.block(first + v);
        pruned = Pruned::kSomething;
      }
    }
  }
  return pruned;
}

}  // namespace onedim
