#pragma once
// Natural placements: which partial kinds and strided shards a value of a graph can come to have of
// itself, on some mesh dim: those that rules give from inputs without any, or from inputs that can
// have theirs so. A rule that takes partials or strided shards is worth trying only where one of
// these inputs can have its placement so: else what it would be brought to could as well be left,
// with R for a partial and S for a strided shard. Rules of views that split or join dims, which
// have plain shards on one side and strided ones on the other, are always worth trying. A rule that
// reads an R as P(avg|max|min) is not, beside one that leaves it R: going from R costs no more than
// from such a partial.

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
