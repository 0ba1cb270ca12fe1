#include "core/solve/solver.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "core/solve/network_check.hpp"
#include "tests/random_seed.hpp"
#include "tests/solve/random_network.hpp"

namespace onedim {
namespace {

// Right is what trying every assignment finds.
void expect_right(const CostNetwork& network, const NetworkSolution& solution, int64_t index) {
  const std::optional<WideCost> least = least_cost(network);
  if (!least) {
    EXPECT_EQ(solution.state, SolveState::kInfeasible) << "network " << index;
    return;
  }
  ASSERT_EQ(solution.state, SolveState::kOptimal) << "network " << index;
  EXPECT_EQ(format_wide(solution.cost), format_wide(*least)) << "network " << index;
  EXPECT_EQ(format_wide(solution.lower_bound), format_wide(*least)) << "network " << index;
  const AssignmentCheck check = *check_assignment(network, solution.assignment);
  EXPECT_TRUE(check.is_within_limit);
  EXPECT_EQ(format_wide(check.cost), format_wide(solution.cost));
}

void expect_brute_force(uint64_t seed, int64_t count) {
  RandomNetworks networks(seed);
  for (int64_t index = 0; index < count; ++index) {
    const CostNetwork network = networks.draw();
    ASSERT_TRUE(check_network(network).ok());
    const Result<NetworkSolution> solution = solve(network, {});
    ASSERT_TRUE(solution.ok()) << solution.status();
    expect_right(network, *solution, index);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Solver, EqualsBruteForceOnRandomNetworks) { expect_brute_force(random_seed(), 1000); }

// The last of these once took a merge that left a node nothing for a solution.
TEST(Solver, AMergeMayShowThatNothingIsLeft) { expect_brute_force(5, 157); }

TEST(Solver, EmptyNetworkCostsNothing) {
  const NetworkSolution solution = *solve({}, {});
  EXPECT_EQ(solution.state, SolveState::kOptimal);
  EXPECT_EQ(solution.cost, 0);
  EXPECT_TRUE(solution.assignment.empty());
}

TEST(Solver, ForbiddenCostsThatNoneAvoidsAreCounted) {
  CostNetwork network;
  for (int i = 0; i < 12; ++i) network.add_node({kForbidden + 5, 3 * kForbidden});
  const NetworkSolution solution = *solve(network, {});
  EXPECT_EQ(solution.state, SolveState::kOptimal);
  EXPECT_EQ(format_wide(solution.cost), "12000000000000000060");
  EXPECT_EQ(format_wide(solution.lower_bound), "12000000000000000060");
}

TEST(Solver, MemoryMakesTheDearerValueRight) {
  CostNetwork network;
  network.memory_limit = 10;
  for (int i = 0; i < 2; ++i) {
    network.add_node({1, 5});
    network.nodes.back().uses.push_back({0, 4, {6, 4}});
  }
  EXPECT_EQ(solve(network, {})->cost, 6);
  network.nodes[1].uses[0] = {4, 8, {6, 4}};  // they no longer meet
  EXPECT_EQ(solve(network, {})->cost, 2);
  network.memory_limit = 3;
  EXPECT_EQ(solve(network, {})->state, SolveState::kInfeasible);
}

TEST(Solver, CostsBeyondExactSumsAreRefused) {
  CostNetwork network;
  network.add_node({kForbidden - 1, 0});
  const Result<NetworkSolution> solution = solve(network, {});
  ASSERT_FALSE(solution.ok());
  EXPECT_EQ(solution.status().message(),
            "the costs add up to 999999999999999999; expected less than 288230376151711744");
}

// A ring with a memory limit, too large for trying everything, and not solved at once.
CostNetwork ring() {
  std::mt19937_64 random(7);
  CostNetwork network;
  network.memory_limit = 900;
  constexpr int kNodes = 60;
  for (int i = 0; i < kNodes; ++i) {
    std::vector<Cost> costs;
    MemoryUse use{i, i + 12, {}};
    for (int v = 0; v < 6; ++v) {
      costs.push_back(static_cast<Cost>(random() % 1000));
      use.bytes.push_back(static_cast<int64_t>(random() % 200));
    }
    network.add_node(std::move(costs));
    network.nodes.back().uses.push_back(std::move(use));
  }
  for (int i = 0; i < kNodes; ++i) {
    for (const int step : {1, 7}) {
      std::vector<Cost> cells;
      for (int cell = 0; cell < 36; ++cell) cells.push_back(static_cast<Cost>(random() % 1000));
      network.add_edge(i, (i + step) % kNodes, network.add_table(6, 6, std::move(cells)));
    }
  }
  return network;
}

NetworkSolution solved(const CostNetwork& network, int64_t effort, int threads) {
  SolveOptions options;
  options.effort = effort;
  options.threads = threads;
  return *solve(network, options);
}

TEST(Solver, LittleEffortGivesAValidGap) {
  const CostNetwork network = ring();
  const NetworkSolution rough = solved(network, 1, 2);
  const NetworkSolution fine = solved(network, 100'000'000, 2);
  EXPECT_LE(rough.lower_bound, fine.lower_bound);
  EXPECT_LE(fine.lower_bound, fine.cost);
  ASSERT_FALSE(rough.assignment.empty());
  EXPECT_LE(fine.cost, rough.cost);
  EXPECT_TRUE(check_assignment(network, fine.assignment)->is_within_limit);
}

TEST(Solver, ThreadsAndTheEffortToldChangeNothing) {
  const CostNetwork network = ring();
  const NetworkSolution one = solved(network, 100'000'000, 1);
  for (const NetworkSolution& two :
       {solved(network, 100'000'000, 2), solved(network, one.effort, 2)}) {
    EXPECT_EQ(one.assignment, two.assignment);
    EXPECT_EQ(one.effort, two.effort);
    EXPECT_EQ(format_wide(one.lower_bound), format_wide(two.lower_bound));
  }
}

TEST(Solver, ThatStopsAtOnceSaysSo) {
  SolveOptions options;
  options.stop.at = std::chrono::steady_clock::now();
  const NetworkSolution solution = *solve(ring(), options);
  EXPECT_EQ(solution.state, SolveState::kUnknown);
  EXPECT_TRUE(solution.was_stopped);
  EXPECT_TRUE(solution.assignment.empty());
}

}  // namespace
}  // namespace onedim
