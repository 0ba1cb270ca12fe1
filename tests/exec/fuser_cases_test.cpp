// The cases of nvFuser's pull request 3284 and of issues reported beside it, with their shapes: d
// ranks, tensors split by the mesh on an outer or an inner split.
#include <gtest/gtest.h>

#include "tests/exec/moved.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

constexpr int64_t kRanks = 4;  // d

void expect_right(const Result<Moved>& moved) {
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(difference(*moved), "");
}

// Allgather_LoopSplit: [d k, n], split by the mesh outside: straight into the target's memory.
TEST(FuserCases, AllGatherOfAnOuterSplit) {
  const Result<Moved> moved = move_ramp("d=4", {kRanks * 2, 3}, "S(0)", "R");
  expect_right(moved);
  ASSERT_EQ(moved->plan.steps.size(), 1u);
  EXPECT_EQ(moved->plan.steps[0].unpack_bytes, 0);
  EXPECT_EQ(moved->memories[0].events().size(), 1u) << "the target alone";
}

// Allgather_LoopSplit_Noncontiguous (disabled there): arange(2 * d * 3) as [2, 3 d], dim 1 split.
TEST(FuserCases, AllGatherOfAnInnerDimUnpacks) {
  const Result<Moved> moved = move_ramp("d=4", {2, 3 * kRanks}, "S(1)", "R");
  expect_right(moved);
  EXPECT_EQ(moved->plan.steps[0].unpack_bytes, 2 * 3 * kRanks * 4);
  EXPECT_EQ(moved->memories[0].events()[1].cause, "ramp, all_gather S(1) -> R: unpack");
}

// ShardTensor_OuterSplit: [2, 3 d] gives [2, 3] a rank.
TEST(FuserCases, AnOuterSplitIsAShard) {
  const Result<Moved> moved = move_ramp("d=4", {2, 3 * kRanks}, "R", "S(1)");
  expect_right(moved);
  EXPECT_EQ(moved->locals[1].shape(), (Dims{2, 3}));
  EXPECT_EQ(elements_text(moved->locals[1]), "[3,4,5,15,16,17]");
}

// ShardTensor_InnerSplit (refused there): cyclic by the mesh is a strided shard.
TEST(FuserCases, AnInnerSplitIsAStridedShard) {
  const Result<Moved> cut = move_ramp("d=4", {2, 3 * kRanks}, "R", "SS(1,3)");
  expect_right(cut);
  EXPECT_EQ(elements_text(cut->locals[1]), "[1,5,9,13,17,21]");
  expect_right(move_ramp("d=4", {2, 3 * kRanks}, "SS(1,3)", "R"));
  expect_right(move_ramp("d=4", {2, 3 * kRanks}, "SS(1,3)", "S(1)"));
}

// Allgather_CompliantAllocation: the gathered dim outermost in memory needs no copy ...
TEST(FuserCases, AGatheredDimOutermostInMemoryNeedsNoCopy) {
  MoveOptions options;
  options.plan.from_outermost = options.plan.to_outermost = 1;
  const Result<Moved> moved = move_ramp("d=4", {2, 3 * kRanks}, "S(1)", "R", options);
  expect_right(moved);
  EXPECT_EQ(moved->plan.steps[0].unpack_bytes, 0);
  EXPECT_EQ(moved->locals[0].strides(), (Dims{1, 2}));
}

// ... and a plan that leaves the copy out where it is needed is refused by name.
TEST(FuserCases, AMissingPackStepIsRefusedByName) {
  Planner planner(test_model("d=4"));
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {2, 12});
  Plan plan = **planner.plan(meta, *parse_layout("S(1)", planner.mesh(), 2),
                             *parse_layout("R", planner.mesh(), 2));
  plan.steps[0].unpack_bytes = 0;
  RunSetting setting{planner.mesh(), {{2, 12}}, {}};
  setting.subject = "mm, input 0";
  const std::vector<Tensor> locals(4, Tensor::zeros(DType::kF32, {2, 3}));
  EXPECT_EQ(message_of(run_plan_on_sim(plan, setting, {locals}, {}).status()),
            "mm, input 0: step all_gather over d S(1) -> R at coordinate [0]: what it receives is "
            "not one piece of memory, and it does not unpack");
}

// ReduceScatter_LogicalSplit: the scattered dim is the output's, whichever it is.
TEST(FuserCases, ReduceScatterCutsTheDimOfTheOutput) {
  for (const char* to : {"S(0)", "S(1)"})
    expect_right(move_ramp("d=4", {2 * kRanks, 3 * kRanks}, "P(sum)", to));
}

