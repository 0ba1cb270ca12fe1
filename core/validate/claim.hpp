#pragma once
// Claim: any rule on any call, judged on exactly the sizes given. What is refuted comes with
// numbers; a rule that fails only where a dim does not divide is told apart.

#include <string>

#include "core/validate/case_setup.hpp"
#include "core/validate/rule_judge.hpp"

namespace onedim {

struct ClaimVerdict {
  RuleVerdict::Word word = RuleVerdict::Word::kNotJudged;
  int64_t world = 0;   // refuted: where
  std::string reason;  // refuted: the counter-example; not judged: why
  bool holds_even =
      false;  // refuted, but it holds in every world given in which all its dims divide
};

// `options.redraw_sizes` is ignored. Fails where the op refuses the call, or the rule does not fit
// its slots.
Result<ClaimVerdict> judge_claim(const Op& op, const CallText& call, const Rule& rule,
                                 const Registry& registry, CaseOptions options);

// A rule as typed, with its conditions behind it as in format_conditional_rule: `P(sum) | S(1),
// S(0) even_only multiple_of(input 0, 1, 4) tag(7)`. `S*` is judged as S and as a strided shard.
Result<Rule> parse_claim(std::string_view text);

// The command line that judges `rule` again.
std::string claim_command(const Op& op, const Call& call, std::span<const Domain> domains,
                          const Rule& rule, std::span<const int64_t> worlds, uint64_t seed);

}  // namespace onedim
