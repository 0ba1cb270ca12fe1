#pragma once
// Solving flags: how long the solver works, with one meaning and one help text for all commands
// that solve a cost network.

#include <CLI/App.hpp>
#include <string>

#include "core/solve/solver.hpp"

namespace onedim {

struct SolvingFlags {
  std::string time_limit;
  int64_t effort = 0;  // 0: the default, or no end where the time is limited
  int threads = 2;
  uint64_t seed = 1;

  void add_to(CLI::App& command);
  // The time counts from `start`; its last hundredth is for what follows the solver.
  Result<SolveOptions> options(std::chrono::steady_clock::time_point start) const;
};

}  // namespace onedim
