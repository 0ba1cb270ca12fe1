#include "core/exec/control_channel.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "core/tensor/tensor.hpp"

namespace onedim {
namespace {

// A thread a rank, each with a channel of its own, as processes have; what each came to.
class Ranks : public testing::Test {
 protected:
  using Body = std::function<Status(ControlChannel&)>;

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "onedim-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<Status> run(std::string_view mesh_text, const Body& body, int deadline_ms = 10000) {
    const Mesh mesh = *Mesh::parse(mesh_text);
    std::vector<Status> statuses(static_cast<size_t>(mesh.rank_count()));
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < statuses.size(); ++rank) {
      threads.emplace_back([&, rank] {
        auto channel =
            ControlChannel::open(mesh, static_cast<int64_t>(rank),
                                 {folder_.string(), std::chrono::milliseconds(deadline_ms)});
        statuses[rank] = channel.ok() ? body(**channel) : channel.status();
        if (!channel.ok()) return;
        if (statuses[rank].ok())
          (*channel)->end();
        else
          (*channel)->fail(message_of(statuses[rank]));
      });
    }
    for (std::thread& thread : threads) thread.join();
    return statuses;
  }

  std::filesystem::path folder_;
};

CollectiveCall all_reduce(int64_t count, MeshDimSet mesh_dims = 1,
                          std::string_view subject = "mm, output 0") {
  CollectiveCall call;
  call.kind = Collective::kAllReduce;
  call.mesh_dims = mesh_dims;
  call.send = Tensor::zeros(DType::kF32, {count});
  call.receive = Tensor::zeros(DType::kF32, {count});
  call.sends = call.receives = {{0, count}};
  call.reduction = "sum";
  call.subject = subject;
  return call;
}

Status meet(ControlChannel& channel, const CollectiveCall& call) {
  const Result<uint64_t> number = channel.post(call);
  if (!number.ok()) return number.status();
  const Team team = team_of(channel.mesh(), call.mesh_dims, channel.rank());
  const Result<CallMeeting> meeting = channel.meet(*number, call, team);
  if (meeting.ok()) channel.done(*number);
  return meeting.status();
}

TEST_F(Ranks, MeetInEachCallManyTimesAroundTheRing) {
  const auto statuses = run("a=2,b=2", [](ControlChannel& channel) -> Status {
    for (uint64_t i = 0; i < kFlightCalls + 50; ++i) {
      Status status = meet(channel, all_reduce(4, i % 3 + 1));
      if (!status.ok()) return status;
    }
    return {};
  });
  for (const Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
}

TEST_F(Ranks, TellEachOtherHowFarTheirBuffersReach) {
  const auto statuses = run("a=2", [](ControlChannel& channel) -> Status {
    CollectiveCall call = all_reduce(3);
    if (channel.rank() == 1) call.receive = Tensor::zeros(DType::kF32, {10});
    const Result<uint64_t> number = channel.post(call);
    const auto meeting = channel.meet(*number, call, team_of(channel.mesh(), 1, channel.rank()));
    EXPECT_EQ(meeting->reach, 40);
    return meeting.status();
  });
  EXPECT_TRUE(statuses[0].ok());
}

TEST_F(Ranks, ThatCallOtherSizesGetOneErrorAsOnSim) {
  const auto statuses = run("tp=2", [](ControlChannel& channel) {
    return meet(channel, all_reduce(channel.rank() == 0 ? 8 : 6));
  });
  EXPECT_EQ(message_of(statuses[0]),
            "mm, output 0: all_reduce over tp: buffers differ in size: rank 0 at [0] gives 8 "
            "elements of f32 to rank 1 at [1], which expects 6");
  EXPECT_EQ(statuses[0], statuses[1]);
}

TEST_F(Ranks, OneThatDoesNotComeIsNamedAtTheDeadline) {
  const auto statuses = run(
      "a=2,b=2",
      [](ControlChannel& channel) -> Status {
        if (channel.rank() == 3) {
          std::this_thread::sleep_for(std::chrono::milliseconds(900));
          return {};
        }
        return meet(channel, all_reduce(4, 3));
      },
      300);
  EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[0]));
  const std::string_view told = message_of(statuses[0]);
  EXPECT_TRUE(told.starts_with(
      "rank 3 at [1,1] is behind: it is at work by itself, it has come to no collective; rank 0 at "
      "[0,0] has waited 0."))
      << told;
  EXPECT_TRUE(
      told.ends_with("s for it in mm, output 0: all_reduce over a,b (call 1); 3 of 4 ranks wait"))
      << told;
}

