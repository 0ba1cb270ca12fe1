#include "core/solve/core_state.hpp"

#include <algorithm>

namespace onedim {

Cost cost_of(const CoreNetwork& core, const std::vector<int>& values) {
  Cost cost = core.constant;
  for (int node = 0; node < core.size; ++node) {
    const Cost own = core.unary[core.first_value[node] + values[node]];
    if (is_blocked(own)) return kBlocked;
    cost += own;
  }
  for (int edge = 0; edge < static_cast<int>(core.edges.size()); ++edge) {
    const CoreEdge& e = core.edges[edge];
    const Cost pair = core.pair_cost(edge, values[e.a], values[e.b]);
    if (is_blocked(pair)) return kBlocked;
    cost += pair;
  }
  return cost;
}

std::vector<int64_t> overuse_of(const CoreNetwork& core, const std::vector<int>& values) {
  std::vector<int64_t> held(core.capacity.size() + 1, 0);
  for (int node = 0; node < core.size; ++node) {
    for (const CoreUse& use : core.uses_of(node)) {
      held[use.begin] += core.bytes[use.bytes + values[node]];
      held[use.end] -= core.bytes[use.bytes + values[node]];
    }
  }
  int64_t sum = 0;
  for (size_t t = 0; t < core.capacity.size(); ++t) {
    sum += held[t];
    held[t] = sum - core.capacity[t];
  }
  held.pop_back();
  return held;
}

bool is_within_capacity(const CoreNetwork& core, const std::vector<int>& values) {
  const std::vector<int64_t> over = overuse_of(core, values);
  return std::all_of(over.begin(), over.end(), [](int64_t bytes) { return bytes <= 0; });
}

}  // namespace onedim
