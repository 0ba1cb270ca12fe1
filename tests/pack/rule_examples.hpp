#pragma once
// Rules of every form of placement, for tests that compare rules with each other.

#include "core/pack/rule.hpp"

namespace onedim {

inline std::vector<Rule> rule_examples() {
  std::vector<Rule> rules;
  for (const char* text :
       {"R | R, R", "- | R, S(2)", "S(1) | S(10), R", "S(2) | S(1), R", "S(10) | S(1), R",
        "S*(1) | S*(1), R", "SS(0,2) | SS(0,2), R", "SS(0,10) | SS(0,2), R", "P(sum) | S(1), S(0)",
        "P(max) | P(max), R", "P(min) | P(min), R", "P(pack.best#0) | S(0), R",
        "P(pack.best#1) | S(0), R", "P(product) | P(sum), R", "P(avg) | R, P(avg)"})
    rules.push_back(*parse_rule(text));
  return rules;
}

}  // namespace onedim
