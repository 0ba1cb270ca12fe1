#include "core/solve/dual_bound.hpp"

#include <gtest/gtest.h>

#include "core/solve/core_state.hpp"
#include "core/solve/work_build.hpp"
#include "tests/random_seed.hpp"
#include "tests/solve/random_network.hpp"

namespace onedim {
namespace {

// Every assignment within the limit, with what it costs in work units.
std::vector<std::pair<std::vector<int>, Cost>> feasible(const CoreNetwork& core) {
  std::vector<std::pair<std::vector<int>, Cost>> list;
  std::vector<int> values(core.size, 0);
  while (true) {
    const Cost cost = cost_of(core, values);
    if (!is_blocked(cost) && is_within_capacity(core, values)) list.emplace_back(values, cost);
    int node = 0;
    while (node < core.size && ++values[node] == core.domain(node)) values[node++] = 0;
    if (node == core.size) return list;
  }
}

TEST(DualBound, NoFeasibleAssignmentIsBelowItAtAnyPrice) {
  RandomNetworks networks(random_seed());
  for (int index = 0; index < 200; ++index) {
    const BuiltWork work = *build_work(networks.draw(), Forbidden::kExcluded);
    const CoreNetwork core = build_core(work.network);
    const auto assignments = feasible(core);
    DualBound dual(core);
    for (int step = 0; step < 12; ++step) {
      if (step % 4 == 3) {
        std::vector<double> prices(core.capacity.size());
        for (double& price : prices)
          price =
              static_cast<double>(networks.below(4000)) * static_cast<double>(networks.below(100));
        dual.set_prices(prices);
      }
      dual.sweep(step % 2 == 0);
      if (dual.is_infeasible()) break;
      for (const auto& [values, cost] : assignments) {
        EXPECT_LE(dual.bound(), cost) << "network " << index;
        for (int node = 0; node < core.size; ++node) {
          const int value = core.first_value[node] + values[node];
          ASSERT_TRUE(dual.is_alive(value)) << "network " << index;
          EXPECT_LE(dual.bound() + dual.excess(value), cost) << "network " << index;
        }
      }
    }
    if (dual.is_infeasible()) {
      EXPECT_TRUE(assignments.empty()) << "network " << index;
    }
  }
}

TEST(DualBound, IsTheOptimumOnAChain) {
  CostNetwork network;
  for (int i = 0; i < 4; ++i) network.add_node({i % 2 == 0 ? 7 : 1, 3});
  for (int i = 0; i < 3; ++i) network.add_edge(i, i + 1, network.add_table(2, 2, {5, 0, 2, 4}));
  const BuiltWork work = *build_work(network, Forbidden::kExcluded);
  const CoreNetwork core = build_core(work.network);
  DualBound dual(core);
  for (int sweep = 0; sweep < 4; ++sweep) dual.sweep(sweep % 2 == 0);
  EXPECT_EQ(dual.bound() >> work.unit_bits, static_cast<Cost>(*least_cost(network)));
}

}  // namespace
}  // namespace onedim
