#pragma once
// Rule judge: one rule at one site of a case, or at all of them: any placements that can be split,
// tags, joint partials. A rule speaks of a site only where it applies: shards name dims that can be
// cut, its requirements hold on every rank, and, if it is even-only, every sharded dim divides.
// Refuted at one site, it is refuted.

#include <string>

#include "core/validate/case_setup.hpp"

namespace onedim {

bool rule_applies(const Rule& rule, const Subject& subject, int64_t world);
// Every sharded dim of the rule divides.
bool rule_divides(const Rule& rule, const Subject& subject, int64_t world);

struct RuleVerdict {
  enum class Word { kHolds, kRefuted, kNotJudged };
  Word word = Word::kNotJudged;
  int site = -1;       // where it was refuted
  std::string reason;  // the counter-example, or why it could not be judged
};

RuleVerdict judge_rule_at(Place& place, const Rule& rule, int draws, const Registry& registry);
// At every site where `present[subject]` (all, if empty) and where it applies.
RuleVerdict judge_rule(Case& c, const Rule& rule, const std::vector<bool>& present, int draws);

// Whether `rule` speaks of the call's slots and dims, and of partial kinds that can be judged.
Status check_rule(const Case& c, const Rule& rule);
// The first placement of `rule` that its tensor's dtype does not have, in words; "" if there is
// none. Such a rule is wrong.
std::string illegal_partial(const Case& c, const Rule& rule);

}  // namespace onedim
