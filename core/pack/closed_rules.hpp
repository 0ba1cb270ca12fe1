#pragma once
// Closed rules: what an op's declared rules imply for one call. From the declared set it (1)
// expands `S*` keeping the mark, (2) drops what the call's dtypes and shapes rule out (illegal
// partials, shards on dims that do not exist, in-place forms whose output would not be placed as
// the written input, written tensors that would have to hold a joint
// partial's hidden state), (3) adds the all-replicate rule unless the op says no, (4) replaces an
// input P(avg|max|min) by R and an output R by each of these, in every combination, (5) treats S on
// a dim of size 1 as R. The result is sorted by text and has no rule twice; a rule implied without
// a condition absorbs the same placements with one. The rules of a list form are made of those of
// its elements (list_form.hpp).

#include <vector>

#include "core/pack/op.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct ClosedRule {
  Rule rule;
  bool any_shard = false;  // was declared with S*
};

// Declared rules that name a partial kind which no pack offers are left out; `registry` resolves
// kinds.
Result<std::vector<ClosedRule>> closed_rules(const Op& op, const Call& call,
                                             std::span<const OptionalOutput> outputs,
                                             const Registry& registry);

}  // namespace onedim
