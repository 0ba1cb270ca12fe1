#pragma once
// Value pruning: blocks, in a dual bound, the values that cannot be part of a solution cheaper than
// a cutoff: those whose cost above the bound is too much, and those that hold more memory than is
// left when every other node holds the least it still may.

#include "core/solve/dual_bound.hpp"

namespace onedim {

enum class Pruned { kNothing, kSomething, kInfeasible };

// The last sweep must have left every node a value of cost 0.
Pruned prune_values(const CoreNetwork& core, DualBound& dual, Cost cutoff);

}  // namespace onedim
