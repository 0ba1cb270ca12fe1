#pragma once
// Decision: what selection chose for one call on one mesh: a rule per mesh dim, hence a layout for
// every slot, and the plan that brings each input there. Plain data, immutable once made.
// Invariant: the cost is the sum of the plans' costs, and of the local call's where that counts.

#include <memory>
#include <vector>

#include "core/pack/rule.hpp"
#include "core/redistribute/plan.hpp"

namespace onedim {

struct Decision {
  std::vector<Rule> rules;     // per mesh dim
  Dims order;                  // mesh dims in cutting order
  std::vector<Layout> inputs;  // per slot; of absent slots without placements
  std::vector<Layout> outputs;
  // Per input slot; null where the slot is absent or the input stays as it is.
  std::vector<std::shared_ptr<const Plan>> plans;
  double cost_us = 0;  // redistribution and, where it counts, compute
  double compute_us =
      0;  // the local call of the rank that takes longest; 0 where it does not count
  double redistribution_us() const { return cost_us - compute_us; }
  int64_t collectives = 0;
  int64_t bytes = 0;       // that a rank receives at most, summed over the plans
  int64_t searched = 0;    // nodes that branch and bound opened
  int64_t rule_count = 0;  // single-dim rules that any mesh dim could take
};

}  // namespace onedim
