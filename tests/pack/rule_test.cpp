#include "core/pack/rule.hpp"

#include <gtest/gtest.h>

#include "tests/pack/mutate_text.hpp"
#include "tests/pack/rule_examples.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

TEST(Rule, TextRoundTrips) {
  for (const std::string_view text : {
           "P(sum) | S(1), S(0)",
           "R | R",
           "S*(0) | S*(0), -",
           "P(tiny.pair#0), P(tiny.pair#1) | S(2), SS(0,2)",
           "| R",
           "R |",
           "|",
       }) {
    const Result<Rule> rule = parse_rule(text);
    ASSERT_TRUE(rule.ok()) << rule.status();
    EXPECT_EQ(format_rule(*rule), text);
  }
  EXPECT_EQ(format_rule(*parse_rule("  P(sum)|S(1) ,S(0) ")), "P(sum) | S(1), S(0)");
}

TEST(Rule, DamagedTextsAreRefusedOrRoundTrip) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 5000; ++round) {
    const std::string damaged = mutate_text("P(a.b#1), S*(0) | SS(0,2), R, -", random);
    const Result<Rule> rule = parse_rule(damaged);
    if (!rule.ok()) continue;
    const Result<Rule> again = parse_rule(format_rule(*rule));
    ASSERT_TRUE(again.ok()) << damaged << ": " << again.status();
    EXPECT_EQ(*again, *rule) << damaged;
  }
}

TEST(Rule, ConditionsRoundTrip) {
  for (const std::string_view text : {
           "R | R",
           "P(sum) | S(1), S(0) even_only",
           "S(0) | S(0) to_rounding tag(7)",
           "S(0) | S(0), - even_only to_rounding multiple_of(output 0, 1, 4) multiple_of(input 1, "
           "0, "
           "2) tag(-1)",
           "| R tag(9)",
       }) {
    const Result<Rule> rule = parse_conditional_rule(text);
    ASSERT_TRUE(rule.ok()) << rule.status();
    EXPECT_EQ(format_conditional_rule(*rule), text);
  }
  const Result<Rule> rule =
      parse_conditional_rule(" S(0)|S(0) tag( 3 ) multiple_of(input 0,0,2) even_only ");
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(format_conditional_rule(*rule),
            "S(0) | S(0) even_only multiple_of(input 0, 0, 2) tag(3)");
  EXPECT_EQ(rule->tag, 3u);
  EXPECT_EQ(*parse_conditional_rule("P(a.tag) | R"), *parse_rule("P(a.tag) | R"));
}

TEST(Rule, DamagedConditionsAreRefusedOrRoundTrip) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 5000; ++round) {
    const std::string damaged = mutate_text(
        "S(0) | S(0), R even_only multiple_of(input 1, 0, 2) tag(7) to_rounding", random);
    const Result<Rule> rule = parse_conditional_rule(damaged);
    if (!rule.ok()) continue;
    const Result<Rule> again = parse_conditional_rule(format_conditional_rule(*rule));
    ASSERT_TRUE(again.ok()) << damaged << ": " << again.status();
    EXPECT_EQ(*again, *rule) << damaged;
  }
}

TEST(Rule, ConditionsThatDoNotFitAreRefused) {
  const auto fails = [](std::string_view text, std::string_view part) {
    return tiny::fails_with(parse_conditional_rule(text), part);
  };
  EXPECT_TRUE(fails("R | R even_onyl", "even_onyl"));
  EXPECT_TRUE(fails("R | R even_only odd", "expected one of even_only"));
  EXPECT_TRUE(fails("R | R multiple_of(input 1, 0, 2)", "a slot below 1"));
  EXPECT_TRUE(fails("R | R multiple_of(input 0, -1, 2)", "a dim of it"));
  EXPECT_TRUE(fails("R | R multiple_of(input 0, 0, 0)", "a number from 1"));
  EXPECT_TRUE(fails("R | R multiple_of(inputs 0, 0, 2)", "expected \"input\" or \"output\""));
  EXPECT_TRUE(fails("R | R multiple_of(input 0, 0", "column"));
  EXPECT_TRUE(fails("R | R tag(x)", "column"));
}

TEST(Rule, ErrorsNameTheRule) {
  EXPECT_TRUE(tiny::fails_with(parse_rule("R, R"), "expected `outputs | inputs`"));
  EXPECT_TRUE(tiny::fails_with(parse_rule("R | R | R"), "a second `|` at column 7"));
  EXPECT_TRUE(tiny::fails_with(parse_rule("R | S(x)"), "rule \"R | S(x)\""));
  EXPECT_TRUE(tiny::fails_with(parse_rule("R | R,"), "rule \"R | R,\""));
  EXPECT_TRUE(tiny::fails_with(parse_rule("S(-1) | R"), "S(-1)"));
}

TEST(Rule, HashIsThatOfThePlacements) {
  const std::vector<Rule> rules = rule_examples();
  for (const Rule& a : rules) {
    for (const Rule& b : rules) {
      EXPECT_EQ(placements_hash(a) == placements_hash(b), a.has_same_placements(b));
    }
  }
}

}  // namespace
}  // namespace onedim
