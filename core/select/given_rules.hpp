#pragma once
// Given rules: a strategy that someone wrote down, a rule per mesh dim, found among those that the
// op has for the call. A rule without conditions stands for the first of the op's that has its
// placements.

#include "core/select/strategy.hpp"

namespace onedim {

// The choices of the call, those with any kind of shard also strided as `rules` have it.
Result<RuleChoices> choices_for(const Op& op, const Call& call,
                                std::span<const OptionalOutput> outputs, const Registry& registry,
                                std::span<const Rule> rules);
// InvalidArgument names the rule that the op does not have.
Result<Strategy> find_strategy(const Op& op, const RuleChoices& choices,
                               std::span<const Rule> rules, const Dims& order);

}  // namespace onedim
