#include "core/pack/rule_set.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(RuleSet, TakesInTheOrderOfTheText) {
  std::vector<Rule> rules;
  for (const char* text :
       {"R | R, R", "- | R, S(2)", "S(1) | S(10), R", "S(2) | S(1), R", "S(10) | S(1), R",
        "S*(1) | S*(1), R", "SS(0,2) | SS(0,2), R", "SS(0,10) | SS(0,2), R", "P(sum) | S(1), S(0)",
        "P(max) | P(max), R", "P(min) | P(min), R", "P(pack.best#0) | S(0), R",
        "P(pack.best#1) | S(0), R", "P(product) | P(sum), R", "P(avg) | R, P(avg)"})
    rules.push_back(*parse_rule(text));
  for (const Rule& a : rules) {
    for (const Rule& b : rules) {
      RuleSet set;
      for (const Rule& rule : {a, b}) {
        ClosedRule closed;
        closed.rule = rule;
        set.add(std::move(closed));
      }
      const std::vector<ClosedRule> taken = set.take();
      ASSERT_EQ(taken.size(), a.has_same_placements(b) ? 1u : 2u);
      EXPECT_EQ(format_rule(taken.front().rule), std::min(format_rule(a), format_rule(b)));
      EXPECT_EQ(format_rule(taken.back().rule), std::max(format_rule(a), format_rule(b)));
    }
  }
}

}  // namespace
}  // namespace onedim
