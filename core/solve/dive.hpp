#pragma once
// Dive: a first solution for a core network, from a dual bound. Round by round the nodes whose
// cheapest value leads by most are fixed to it, a share of them at a time; sweeps and pruning carry
// the consequences on. A round that ends in a contradiction is taken back, and half as many are
// fixed; a single node that cannot have its value loses it.

#include <optional>

#include "core/solve/dual_bound.hpp"
#include "core/solve/stop_time.hpp"

namespace onedim {

struct DiveResult {
  std::optional<std::vector<int>> values;
  int64_t effort = 0;
};

// Solutions that cost `cutoff` or more are not looked for.
DiveResult dive(const CoreNetwork& core, DualBound dual, Cost cutoff, int64_t most_effort,
                const StopTime& stop = {});

}  // namespace onedim
