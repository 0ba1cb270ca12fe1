// onedim-mpi-measure: times the collectives of MPI over all ranks that mpirun started, and prints
// them as nccl-tests does, which `onedim calibrate` reads. Times are medians; results are checked.
// `onedim calibrate --mpi N` runs it; alone: mpirun -n 4 onedim-mpi-measure > run.txt

#include <mpi.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "tools/mpi_measure/last_line.hpp"
#include "tools/mpi_measure/orphan_watch.hpp"
#include "tools/mpi_measure/timed_collective.hpp"

namespace onedim {
namespace {

struct MeasureFlags {
  int64_t largest = 16 << 20;
  int repeats = 21;
  unsigned deadline = 0;  // 0: none
};

constexpr int64_t kSmallest = 64;
constexpr int64_t kGrowth = 4;
constexpr int64_t kMostBytes = int64_t{1} << 32;  // MPI counts floats by int
constexpr unsigned kGraceSeconds = 5;  // for what is being measured as the deadline comes

// A rank as rank 0 lists it.
struct Host {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int pid = 0;
};

void print_ranks(int rank, int ranks) {
  Host own;
  int length = 0;
  MPI_Get_processor_name(own.name.data(), &length);
  own.pid = static_cast<int>(::getpid());
  std::vector<Host> hosts(static_cast<size_t>(ranks));
  MPI_Gather(&own, sizeof(own), MPI_BYTE, hosts.data(), sizeof(own), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::puts("# Using devices");
  for (int i = 0; i < ranks; ++i) {
    const Host& host = hosts[static_cast<size_t>(i)];
    std::printf("#  Rank %2d Group  0 Pid %6d on %10s device %2d [cpu]\n", i, host.pid,
                host.name.data(), i);
  }
}

// What nccl-tests calls the collective, and the share of the bytes that its bus bandwidth counts.
std::string program_name(Collective collective) {
  if (collective == Collective::kAllToAll) return "alltoall_perf";
  return std::string(collective_name(collective)) + "_perf";
}

double bus_share(Collective collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (collective == Collective::kBroadcast) return 1;
  return collective == Collective::kAllReduce ? 2 * others : others;
}

void print_titles(Collective collective) {
  std::printf("# Collective test starting: %s\n", program_name(collective).c_str());
  std::printf("# %10s %12s %8s %6s %6s", "size", "count", "type", "redop", "root");
  for (int i = 0; i < 2; ++i) std::printf(" %10s %7s %7s %6s", "time", "algbw", "busbw", "#wrong");
  std::puts("");
}

// Whether the deadline has come for any rank; all are told the same.
bool is_late(double begin, unsigned deadline) {
  int late = deadline > 0 && MPI_Wtime() - begin > deadline ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &late, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return late != 0;
}

// One line: out of place, then in place.
void measure_size(Collective collective, int rank, int ranks, int64_t bytes, int repeats) {
  const bool reduces =
      collective == Collective::kReduceScatter || collective == Collective::kAllReduce;
  if (rank == 0) {
    std::printf("  %10lld %12lld %8s %6s %6d", static_cast<long long>(bytes),
                static_cast<long long>(bytes / 4), "float", reduces ? "sum" : "none",
                collective == Collective::kBroadcast ? 0 : -1);
  }
  for (const bool in_place : {false, true}) {
    TimedCollective timed(collective, bytes, in_place);
    const int64_t wrong = timed.wrong_values();
    const double us = timed.median_us(repeats);
    const double gbs = static_cast<double>(bytes) / us * 1e-3;
    if (rank != 0) continue;
    std::printf(" %10.3f %7.3f %7.3f %6lld", us, gbs, gbs * bus_share(collective, ranks),
                static_cast<long long>(wrong));
  }
  if (rank != 0) return;
  std::puts("");
  std::fflush(stdout);
}

// False if the deadline came first.
bool measure_collective(Collective collective, int rank, int ranks, double begin,
                        const MeasureFlags& flags) {
  const int64_t step = TimedCollective::bytes_a_share();
  if (rank == 0) print_titles(collective);
  for (int64_t size = kSmallest; size <= flags.largest; size *= kGrowth) {
    if (is_late(begin, flags.deadline)) return false;
    const int64_t bytes = (size + step - 1) / step * step;
    measure_size(collective, rank, ranks, bytes, flags.repeats);
  }
  return true;
}

int measure(const MeasureFlags& flags) {
  const double begin = MPI_Wtime();
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    std::fputs("onedim-mpi-measure: one rank alone; run it by mpirun -n N, N 2 or more\n", stderr);
    return 2;
  }
  print_ranks(rank, ranks);
  bool is_done = true;
  for (int i = 0; is_done && i < kCollectiveCount; ++i)
    is_done = measure_collective(static_cast<Collective>(i), rank, ranks, begin, flags);
  if (rank == 0) std::puts(is_done ? kMeasurementsDone : kMeasurementsLate);
  return 0;
}

int run_program(int argc, char** argv) {
  MeasureFlags flags;
  CLI::App app("Times the collectives of MPI and prints them as nccl-tests does",
               "onedim-mpi-measure");
  app.add_option("--largest", flags.largest, "Largest message in bytes")
      ->check(CLI::Range(kSmallest, kMostBytes))
      ->capture_default_str();
  app.add_option("--repeats", flags.repeats, "Times that a median is taken of, at most")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--deadline", flags.deadline, "Seconds that all may take (0: any)")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  end_with_parent(flags.deadline > 0 ? flags.deadline + kGraceSeconds : 0);
  MPI_Init(&argc, &argv);
  const int code = measure(flags);
  MPI_Finalize();
  return code;
}

}  // namespace
}  // namespace onedim

int main(int argc, char** argv) {
  try {
    return onedim::run_program(argc, argv);
  } catch (const std::exception& error) {
    // Without MPI_Finalize mpirun ends the other ranks, which would wait for this one.
    std::fprintf(stderr, "onedim-mpi-measure: %s\n", error.what());
    return 3;
  }
}
