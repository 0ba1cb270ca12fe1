#include "core/solve/assignment_check.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

// Two nodes, of which the first holds 3 or 5 bytes during [0, 4), the other 2 during [3, 6).
CostNetwork two_nodes() {
  CostNetwork network;
  network.add_node({10, 20});
  network.add_node({1});
  network.nodes[0].uses.push_back({0, 4, {3, 5}});
  network.nodes[1].uses.push_back({3, 6, {2}});
  network.add_edge(1, 0, network.add_table(1, 2, {100, kForbidden}));
  network.memory_limit = 6;
  return network;
}

TEST(AssignmentCheck, AddsCostsAndFindsThePeak) {
  const AssignmentCheck check = *check_assignment(two_nodes(), {0, 0});
  EXPECT_EQ(check.cost, 111);
  EXPECT_EQ(check.forbidden, 0);
  EXPECT_EQ(check.peak_bytes, 5);
  EXPECT_EQ(check.peak_time, 3);
  EXPECT_TRUE(check.is_within_limit);
}

TEST(AssignmentCheck, TellsForbiddenPairsAndTooMuchMemory) {
  const AssignmentCheck check = *check_assignment(two_nodes(), {1, 0});
  EXPECT_EQ(format_wide(check.cost), "1000000000000000021");
  EXPECT_EQ(check.forbidden, 1);
  EXPECT_EQ(check.peak_bytes, 7);
  EXPECT_FALSE(check.is_within_limit);
}

TEST(AssignmentCheck, MemoryThatEndsWhenOtherBeginsIsNotHeldTogether) {
  CostNetwork network = two_nodes();
  network.nodes[1].uses[0] = {4, 6, {2}};
  EXPECT_EQ(check_assignment(network, {1, 0})->peak_bytes, 5);
  network.nodes[1].uses[0] = {5, 5, {1000}};  // held at no time
  EXPECT_EQ(check_assignment(network, {1, 0})->peak_bytes, 5);
}

TEST(AssignmentCheck, RefusesWhatIsNoAssignment) {
  EXPECT_EQ(check_assignment(two_nodes(), {0}).status().message(),
            "the assignment has 1 values for 2 nodes");
  EXPECT_EQ(check_assignment(two_nodes(), {2, 0}).status().message(),
            "node 0 is assigned value 2; expected one of 0 to 1");
}

TEST(WideCost, IsPrintedInFull) {
  EXPECT_EQ(format_wide(0), "0");
  EXPECT_EQ(format_wide(-42), "-42");
  EXPECT_EQ(format_wide(WideCost{kForbidden} * 1000), "1000000000000000000000");
}

}  // namespace
}  // namespace onedim
