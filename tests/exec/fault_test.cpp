#include "core/exec/fault.hpp"

#include <gtest/gtest.h>

#include "tests/exec/moved.hpp"

namespace onedim {
namespace {

// A move of one collective on four ranks, with a fault.
Result<Moved> move_with(std::string_view fault, bool has_threads) {
  MoveOptions options;
  options.sim.has_threads = has_threads;
  options.sim.deadline = std::chrono::milliseconds(200);
  options.sim.fault = *Fault::parse(fault);
  return move_ramp("a=2,b=2", {8, 6}, "S(0),S(1)", "R,R", options);
}

std::string message_with(std::string_view fault, bool has_threads) {
  return std::string(message_of(move_with(fault, has_threads).status()));
}

TEST(Fault, IsReadFromText) {
  const Result<Fault> fault = Fault::parse("delay@3:12:500");
  ASSERT_TRUE(fault.ok());
  EXPECT_EQ(fault->kind, Fault::Kind::kDelay);
  EXPECT_EQ(fault->rank, 3);
  EXPECT_EQ(fault->call, 12);
  EXPECT_EQ(fault->delay, std::chrono::milliseconds(500));
  for (const char* wrong : {"", "delay@1:1", "kill@1", "kill@1:0", "kill@-1:1", "kill@1:1:5",
                            "burn@1:1", "kill@x:1", "delay@1:1:1s"})
    EXPECT_EQ(Fault::parse(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong;
}

TEST(Fault, ALateRankChangesNothing) {
  for (const bool has_threads : {false, true}) {
    const Result<Moved> moved = move_with("delay@1:1:30", has_threads);
    ASSERT_TRUE(moved.ok()) << moved.status();
    EXPECT_EQ(difference(*moved), "");
  }
}

TEST(Fault, ARankThatStopsIsNamedInStep) {
  EXPECT_NE(message_with("stop@3:1", false).find("waits in ramp: all_gather over"),
            std::string::npos);
  EXPECT_NE(message_with("stop@3:1", false).find("not there: rank 3 at [1,1]"), std::string::npos);
}

// The ranks that waited were ended; of those that failed by themselves the silent one is told.
TEST(Fault, ARankThatIsKilledIsNamedOnThreads) {
  EXPECT_EQ(message_with("kill@2:1", true),
            "rank 2 at [1,0] was killed at its call 1, as the fault has it");
}

TEST(Fault, CorruptBytesDoNotPassForRight) {
  for (const bool has_threads : {false, true}) {
    for (const char* fault : {"corrupt@0:1", "corrupt@3:1"}) {
      const Result<Moved> moved = move_with(fault, has_threads);
      ASSERT_TRUE(moved.ok()) << moved.status();
      EXPECT_NE(difference(*moved), "") << fault;
    }
  }
}

}  // namespace
}  // namespace onedim
