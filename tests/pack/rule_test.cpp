#include "core/pack/rule.hpp"

#include <gtest/gtest.h>

#include "tests/pack/mutate_text.hpp"
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

TEST(Rule, ErrorsNameTheRule) {
  EXPECT_TRUE(tiny::fails_with(parse_rule("R, R"), "expected `outputs | inputs`"));
  EXPECT_TRUE(tiny::fails_with(parse_rule("R | R | R"), "a second `|` at column 7"));
  EXPECT_TRUE(tiny::fails_with(parse_rule("R | S(x)"), "rule \"R | S(x)\""));
  EXPECT_TRUE(tiny::fails_with(parse_rule("R | R,"), "rule \"R | R,\""));
  EXPECT_TRUE(tiny::fails_with(parse_rule("S(-1) | R"), "S(-1)"));
}

}  // namespace
}  // namespace onedim
