#include "core/solve/repair.hpp"

#include <algorithm>

#include "core/solve/core_state.hpp"
#include "core/solve/dive.hpp"
#include "core/solve/neighbourhood.hpp"

namespace onedim {
namespace {

constexpr int64_t kLeastRounds = 20;
constexpr int kMostRounds = 100;

// What a weight per byte and point in time makes of a node's values.
double weighted_bytes(const CoreNetwork& core, int node, int value,
                      const std::vector<double>& sums) {
  double weighted = 0;
  for (const CoreUse& use : core.uses_of(node))
    weighted +=
        static_cast<double>(core.bytes[use.bytes + value]) * (sums[use.end] - sums[use.begin]);
  return weighted;
}

std::vector<double> sums_of(const std::vector<double>& weights) {
  std::vector<double> sums(weights.size() + 1, 0);
  for (size_t t = 0; t < weights.size(); ++t) sums[t + 1] = sums[t] + weights[t];
  return sums;
}

template <typename Visit>
void for_each_value(const CoreNetwork& core, Visit visit) {
  for (int node = 0; node < core.size; ++node) {
    for (int v = 0; v < core.domain(node); ++v) visit(node, v);
  }
}

// The network without its limit, bytes at a price.
CoreNetwork priced(const CoreNetwork& core, const std::vector<double>& prices) {
  CoreNetwork made = core;
  const std::vector<double> sums = sums_of(prices);
  for_each_value(core, [&](int node, int v) {
    const double price = weighted_bytes(core, node, v, sums);
    made.unary[core.first_value[node] + v] +=
        static_cast<Cost>(std::min(price, static_cast<double>(kCostRange)));
  });
  made.capacity.clear();
  made.point_origin.clear();
  made.uses.clear();
  made.bytes.clear();
  std::fill(made.first_use.begin(), made.first_use.end(), 0);
  return made;
}

// The network in which a value costs the bytes it holds where too much is held, as parts of what is
// held too much in all, and no time may get worse.
CoreNetwork relieved(const CoreNetwork& core, const std::vector<int64_t>& over) {
  CoreNetwork made = core;
  std::vector<double> weights(over.size(), 0);
  double total = 0;
  for (size_t t = 0; t < over.size(); ++t) {
    if (over[t] <= 0) continue;
    weights[t] = 1;
    total += static_cast<double>(over[t]);
    made.capacity[t] += over[t];
  }
  const std::vector<double> sums = sums_of(weights);
  constexpr double kParts = 1e6;
  for_each_value(core, [&](int node, int v) {
    const double share = kParts * weighted_bytes(core, node, v, sums) / total;
    made.unary[core.first_value[node] + v] = static_cast<Cost>(std::min(share, 1e12));
  });
  for (Cost& cell : made.cells) cell = is_blocked(cell) ? kBlocked : 0;
  made.constant = 0;
  return made;
}

bool is_fine(const std::vector<int64_t>& over) {
  return std::all_of(over.begin(), over.end(), [](int64_t bytes) { return bytes <= 0; });
}

}  // namespace

RepairResult repair(const CoreNetwork& core, const std::vector<double>& prices, uint64_t seed,
                    int64_t most_effort, const StopTime& stop) {
  RepairResult result;
  const CoreNetwork free = priced(core, prices);
  DualBound dual(free);
  for (int sweep = 0; sweep < 20; ++sweep) dual.sweep(sweep % 2 == 0);
  const DiveResult start = dive(free, dual, kBlocked / 2, most_effort, stop);
  result.effort = dual.effort() + start.effort;
  if (!start.values) return result;
  std::vector<int> values = *start.values;
  const std::vector<double> none(core.capacity.size(), 0);
  for (int round = 0; round < kMostRounds && result.effort < most_effort; ++round) {
    if (stop.is_past()) return result;
    const std::vector<int64_t> over = overuse_of(core, values);
    if (is_fine(over)) {
      result.values = std::move(values);
      return result;
    }
    const CoreNetwork next = relieved(core, over);
    NeighbourhoodSearch search(next, std::move(values), 1, seed + static_cast<uint64_t>(round));
    search.run(none, most_effort / kLeastRounds, stop);
    result.effort += search.effort() + next.pass_effort();
    values = search.values();
  }
  return result;
}

}  // namespace onedim
