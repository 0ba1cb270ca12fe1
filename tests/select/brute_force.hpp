#pragma once
// Selection by trying everything: every product of rules over mesh dims, every cutting order that
// stands in the layouts at hand, every input planned by itself. It shares with the selector what a
// valid strategy is, and what a move costs; nothing of the search.

#include <optional>

#include "core/redistribute/planner.hpp"
#include "core/select/select_request.hpp"
#include "core/select/strategy.hpp"

namespace onedim {

struct BruteForceBest {
  Strategy strategy;
  int64_t ps = 0;
  int64_t collectives = 0;
  int64_t bytes = 0;
  int64_t moved = 0;
  int64_t tried = 0;
};

// Nothing if no strategy is valid. `outputs` are the call's.
std::optional<BruteForceBest> brute_force(const SelectRequest& request,
                                          std::span<const OptionalOutput> outputs,
                                          const Registry& registry, Planner& planner);

}  // namespace onedim
