#include "core/exec/sim_world.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/exec/moved.hpp"

namespace onedim {
namespace {

CollectiveCall all_reduce(const Tensor& send, const Tensor& receive, std::string_view kind) {
  CollectiveCall call;
  call.kind = Collective::kAllReduce;
  call.mesh_dims = 1;
  call.send = send;
  call.receive = receive;
  call.sends = {{0, send.element_count()}};
  call.receives = {{0, receive.element_count()}};
  call.reduction = kind;
  return call;
}

// One call a rank, all in step; the first status that is not OK.
Status run_all(SimWorld& world, const std::vector<CollectiveCall>& calls) {
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    Status status = world.communicator(static_cast<int64_t>(rank)).post(calls[rank]);
    if (!status.ok()) return status;
  }
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    Status status = world.communicator(static_cast<int64_t>(rank)).wait();
    if (!status.ok()) return status;
  }
  return {};
}

Tensor empty(DType dtype, int64_t count) { return Tensor::zeros(dtype, {count}); }

TEST(SimWorld, ReducesEveryDTypeByEveryLegalKind) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const char* kind : {"sum", "max", "min", "product"}) {
      if (!is_legal_partial(kind, dtype)) continue;
      SimWorld world(Mesh::line(2));
      std::vector<CollectiveCall> calls = {all_reduce(ramp(dtype, {2}, 1), empty(dtype, 2), kind),
                                           all_reduce(ramp(dtype, {2}, 1), empty(dtype, 2), kind)};
      const Status status = run_all(world, calls);
      ASSERT_TRUE(status.ok()) << name_of(dtype) << kind << status;
      const std::complex<double> one =
          load_complex(dtype, calls[1].receive.element(0));  // of 1 and 1
      const bool adds = std::string_view(kind) == "sum";
      EXPECT_EQ(one.real(), adds ? 2 : 1) << name_of(dtype) << kind;
    }
  }
}

TEST(SimWorld, MaxPropagatesNaNAndOrdersZeros) {
  const auto with = [](double a, double b) {
    Tensor tensor = empty(DType::kBF16, 2);
    store_real(DType::kBF16, tensor.element(0), a);
    store_real(DType::kBF16, tensor.element(1), b);
    return tensor;
  };
  SimWorld world(Mesh::line(2));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<CollectiveCall> calls = {all_reduce(with(nan, -0.0), empty(DType::kBF16, 2), "max"),
                                       all_reduce(with(1, 0.0), empty(DType::kBF16, 2), "max")};
  ASSERT_TRUE(run_all(world, calls).ok());
  EXPECT_TRUE(std::isnan(load_real(DType::kBF16, calls[0].receive.element(0))));
  EXPECT_FALSE(std::signbit(load_real(DType::kBF16, calls[0].receive.element(1))));
}

// A ring over a fused team of two mesh dims, and a root told by its place.
TEST(SimWorld, PermutesAndBroadcasts) {
  const Mesh mesh = *Mesh::parse("a=2,b=3");
  SimWorld world(mesh);
  std::vector<CollectiveCall> ring, tree;
  for (int64_t rank = 0; rank < 6; ++rank) {
    ring.push_back(make_permutation(3, ramp(DType::kI64, {2}, 10 * rank), (rank + 1) % 6,
                                    empty(DType::kI64, 2), (rank + 5) % 6, 6));
    CollectiveCall call;
    call.kind = Collective::kBroadcast;
    call.mesh_dims = 2;
    call.root = 2;
    call.send = ramp(DType::kI64, {3}, 100 * rank);
    call.receive = empty(DType::kI64, 3);
    if (rank % 3 == 2) call.sends = {{0, 3}};
    call.receives = {{0, 3}};
    tree.push_back(std::move(call));
  }
  ASSERT_TRUE(run_all(world, ring).ok());
  EXPECT_EQ(elements_text(ring[0].receive), "[50,51]");
  EXPECT_EQ(elements_text(ring[4].receive), "[30,31]");
  ASSERT_TRUE(run_all(world, tree).ok());
  EXPECT_EQ(elements_text(tree[0].receive), "[200,201,202]");
  EXPECT_EQ(elements_text(tree[4].receive), "[500,501,502]");
}

// Counts (source + target) % 3, zeros among them.
TEST(SimWorld, ExchangesUnevenPieces) {
  SimWorld world(Mesh::line(3));
  std::vector<CollectiveCall> calls;
  for (int64_t rank = 0; rank < 3; ++rank) {
    CollectiveCall call;
    call.kind = Collective::kAllToAll;
    call.mesh_dims = 1;
    int64_t sent = 0, gotten = 0;
    for (int64_t other = 0; other < 3; ++other) {
      const int64_t count = (rank + other) % 3;
      call.sends.push_back({sent, count});
      call.receives.push_back({gotten, count});
      sent += count, gotten += count;
    }
    call.send = ramp(DType::kU8, {sent}, 10 * rank);
    call.receive = empty(DType::kU8, gotten);
    calls.push_back(std::move(call));
  }
  ASSERT_TRUE(run_all(world, calls).ok());
  EXPECT_EQ(elements_text(calls[0].receive), "[10,20,21]");
  EXPECT_EQ(elements_text(calls[1].receive), "[0,11,12]");
}

