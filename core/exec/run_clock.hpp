#pragma once
// RunClock: microseconds since a run began, one clock for all ranks of a process.

#include <chrono>

namespace onedim {

class RunClock {
 public:
  double us() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace onedim
