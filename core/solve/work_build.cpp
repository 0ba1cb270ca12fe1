#include "core/solve/work_build.hpp"

#include <algorithm>
#include <numeric>

namespace onedim {
namespace {

constexpr int kMostUnitBits = 12;

struct Parts {
  Cost forbidden;
  Cost rest;
};

Parts parts_of(Cost cost) {
  if (cost < kForbidden) return {0, cost};
  return {cost / kForbidden, cost % kForbidden};
}

// Sums over nodes and edges of the largest that each may contribute.
struct Range {
  WideCost rest = 0;
  WideCost forbidden = 0;

  void add(const std::vector<Cost>& costs, Forbidden forbidden_are) {
    Cost most_rest = 0;
    Cost most_forbidden = 0;
    for (const Cost cost : costs) {
      if (cost >= kForbidden && forbidden_are == Forbidden::kExcluded) continue;
      const Parts parts = parts_of(cost);
      most_rest = std::max(most_rest, parts.rest < 0 ? -parts.rest : parts.rest);
      most_forbidden = std::max(most_forbidden, parts.forbidden);
    }
    rest += most_rest;
    forbidden += most_forbidden;
  }
};

Range range_of(const CostNetwork& network, Forbidden forbidden) {
  std::vector<Range> tables(network.tables.size());
  for (size_t i = 0; i < tables.size(); ++i) tables[i].add(network.tables[i].cells, forbidden);
  Range range;
  for (const CostNode& node : network.nodes) range.add(node.costs, forbidden);
  for (const CostEdge& edge : network.edges) {
    range.rest += tables[edge.table].rest;
    range.forbidden += tables[edge.table].forbidden;
  }
  return range;
}

Status weigh(const CostNetwork& network, Forbidden forbidden, BuiltWork& work) {
  const Range range = range_of(network, forbidden);
  WideCost most = range.rest;
  if (forbidden == Forbidden::kCounted && range.forbidden > 0) {
    const WideCost weight = 2 * range.rest + 1;
    if (weight >= kCostRange)
      return unimplemented("the costs add up to {}; expected less than {}", format_wide(range.rest),
                           kCostRange / 2);
    work.forbidden_weight = static_cast<Cost>(weight);
    most += weight * range.forbidden;
  }
  if (most >= kCostRange)
    return unimplemented("the costs add up to {}; expected less than {}", format_wide(most),
                         kCostRange);
  while (work.unit_bits < kMostUnitBits && (most << (work.unit_bits + 1)) < kCostRange)
    ++work.unit_bits;
  return absl::OkStatus();
}

Cost work_cost(Cost cost, Forbidden forbidden, const BuiltWork& work) {
  if (cost >= kForbidden && forbidden == Forbidden::kExcluded) return kBlocked;
  const Parts parts = parts_of(cost);
  return (parts.forbidden * work.forbidden_weight + parts.rest) * (Cost{1} << work.unit_bits);
}

// The sum of all must fit, whatever is chosen.
Status check_bytes(const CostNetwork& network) {
  WideCost most = *network.memory_limit;
  for (const CostNode& node : network.nodes) {
    for (const MemoryUse& use : node.uses)
      most += *std::max_element(use.bytes.begin(), use.bytes.end());
  }
  constexpr int64_t kMostBytes = int64_t{1} << 62;
  if (most < kMostBytes) return absl::OkStatus();
  return unimplemented("the limit and usages add up to {} bytes; expected less than {}",
                       format_wide(most), kMostBytes);
}

// Memory can only peak where a use begins.
void add_uses(const CostNetwork& network, WorkNetwork& work) {
  std::vector<int64_t> times;
  for (const CostNode& node : network.nodes) {
    for (const MemoryUse& use : node.uses) {
      if (use.begin < use.end) times.push_back(use.begin);
    }
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto point_of = [&](int64_t time) {
    return static_cast<int>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  work.capacity.assign(times.size(), *network.memory_limit);
  work.point_origin.resize(times.size());
  std::iota(work.point_origin.begin(), work.point_origin.end(), 0);
  for (size_t node = 0; node < network.nodes.size(); ++node) {
    for (const MemoryUse& use : network.nodes[node].uses) {
      if (use.begin < use.end)
        work.nodes[node].uses.push_back({point_of(use.begin), point_of(use.end), use.bytes});
    }
  }
}

}  // namespace

Result<BuiltWork> build_work(const CostNetwork& network, Forbidden forbidden) {
  BuiltWork work;
  if (Status status = weigh(network, forbidden, work); !status.ok()) return status;
  const auto converted = [&](const std::vector<Cost>& costs) {
    std::vector<Cost> list(costs.size());
    std::transform(costs.begin(), costs.end(), list.begin(),
                   [&](Cost cost) { return work_cost(cost, forbidden, work); });
    return list;
  };
  for (const CostNode& node : network.nodes) {
    WorkNode& added = work.network.nodes.emplace_back();
    added.costs = converted(node.costs);
    added.origin.resize(node.costs.size());
    for (size_t value = 0; value < node.costs.size(); ++value)
      added.origin[value] = static_cast<int>(value);
  }
  for (const CostEdge& edge : network.edges)
    work.network.add_to_edge(edge.from, edge.to, converted(network.tables[edge.table].cells));
  if (network.memory_limit) {
    if (Status status = check_bytes(network); !status.ok()) return status;
    add_uses(network, work.network);
  }
  return work;
}

Cost weighted_cost(WideCost cost, const BuiltWork& work) {
  if (work.forbidden_weight == 0) return static_cast<Cost>(cost);
  // The rests add up to less than half of kForbidden either way, or build_work had refused.
  WideCost count = cost / kForbidden;
  WideCost rest = cost % kForbidden;
  if (rest < -kForbidden / 2) --count, rest += kForbidden;
  if (rest > kForbidden / 2) ++count, rest -= kForbidden;
  return static_cast<Cost>(count * work.forbidden_weight + rest);
}

}  // namespace onedim