// Rank 0 calls over x and then y, rank 1 over y and then x, in teams of all others.
TEST_F(Ranks, OrdersThatCrossAreTold) {
  const auto statuses = run(
      "x=2,y=2",
      [](ControlChannel& channel) {
        const bool crosses = channel.rank() == 1 || channel.rank() == 2;
        return meet(channel, all_reduce(4, crosses ? 2 : 1));
      },
      300);
  EXPECT_NE(
      message_of(statuses[0]).find("it waits for others, it waits in mm, output 0: all_reduce"),
      std::string_view::npos)
      << statuses[0];
}

TEST_F(Ranks, OneThatFailedByItselfIsNamedAtOnce) {
  const auto statuses = run("a=2", [](ControlChannel& channel) -> Status {
    if (channel.rank() == 1) return absl::InternalError("a kernel gave up");
    return meet(channel, all_reduce(4));
  });
  EXPECT_TRUE(absl::IsUnavailable(statuses[0])) << statuses[0];
  EXPECT_NE(message_of(statuses[0]).find("rank 1 at [1] is behind: it failed: a kernel gave up"),
            std::string_view::npos);
}

TEST_F(Ranks, AgreeOnWhatTheyRunOrAreToldTheFirstDifference) {
  const auto statuses = run("a=3", [](ControlChannel& channel) -> Status {
    RunDescription same;
    same.add("the op", "mm");
    if (Status status = channel.agree(same); !status.ok()) return status;
    RunDescription description = same;
    description.add("the kind custom.k", channel.rank() == 2 ? "revision 2" : "revision 1");
    description.add("the seed", channel.rank() == 0 ? "1" : "2");
    return channel.agree(description);
  });
  EXPECT_EQ(message_of(statuses[0]),
            "the ranks of a=3 do not run the same: the kind custom.k: ranks 0, 1 have revision 1; "
            "rank 2 has revision 2");
  EXPECT_EQ(statuses[0], statuses[1]);
  EXPECT_EQ(statuses[0], statuses[2]);
}

TEST_F(Ranks, OnlyOneTellsTheUser) {
  std::atomic<int> tellers = 0;
  run("a=4", [&](ControlChannel& channel) -> Status {
    tellers += channel.claim_report() ? 1 : 0;
    return {};
  });
  EXPECT_EQ(tellers, 1);
}

TEST_F(Ranks, RecordsTellAfterwards) {
  run("a=2", [](ControlChannel& channel) -> Status {
    if (channel.rank() == 1) return absl::InternalError("a kernel gave up");
    return meet(channel, all_reduce(4));
  });
  const Result<RunRecords> run = read_records(folder_.string());
  ASSERT_TRUE(run.ok()) << run.status();
  const std::string stall = describe_stall(run->mesh, run->records);
  EXPECT_NE(stall.find("rank 1 at [1] is behind: it failed: a kernel gave up"), stall.npos)
      << stall;
  const std::string ranks = describe_ranks(run->mesh, run->records);
  EXPECT_NE(ranks.find("it gave up waiting; 1 calls posted, 0 done; it waits in mm, output 0: "
                       "all_reduce over a (call 1)"),
            ranks.npos)
      << ranks;
}

TEST_F(Ranks, RecordsThatAreDamagedAreRefused) {
  run("a=2", [](ControlChannel&) -> Status { return {}; });
  const std::string file = FlightRecord::file_of(folder_.string(), 1);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 8);
  EXPECT_TRUE(absl::IsFailedPrecondition(read_records(folder_.string()).status()));
  std::filesystem::resize_file(file, 10);
  EXPECT_TRUE(absl::IsFailedPrecondition(read_records(folder_.string()).status()));
  std::filesystem::remove(file);
  const Result<RunRecords> run = read_records(folder_.string());
  ASSERT_TRUE(run.ok());
  EXPECT_NE(describe_ranks(run->mesh, run->records).find("rank 1 at [1]: no flight record\n"),
            std::string::npos);
}

}  // namespace
}  // namespace onedim
