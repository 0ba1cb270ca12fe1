#include "core/solve/reduction.hpp"

#include <gtest/gtest.h>

#include "core/solve/work_build.hpp"
#include "tests/random_seed.hpp"
#include "tests/solve/random_network.hpp"

namespace onedim {
namespace {

int left(const WorkNetwork& network) {
  return static_cast<int>(std::count_if(network.nodes.begin(), network.nodes.end(),
                                        [](const WorkNode& n) { return !n.is_removed; }));
}

TEST(Reduction, ATreeWithoutMemoryGoesWhole) {
  RandomNetworks networks(3);
  CostNetwork network;
  for (int i = 0; i < 9; ++i) network.add_node({networks.below(9), networks.below(9), 4});
  for (int i = 1; i < 9; ++i) {
    std::vector<Cost> cells;
    for (int cell = 0; cell < 9; ++cell) cells.push_back(networks.below(20));
    network.add_edge(i, (i - 1) / 2, network.add_table(3, 3, std::move(cells)));
  }
  BuiltWork work = *build_work(network, Forbidden::kExcluded);
  Reduction reduction(work.network);
  ASSERT_TRUE(reduction.run());
  EXPECT_EQ(left(work.network), 0);
  Assignment assignment(9, 0);
  reduction.extend(assignment, reduction.steps());
  const WideCost least = *least_cost(network);
  EXPECT_EQ(check_assignment(network, assignment)->cost, least);
  EXPECT_EQ(work.network.constant >> work.unit_bits, static_cast<Cost>(least));
}

// What is left, with the choice of the rest that was recorded, still holds an optimal assignment.
TEST(Reduction, KeepsAnOptimum) {
  RandomNetworks networks(random_seed());
  for (int index = 0; index < 300; ++index) {
    const CostNetwork network = networks.draw();
    BuiltWork work = *build_work(network, Forbidden::kCounted);
    Reduction reduction(work.network);
    const bool is_open = reduction.run();
    const std::optional<WideCost> least = least_cost(network);
    if (!is_open) {
      EXPECT_FALSE(least.has_value()) << "network " << index;
      continue;
    }
    std::optional<WideCost> found;
    std::vector<int> kept;
    for (size_t node = 0; node < work.network.nodes.size(); ++node) {
      if (!work.network.nodes[node].is_removed) kept.push_back(static_cast<int>(node));
    }
    std::vector<int> choice(kept.size(), 0);
    while (true) {
      Assignment assignment(network.nodes.size(), 0);
      for (size_t i = 0; i < kept.size(); ++i)
        assignment[kept[i]] = work.network.nodes[kept[i]].origin[choice[i]];
      reduction.extend(assignment, reduction.steps());
      const AssignmentCheck check = *check_assignment(network, assignment);
      if (check.is_within_limit && (!found || check.cost < *found)) found = check.cost;
      size_t i = 0;
      while (i < kept.size() && ++choice[i] == work.network.nodes[kept[i]].size()) choice[i++] = 0;
      if (i == kept.size()) break;
    }
    ASSERT_EQ(found.has_value(), least.has_value()) << "network " << index;
    if (least) {
      EXPECT_EQ(format_wide(*found), format_wide(*least)) << "network " << index;
    }
  }
}

}  // namespace
}  // namespace onedim
