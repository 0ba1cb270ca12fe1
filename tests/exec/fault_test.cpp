#include "core/exec/fault.hpp"

#include <gtest/gtest.h>

#include "core/exec/rank_program.hpp"
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

// One call of one rank.
class OneCall : public RankProgram {
 public:
  OneCall(Communicator& communicator, CollectiveCall call)
      : communicator_(communicator), call_(std::move(call)) {}
  size_t stage_count() const override { return 1; }
  Status begin(size_t) override { return communicator_.post(call_); }
  Status end(size_t) override { return communicator_.wait(); }
  const Tensor& received() const { return call_.receive; }

 private:
  Communicator& communicator_;
  CollectiveCall call_;
};

constexpr int64_t kRanks = 3;
constexpr Collective kCollectives[] = {Collective::kAllGather, Collective::kReduceScatter,
                                       Collective::kAllReduce, Collective::kAllToAll,
                                       Collective::kBroadcast};

// Two elements for each member, of i32.
CollectiveCall call_of(Collective kind, int64_t rank) {
  const bool to_each = kind == Collective::kAllToAll || kind == Collective::kReduceScatter;
  const bool of_each = kind == Collective::kAllToAll || kind == Collective::kAllGather;
  const bool reduces = kind == Collective::kAllReduce || kind == Collective::kReduceScatter;
  CollectiveCall call;
  call.kind = kind;
  call.mesh_dims = 1;
  call.reduction = reduces ? "sum" : "";
  call.send = ramp(DType::kI32, {2 * kRanks}, 10 * rank);
  call.receive = Tensor::zeros(DType::kI32, {2 * kRanks});
  for (int64_t other = 0; other < kRanks; ++other) {
    if (to_each || other == 0) call.sends.push_back({2 * other, 2});
    if (of_each || other == 0) call.receives.push_back({2 * other, 2});
  }
  if (kind == Collective::kBroadcast && rank != 0) call.sends.clear();
  return call;
}

// What the ranks received, or why they did not; one of them may call something else than the
// others.
std::string outcome(Collective kind, std::string_view fault, bool has_threads,
                    bool is_called_otherwise = false) {
  SimOptions options;
  options.has_threads = has_threads;
  options.deadline = std::chrono::milliseconds(2000);
  if (!fault.empty()) options.fault = *Fault::parse(fault);
  SimWorld world(Mesh::line(kRanks), options);
  std::vector<std::unique_ptr<OneCall>> calls;
  std::vector<RankProgram*> programs;
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    CollectiveCall call = call_of(kind, rank);
    if (is_called_otherwise && rank == 1) {
      call.send = ramp(DType::kF32, {2 * kRanks});
      call.receive = Tensor::zeros(DType::kF32, {2 * kRanks});
    }
    calls.push_back(std::make_unique<OneCall>(world.communicator(rank), std::move(call)));
    programs.push_back(calls.back().get());
  }
  if (Status status = run_ranks(world, programs); !status.ok())
    return std::string(message_of(status));
  std::string all;
  for (const std::unique_ptr<OneCall>& call : calls) all += elements_text(call->received());
  return all;
}

// Late bytes are right, wrong ones are seen, a rank that does not come is named, and so is one that
// calls something else; whatever the collective.
TEST(Fault, EveryKindInEveryCollective) {
  for (const Collective kind : kCollectives) {
    for (const bool has_threads : {false, true}) {
      const std::string_view name = collective_name(kind);
      SCOPED_TRACE(fmt::format("{}{}", name, has_threads ? ", threads" : ""));
      const std::string right = outcome(kind, "", has_threads);
      ASSERT_EQ(right[0], '[');
      EXPECT_EQ(outcome(kind, "delay@1:1:5", has_threads), right);
      const std::string corrupt = outcome(kind, "corrupt@1:1", has_threads);
      EXPECT_EQ(corrupt[0], '[');
      EXPECT_NE(corrupt, right);
      for (const std::string_view silence : {"stop@2:1", "kill@2:1"}) {
        const std::string told = outcome(kind, silence, has_threads);
        EXPECT_NE(told.find("rank 2 at [2]"), std::string::npos) << told;
        const std::string_view where = has_threads ? "at its call 1, as the fault has it" : name;
        EXPECT_NE(told.find(where), std::string::npos) << told;
      }
      const std::string differs = outcome(kind, "", has_threads, true);
      EXPECT_NE(differs.find("do not agree on the dtype: rank 0 at [0] has i32, rank 1"),
                std::string::npos)
          << differs;
    }
  }
}

}  // namespace
}  // namespace onedim
