#include "core/pack/rule_set.hpp"

#include <gtest/gtest.h>

#include "tests/pack/rule_examples.hpp"

namespace onedim {
namespace {

TEST(RuleSet, TakesInTheOrderOfTheText) {
  const std::vector<Rule> rules = rule_examples();
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
