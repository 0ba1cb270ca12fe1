#pragma once
// Natural placements: which partial kinds and strided shards a value of a graph can come to have of
// itself, on some mesh dim: those that rules give from inputs without any, or from inputs that can
// have theirs so. A rule that takes partials or strided shards is worth trying only where one of
// these inputs can have its placement so: else replacing them by what the inputs have (R for a
// partial) gives a plan that costs no more. The same holds for a rule that reads an R as
// P(avg|max|min) beside one that leaves it R: going from R costs no more than from such a partial.

#include "core/select/rule_choices.hpp"

namespace onedim {

using PlacementSet = std::vector<Placement>;  // sorted, each once

// Partials of built-in kinds, and strided shards.
bool is_special(const Placement& placement);
void insert(PlacementSet& set, const Placement& placement);

// The rules worth trying, ascending. `inputs` has, per input slot, what that can have; null where
// it is absent.
std::vector<int> rules_worth_trying(const RuleChoices& choices,
                                    std::span<const PlacementSet* const> inputs);

}  // namespace onedim
