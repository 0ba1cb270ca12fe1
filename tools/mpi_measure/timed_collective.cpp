#include "tools/mpi_measure/timed_collective.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>

namespace onedim {
namespace {

constexpr double kLeastUsOfATime = 100;   // many steps of the clock
constexpr double kMostUsOfAMedian = 4e5;  // calls that take long are repeated less
constexpr int kMostCalls = 200;
constexpr int kLeastRepeats = 5;
constexpr int kWarmUpCalls = 3;

constexpr int64_t kPeriod = 16;
constexpr float kPoison = -1;

// What rank `rank` puts at `index` of a whole tensor: small numbers, whose sums are exact.
float value_at(int64_t rank, int64_t index) {
  return static_cast<float>((7 * index + 3 * rank) % kPeriod);
}

float sum_at(int ranks, int64_t index) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += value_at(rank, index % kPeriod);
  return sum;
}

}  // namespace

int64_t TimedCollective::bytes_a_share() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return int64_t{ranks} * static_cast<int64_t>(sizeof(float));
}

TimedCollective::TimedCollective(Collective collective, int64_t bytes, bool in_place)
    : collective_(collective), in_place_(in_place || collective == Collective::kBroadcast) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  count_ = bytes / static_cast<int64_t>(sizeof(float));
  share_ = static_cast<int>(count_ / ranks_);
  input_.assign(in_place_ ? 0 : static_cast<size_t>(count_), 0);
  output_.assign(static_cast<size_t>(count_), 0);
}

// All-gather's input is this rank's part, the others' is a whole tensor.
void TimedCollective::fill() {
  std::fill(output_.begin(), output_.end(), kPoison);
  const bool has_share = collective_ == Collective::kAllGather;
  const int64_t first = has_share ? int64_t{rank_} * share_ : 0;
  std::vector<float>& buffer = in_place_ ? output_ : input_;
  const int64_t begin = has_share && in_place_ ? first : 0;
  if (collective_ == Collective::kBroadcast && rank_ != 0) return;
  for (int64_t i = 0; i < (has_share ? share_ : count_); ++i)
    buffer[static_cast<size_t>(begin + i)] = value_at(rank_, first + i);
}

void TimedCollective::call() {
  const void* from = in_place_ ? MPI_IN_PLACE : input_.data();
  const int count = static_cast<int>(count_);
  switch (collective_) {
    case Collective::kAllGather:
      MPI_Allgather(from, share_, MPI_FLOAT, output_.data(), share_, MPI_FLOAT, MPI_COMM_WORLD);
      return;
    case Collective::kReduceScatter:
      MPI_Reduce_scatter_block(from, output_.data(), share_, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      return;
    case Collective::kAllReduce:
      MPI_Allreduce(from, output_.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      return;
    case Collective::kAllToAll:
      MPI_Alltoall(from, share_, MPI_FLOAT, output_.data(), share_, MPI_FLOAT, MPI_COMM_WORLD);
      return;
    case Collective::kBroadcast:
      MPI_Bcast(output_.data(), count, MPI_FLOAT, 0, MPI_COMM_WORLD);
      return;
  }
}

int64_t TimedCollective::output_count() const {
  return collective_ == Collective::kReduceScatter ? share_ : count_;
}

float TimedCollective::expected(int64_t index) const {
  switch (collective_) {
    case Collective::kAllGather:
      return value_at(index / share_, index);
    case Collective::kReduceScatter:
      return sum_at(ranks_, int64_t{rank_} * share_ + index);
    case Collective::kAllReduce:
      return sum_at(ranks_, index);
    case Collective::kAllToAll:
      return value_at(index / share_, int64_t{rank_} * share_ + index % share_);
    case Collective::kBroadcast:
      return value_at(0, index);
  }
  return kPoison;
}

int64_t TimedCollective::wrong_values() {
  fill();
  call();
  int64_t wrong = 0;
  for (int64_t i = 0; i < output_count(); ++i)
    wrong += output_[static_cast<size_t>(i)] != expected(i) ? 1 : 0;
  int64_t all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all_wrong;
}

double TimedCollective::us_of(int calls) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < calls; ++i) call();
  const double own = (MPI_Wtime() - begin) * 1e6 / calls;
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

double TimedCollective::median_us(int repeats) {
  fill();
  us_of(kWarmUpCalls);
  const double about = std::max(us_of(kWarmUpCalls), 0.01);  // alike on all ranks, and so is this:
  const int calls =
      static_cast<int>(std::clamp(std::ceil(kLeastUsOfATime / about), 1.0, double{kMostCalls}));
  const double fitting = kMostUsOfAMedian / (about * calls);
  const int times = std::min(repeats, std::max(kLeastRepeats, static_cast<int>(fitting)));
  std::vector<double> us;
  for (int i = 0; i < times; ++i) us.push_back(us_of(calls));
  std::nth_element(us.begin(), us.begin() + times / 2, us.end());
  return us[static_cast<size_t>(times / 2)];
}

}  // namespace onedim
