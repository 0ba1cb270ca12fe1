#pragma once
// Core state: an assignment of a core network with its cost and the memory it holds.

#include "core/solve/core_network.hpp"

namespace onedim {

// Cost in work units, with the constant; kBlocked if a pair is blocked.
Cost cost_of(const CoreNetwork& core, const std::vector<int>& values);
// Bytes held less the capacity, by point in time; above 0 the limit is exceeded.
std::vector<int64_t> overuse_of(const CoreNetwork& core, const std::vector<int>& values);
bool is_within_capacity(const CoreNetwork& core, const std::vector<int>& values);

}  // namespace onedim