TEST(SimWorld, BuffersOfDifferentSizesAreNamed) {
  SimWorld world(*Mesh::parse("tp=2"));
  std::vector<CollectiveCall> calls = {
      all_reduce(empty(DType::kF32, 8), empty(DType::kF32, 8), "sum"),
      all_reduce(empty(DType::kF32, 6), empty(DType::kF32, 6), "sum")};
  calls[0].subject = calls[1].subject = "mm, output 0";
  EXPECT_EQ(message_of(run_all(world, calls)),
            "mm, output 0: all_reduce over tp: buffers differ in size: rank 0 at [0] gives 8 "
            "elements of f32 to rank 1 at [1], which expects 6");
}

TEST(SimWorld, WhatRanksDoNotAgreeOnIsNamed) {
  const auto told = [](CollectiveCall other) {
    SimWorld world(*Mesh::parse("tp=2"));
    return std::string(message_of(
        run_all(world, {all_reduce(empty(DType::kF32, 2), empty(DType::kF32, 2), "sum"), other})));
  };
  EXPECT_EQ(told(all_reduce(empty(DType::kI32, 2), empty(DType::kI32, 2), "sum")),
            "all_reduce over tp: the ranks do not agree on the dtype: rank 0 at [0] has f32, rank "
            "1 at [1] has i32");
  EXPECT_EQ(told(all_reduce(empty(DType::kF32, 2), empty(DType::kF32, 2), "max")),
            "all_reduce over tp: the ranks do not agree on the reduction: rank 0 at [0] has sum, "
            "rank 1 at [1] has max");
  CollectiveCall gather;
  gather.mesh_dims = 1;
  gather.send = empty(DType::kF32, 1);
  gather.receive = empty(DType::kF32, 2);
  gather.sends = {{0, 1}};
  gather.receives = {{0, 1}, {1, 1}};
  EXPECT_EQ(told(gather),
            "the ranks do not agree: rank 0 at [0] calls all_reduce over tp, rank 1 at [1] calls "
            "all_gather over tp");
}

TEST(SimWorld, CallsThatAreNotWholeAreRefused) {
  SimWorld world(*Mesh::parse("tp=2"));
  const Tensor buffer = empty(DType::kF32, 4);
  EXPECT_EQ(message_of(world.communicator(1).post(all_reduce(buffer, buffer, "sum"))),
            "all_reduce over tp, rank 1 at [1]: its two buffers overlap");
  CollectiveCall far = all_reduce(buffer, empty(DType::kF32, 4), "sum");
  far.receives = {{2, 4}};
  EXPECT_EQ(message_of(world.communicator(0).post(far)),
            "all_reduce over tp, rank 0 at [0]: the piece to get of 4 elements at 2 lies outside "
            "of a buffer of 4");
  EXPECT_EQ(message_of(world.communicator(0).post(
                all_reduce(empty(DType::kBool, 4), empty(DType::kBool, 4), "sum"))),
            "all_reduce over tp, rank 0 at [0]: it reduces bool by sum, which is not built in for "
            "this dtype");
  CollectiveCall nowhere = all_reduce(buffer, empty(DType::kF32, 4), "sum");
  nowhere.mesh_dims = 2;
  EXPECT_EQ(message_of(world.communicator(0).post(nowhere)),
            "rank 0 at [0]: a collective needs mesh dims of tp=2");
}

// In step nothing can hang: who is missing is known at the first wait.
TEST(SimWorld, AMissingRankIsNamed) {
  SimWorld world(*Mesh::parse("tp=3"));
  const CollectiveCall call = all_reduce(empty(DType::kF32, 1), empty(DType::kF32, 1), "sum");
  ASSERT_TRUE(world.communicator(2).post(call).ok());
  EXPECT_EQ(message_of(world.communicator(2).wait()),
            "rank 2 at [2] waits in all_reduce over tp; not there: rank 0 at [0], rank 1 at [1]");
}

// Ranks 0 and 3 call over x and then y, the others over y and then x: with threads the deadline
// ends it.
TEST(SimWorld, OrdersThatCrossEndAtTheDeadline) {
  SimOptions options;
  options.has_threads = true;
  options.deadline = std::chrono::milliseconds(100);
  SimWorld world(*Mesh::parse("x=2,y=2"), options);
  std::vector<Status> statuses(4);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      for (const MeshDimSet dims :
           rank == 1 || rank == 2 ? std::array{2u, 1u} : std::array{1u, 2u}) {
        CollectiveCall call = all_reduce(empty(DType::kF32, 1), empty(DType::kF32, 1), "sum");
        call.mesh_dims = dims;
        Communicator& communicator = world.communicator(rank);
        Status status = communicator.post(call);
        if (status.ok()) status = communicator.wait();
        if (!status.ok()) {
          statuses[static_cast<size_t>(rank)] = status;
          // What is in flight must stay.
          std::this_thread::sleep_for(std::chrono::milliseconds(300));
          return;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(absl::IsDeadlineExceeded(statuses[1]));
  EXPECT_EQ(message_of(statuses[3]),
            "rank 3 at [1,1] waits in all_reduce over x; not there: rank 1 at [0,1], last in "
            "all_reduce over y");
}

TEST(SimWorld, AnAbortEndsAllWaits) {
  SimOptions options;
  options.has_threads = true;
  SimWorld world(*Mesh::parse("tp=2"), options);
  const CollectiveCall call = all_reduce(empty(DType::kF32, 1), empty(DType::kF32, 1), "sum");
  Status status;
  std::thread waits([&] {
    status = world.communicator(0).post(call);
    if (status.ok()) status = world.communicator(0).wait();
  });
  world.abort(absl::AbortedError("rank 1 gave up"));
  waits.join();
  EXPECT_EQ(message_of(status), "rank 1 gave up");
}

}  // namespace
}  // namespace onedim
