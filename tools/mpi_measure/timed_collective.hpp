#pragma once
// TimedCollective: one collective of MPI over all ranks, on floats, that checks its results and
// times itself. Every rank makes the same object and calls the same methods, between the start of
// MPI and its end.

#include <vector>

#include "core/cost/collective.hpp"

namespace onedim {

class TimedCollective {
 public:
  // `bytes` as collective.hpp counts them, a multiple of what bytes_a_share gives. In place: the
  // output's buffer holds the input; broadcast always is.
  TimedCollective(Collective collective, int64_t bytes, bool in_place);

  // One float for each rank.
  static int64_t bytes_a_share();

  // Runs once; how many values of all ranks' outputs are not what they should be.
  int64_t wrong_values();
  // us of one call: the median of `repeats` times, fewer where calls take long. A time is the
  // slowest rank's, a mean over calls in a row where they are shorter than the clock's steps.
  double median_us(int repeats);

 private:
  void fill();
  void call();
  float expected(int64_t index) const;  // of this rank's output
  int64_t output_count() const;
  // The slowest rank's mean over `calls` calls that begin together.
  double us_of(int calls);

  Collective collective_;
  bool in_place_;
  int rank_ = 0, ranks_ = 1;
  int64_t count_ = 0;  // floats of the larger buffer
  int share_ = 0;      // floats of one rank's part
  std::vector<float> input_, output_;
};

}  // namespace onedim
