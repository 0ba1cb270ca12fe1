// What a plan's collective adds to the bare call of MPI: both in turns, on float buffers of one
// size, contiguous and even. To be started by mpirun: exec_mpi_bench [PAIRS]. `bytes` as
// collective.hpp counts them; times are rank 0's, in us, medians; a ratio of 1.1 is 10 % more.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/exec/mpi_world.hpp"

namespace onedim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kSmallest = 64 << 10;
constexpr int64_t kLargest = 16 << 20;
constexpr int64_t kGrowth = 4;

// One collective over all ranks, as a call of onedim and as one of MPI.
struct Pair {
  std::unique_ptr<PlanStep> step;  // that the call belongs to
  CollectiveCall call;
  int count = 0;  // floats of a share, or of all where nothing is shared
  int64_t bytes = 0;

  int bare() {
    const auto* const from = reinterpret_cast<const float*>(call.send.data());
    auto* const to = reinterpret_cast<float*>(call.receive.data());
    switch (call.kind) {
      case Collective::kAllGather:
        return MPI_Allgather(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
      case Collective::kAllToAll:
        return MPI_Alltoall(from, count, MPI_FLOAT, to, count, MPI_FLOAT, MPI_COMM_WORLD);
      case Collective::kReduceScatter:
        return MPI_Reduce_scatter_block(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      case Collective::kAllReduce:
        return MPI_Allreduce(from, to, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      case Collective::kBroadcast:
        return MPI_Bcast(to, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    }
    return MPI_SUCCESS;
  }
};

Pair make_pair(Collective kind, int64_t bytes, const MpiWorld& world) {
  const int64_t ranks = world.mesh().rank_count();
  const int64_t share = bytes / static_cast<int64_t>(sizeof(float)) / ranks, all = share * ranks;
  std::vector<Piece> shares;
  for (int64_t rank = 0; rank < ranks; ++rank) shares.push_back({rank * share, share});
  const bool to_each = kind == Collective::kAllToAll || kind == Collective::kReduceScatter;
  const bool of_each = kind == Collective::kAllToAll || kind == Collective::kAllGather;
  const bool is_whole = kind == Collective::kAllReduce || kind == Collective::kBroadcast;
  Pair pair;
  pair.count = static_cast<int>(is_whole ? all : share);
  pair.bytes = all * static_cast<int64_t>(sizeof(float));
  pair.step = std::make_unique<PlanStep>();
  pair.step->from = pair.step->to = Layout::replicated(1);
  CollectiveCall& call = pair.call;
  call.step = pair.step.get();
  call.subject = "mm, input 0";
  call.kind = kind;
  call.mesh_dims = 1;
  call.send = Tensor::zeros(DType::kF32, {kind == Collective::kAllGather ? share : all});
  call.receive = Tensor::zeros(DType::kF32, {kind == Collective::kReduceScatter ? share : all});
  call.sends = to_each ? shares : std::vector<Piece>{{0, call.send.element_count()}};
  call.receives = of_each ? shares : std::vector<Piece>{{0, call.receive.element_count()}};
  if (kind == Collective::kBroadcast && world.rank() != 0) call.sends.clear();
  if (kind == Collective::kReduceScatter || kind == Collective::kAllReduce) call.reduction = "sum";
  return pair;
}

template <typename Run>
double time_us(Run run) {
  MPI_Barrier(MPI_COMM_WORLD);
  const auto begin = Clock::now();
  run();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

Status measure(Collective kind, MpiWorld& world, int pairs) {
  for (int64_t bytes = kSmallest; bytes <= kLargest; bytes *= kGrowth) {
    Pair pair = make_pair(kind, bytes, world);
    std::vector<double> bare, ours;
    Status status;
    for (int i = 0; i < pairs; ++i) {
      bare.push_back(time_us([&] { pair.bare(); }));
      ours.push_back(time_us([&] {
        status.Update(world.communicator().post(pair.call));
        if (status.ok()) status.Update(world.communicator().wait());
      }));
      if (!status.ok()) return status;
    }
    const double bare_us = median(bare), ours_us = median(ours);
    if (world.rank() != 0) continue;
    std::fflush(stdout);
    std::printf("%-15s %10lld  %10.1f  %10.1f  %5.2f\n", std::string(collective_name(kind)).c_str(),
                static_cast<long long>(pair.bytes), bare_us, ours_us, ours_us / bare_us);
  }
  return {};
}

Status run(int64_t ranks, int pairs) {
  const auto tell = [](std::string_view why, const std::string&) {
    std::fprintf(stderr, "%s\n", std::string(why).c_str());
  };
  Result<std::unique_ptr<MpiWorld>> world = MpiWorld::start(Mesh::line(ranks), {}, tell);
  if (!world.ok()) return world.status();
  if (Status status = (*world)->load({}, {1}); !status.ok()) return status;
  if ((*world)->rank() == 0)
    std::printf("%-15s %10s  %10s  %10s  %5s\n", "collective", "bytes", "MPI us", "onedim us",
                "ratio");
  for (int kind = 0; kind < kCollectiveCount; ++kind) {
    Status status = measure(static_cast<Collective>(kind), **world, pairs);
    if (!status.ok()) return status;
  }
  return (*world)->finish(0).status();
}

}  // namespace
}  // namespace onedim

int main(int argc, char** argv) {
  const char* const ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (ranks == nullptr) {
    std::fputs("exec_mpi_bench: start it by mpirun -n N exec_mpi_bench [PAIRS]\n", stderr);
    return 2;
  }
  const onedim::Status status = onedim::run(std::atoll(ranks), argc > 1 ? std::atoi(argv[1]) : 200);
  if (status.ok()) return 0;
  std::fprintf(stderr, "exec_mpi_bench: %s\n", std::string(onedim::message_of(status)).c_str());
  std::_Exit(3);
}
