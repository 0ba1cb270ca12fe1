#pragma once
// Work build: a cost network as a work network. Costs of kForbidden and more are excluded, or,
// where no assignment can do without them, counted: each is a multiple of kForbidden and a rest,
// and the multiple weighs more than all rests together.

#include <optional>

#include "core/base/status.hpp"
#include "core/solve/wide_cost.hpp"
#include "core/solve/work_network.hpp"

namespace onedim {

enum class Forbidden { kExcluded, kCounted };

struct BuiltWork {
  WorkNetwork network;
  int unit_bits = 0;          // a cost of 1 is 2^unit_bits; kCounted: of the weighted sums
  Cost forbidden_weight = 0;  // kCounted: what one kForbidden counts
};

// Errors: costs or bytes whose sums are beyond exact arithmetic.
Result<BuiltWork> build_work(const CostNetwork& network, Forbidden forbidden);

// What an assignment's cost is in the work network's terms (constant included), before unit_bits.
Cost weighted_cost(WideCost cost, const BuiltWork& work);

}  // namespace onedim
