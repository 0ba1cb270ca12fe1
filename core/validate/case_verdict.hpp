#pragma once
// Case verdict: the op's closed rules for one case against what brute force shows. Proved: claimed,
// judged somewhere and never refuted. Incorrect: claimed, refuted. Missing: holds at every site
// where it could be tried (as an even-only rule: where all its dims divide, in two worlds at
// least), the truth varies, and at some of these sites no claim covers it; so a rule marked more
// narrowly than it is true is missing too. Unexercised: claimed for the sample, judged nowhere.

#include <string>
#include <vector>

#include "core/pack/closed_rules.hpp"
#include "core/validate/combinations.hpp"

namespace onedim {

struct RefutedRule {
  Rule rule;
  int site = -1;
  std::string reason;
  bool holds_even = false;  // where every sharded dim divides
};

struct CaseVerdict {
  std::vector<Rule> proved;
  std::vector<RefutedRule> incorrect;
  std::vector<Rule> missing;
  std::vector<std::pair<Rule, std::string>> unexercised;  // and why
  SearchStatistics statistics;
};

Result<CaseVerdict> validate_case(Case& c);

// All rules that hold, each R output also as what R implies, even-only where `even_only` says so;
// the truth must vary. For tests and for inferring rules.
std::vector<Rule> find_true_rules(Case& c, SearchStatistics& statistics);

}  // namespace onedim
