#include "core/solve/core_part.hpp"

#include <algorithm>
#include <numeric>

#include "core/solve/core_state.hpp"

namespace onedim {
namespace {

void add_capacity(const CoreNetwork& core, std::span<const int> nodes,
                  const std::vector<int>& values, WorkNetwork& part) {
  part.capacity = overuse_of(core, values);
  std::vector<int64_t> own(part.capacity.size() + 1, 0);
  for (const int node : nodes) {
    for (const CoreUse& use : core.uses_of(node)) {
      own[use.begin] += core.bytes[use.bytes + values[node]];
      own[use.end] -= core.bytes[use.bytes + values[node]];
    }
  }
  int64_t sum = 0;
  for (size_t t = 0; t < part.capacity.size(); ++t) {
    sum += own[t];
    part.capacity[t] = sum - part.capacity[t];
  }
  part.point_origin.resize(part.capacity.size());
  std::iota(part.point_origin.begin(), part.point_origin.end(), 0);
}

}  // namespace

WorkNetwork part_of(const CoreNetwork& core, std::span<const int> nodes,
                    const std::vector<int>& values) {
  WorkNetwork part;
  std::vector<int> place(core.size, -1);
  for (size_t i = 0; i < nodes.size(); ++i) place[nodes[i]] = static_cast<int>(i);
  for (const int node : nodes) {
    WorkNode& added = part.nodes.emplace_back();
    const int first = core.first_value[node];
    const int domain = core.domain(node);
    added.costs.assign(core.unary.begin() + first, core.unary.begin() + first + domain);
    added.origin.resize(domain);
    std::iota(added.origin.begin(), added.origin.end(), 0);
    for (const CoreUse& use : core.uses_of(node)) {
      const auto bytes = core.bytes.begin() + static_cast<ptrdiff_t>(use.bytes);
      added.uses.push_back({use.begin, use.end, {bytes, bytes + domain}});
    }
    for (const CoreLink& link : core.links_of(node)) {
      if (place[link.other] >= 0) continue;
      const EdgeView view = core.view(link.edge, node);
      for (int v = 0; v < domain; ++v)
        added.costs[v] = add_costs(added.costs[v], view.at(v, values[link.other]));
    }
  }
  for (const int node : nodes) {
    for (const CoreLink& link : core.forward_of(node)) {
      if (place[link.other] < 0) continue;
      const auto cells = core.cells.begin() + static_cast<ptrdiff_t>(core.edges[link.edge].cells);
      const int64_t count = int64_t{core.domain(node)} * core.domain(link.other);
      part.add_to_edge(place[node], place[link.other], {cells, cells + count});
    }
  }
  if (!core.capacity.empty()) add_capacity(core, nodes, values, part);
  return part;
}

}  // namespace onedim
