#pragma once
// Solver: a cheap assignment of a cost network, with a proof of how cheap one can be.
//
// The network is reduced, and what is left is worked on in epochs of counted work. In each, side by
// side, one task raises the lower bound (message passing and prices of memory, then branch and
// bound) and the other looks for better solutions (a dive, then neighbourhood search); they tell
// each other at the end of the epoch, so what comes out does not depend on threads or time. Values
// that the bound rules out go, and the network is reduced again.

#include <optional>

#include "core/base/status.hpp"
#include "core/solve/stop_time.hpp"
#include "core/solve/wide_cost.hpp"

namespace onedim {

struct SolveOptions {
  int64_t effort = 20'000'000'000;  // cells looked at, after which no second epoch starts
  StopTime stop;                    // ends the work at once; what the last epoch did is lost
  int threads = 2;                  // 1 or 2
  uint64_t seed = 1;
};

enum class SolveState {
  kOptimal,     // the assignment is a cheapest one
  kFeasible,    // it is within the limit; cheaper ones may exist
  kInfeasible,  // there is none
  kUnknown,     // none was found, and none was excluded
};

struct NetworkSolution {
  SolveState state = SolveState::kUnknown;
  Assignment assignment;     // empty unless optimal or feasible
  WideCost cost = 0;         // of it
  WideCost lower_bound = 0;  // no assignment within the limit costs less
  int64_t effort = 0;        // as an option, reproduces this solution
  bool was_stopped = false;  // by the time
};

// Errors: costs or bytes beyond exact arithmetic. `network` must pass check_network.
Result<NetworkSolution> solve(const CostNetwork& network, const SolveOptions& options);

}  // namespace onedim
