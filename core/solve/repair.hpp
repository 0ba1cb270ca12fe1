#pragma once
// Repair: a first solution where memory is so tight that a dive ends in contradictions. It starts
// from a solution without the limit, memory only priced, and then lowers what is held at the times
// at which too much is, part by part, never letting another time get worse than it may be.

#include <optional>

#include "core/solve/core_network.hpp"
#include "core/solve/stop_time.hpp"

namespace onedim {

struct RepairResult {
  std::optional<std::vector<int>> values;
  int64_t effort = 0;
};

// `prices` by point in time. The same `seed` gives the same result.
RepairResult repair(const CoreNetwork& core, const std::vector<double>& prices, uint64_t seed,
                    int64_t most_effort, const StopTime& stop);

}  // namespace onedim
