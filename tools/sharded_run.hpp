#pragma once
// Sharded run: what `run --op` runs: the strategy that select chooses for inputs that lie
// somewhere, or the rules given, with plans for every input that has to move, and drawn values.
// Values are small integers where the dtype and the domain allow, so that sums are exact in any
// order.

#include "core/exec/op_run.hpp"
#include "core/select/selector.hpp"
#include "tools/placed_call.hpp"

namespace onedim {

struct ChosenStrategy {
  ShardedOp op;
  std::vector<Rule> rules;  // per mesh dim
};

// By selection: the errors are its own.
Result<ChosenStrategy> select_strategy(const Op& op, const Registry& registry,
                                       const PlacedCall& placed, Planner& planner,
                                       const SelectOptions& options);
// `rules`, separated by `;`, one a mesh dim, which cut left to right.
Result<ChosenStrategy> given_strategy(const Op& op, const Registry& registry,
                                      const PlacedCall& placed, Planner& planner,
                                      std::string_view rules, const PlanOptions& options);

struct DrawnInputs {
  std::vector<std::optional<Tensor>> whole;  // per slot
  std::vector<std::vector<Tensor>> locals;   // per slot, one a rank
};
// Partials of packs are refused: nothing says what their parts could be.
Result<DrawnInputs> draw_inputs(const Op& op, const PlacedCall& placed, const Mesh& mesh,
                                uint64_t seed);

}  // namespace onedim