// ReduceScatterNoncontig: [5, 3 d, 7 d], the innermost dim scattered.
TEST(FuserCases, ReduceScatterOfTheInnermostDimPacks) {
  MoveOptions options;
  options.dtype = DType::kI32;
  const Result<Moved> moved =
      move_ramp("d=4", {5, 3 * kRanks, 7 * kRanks}, "P(sum)", "S(2)", options);
  expect_right(moved);
  EXPECT_EQ(moved->plan.steps[0].pack_bytes, 5 * 3 * kRanks * 7 * kRanks * 4);
}

// AllreduceNoncontig: what lies otherwise in memory is made contiguous, and that is seen.
TEST(FuserCases, NoncontiguousInputsAreCopiedVisibly) {
  MoveOptions options;
  options.is_transposed = true;
  const Result<Moved> moved = move_ramp("d=4", {6, 4}, "P(sum)", "R", options);
  expect_right(moved);
  EXPECT_EQ(count_spans(*moved, "make_contiguous"), 1);
  EXPECT_EQ(moved->memories[0].events()[0].cause, "ramp, make_contiguous: target");
}

// Issue 3071: a transposed view [6, 4] of strides (1, 6).
TEST(FuserCases, TransposedViewsAreGathered) {
  MoveOptions options;
  options.is_transposed = true;
  expect_right(move_ramp("d=2", {6, 4}, "S(0)", "R", options));
}

// Issue 2245: the slice of [3, 8] on dim 1 is not contiguous in its source.
TEST(FuserCases, SlicesOfInnerDims) { expect_right(move_ramp("d=4", {3, 8}, "R", "S(1)")); }

// All-to-all with more than one row a rank, silently wrong there.
TEST(FuserCases, AllToAllWithSeveralRowsARank) {
  const Result<Moved> moved = move_ramp("d=2", {4, 4}, "S(0)", "S(1)");
  expect_right(moved);
  EXPECT_EQ(elements_text(moved->locals[0]), "[0,1,4,5,8,9,12,13]");
  expect_right(move_ramp("d=2", {4, 4}, "S(1)", "S(0)"));
}

// Issues 4604, 5969: the team of a collective is that of its own mesh dim.
TEST(FuserCases, CollectivesOfOneMeshDimOfTwo) {
  for (const char* to : {"R,S(1)", "S(0),R", "R,R"})
    expect_right(move_ramp("y=2,x=2", {4, 4}, "S(0),S(1)", to));
  expect_right(move_ramp("y=2,x=2", {4, 4}, "S(1),S(0)", "R,S(0)"));
}

// Issue 6001: two mesh dims swapped; issue 4188: one mesh dim dropped, another added.
TEST(FuserCases, SeveralMeshDimsAtOnce) {
  expect_right(move_ramp("y=2,x=2", {4, 4}, "S(0),S(1)", "S(1),S(0)"));
  expect_right(move_ramp("y=2,x=3", {7, 5}, "S(0),S(1)", "S(1),S(0)"));
  expect_right(move_ramp("y=2,x=2", {4, 4}, "S(0),R", "R,S(0)"));
  expect_right(move_ramp("y=2,x=2", {4, 4}, "S(0),R", "R,S(1)"));
}

// PyTorch 194457, 103306, 191580: uneven shards, nested and flat.
TEST(FuserCases, UnevenShards) {
  MoveOptions any;
  any.plan.policy = Policy::kAny;
  expect_right(move_ramp("y=2,x=2", {5, 3}, "S(0),S(0)", "R,R", any));
  expect_right(move_ramp("d=4", {5}, "S(0)", "R", any));
  const Result<Moved> scattered = move_ramp("d=4", {5}, "P(sum)", "S(0)", any);
  expect_right(scattered);
  EXPECT_EQ(scattered->plan.steps.size(), 1u);
  EXPECT_EQ(scattered->locals[3].shape(), (Dims{0}));
}

// PyTorch 172041: a sum of 4 as an average is 8 over 2 ranks.
TEST(FuserCases, SumToAverageScales) {
  MoveOptions options;
  options.first = 4;
  const Result<Moved> moved = move_ramp("d=2", {1}, "P(sum)", "P(avg)", options);
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(elements_text(moved->locals[0]), "[8]");
  EXPECT_EQ(elements_text(moved->locals[1]), "[0]");
}

// As its communication tests do: eight times, with values that differ, so that nothing is stale.
TEST(FuserCases, RepetitionsDoNotSeeEachOther) {
  for (int64_t repetition = 0; repetition < 8; ++repetition) {
    MoveOptions options;
    options.first = 1000 * repetition;
    options.sim.has_threads = repetition % 2 == 1;
    expect_right(move_ramp("y=2,x=2", {4, 6}, "S(0),P(sum)", "R,S(1)", options));
  }
}

}  // namespace
}  // namespace onedim
