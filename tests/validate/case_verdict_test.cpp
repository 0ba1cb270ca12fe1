#include "core/validate/case_verdict.hpp"

#include <gtest/gtest.h>

#include "core/validate/rule_judge.hpp"
#include "small_pack.hpp"

namespace onedim {
namespace {

std::string join_rules(const std::vector<Rule>& rules) {
  std::string text;
  for (const Rule& rule : rules) text += format_rule(rule) + (rule.even_only ? " even\n" : "\n");
  return text;
}

struct Outcome {
  std::string proved, incorrect, missing, unexercised;
};

Outcome validate(const std::string& name, const std::string& text) {
  const Op* op = small_registry().find(name);
  EXPECT_NE(op, nullptr) << name;
  Result<CallText> call = parse_call(op->schema, text);
  EXPECT_TRUE(call.ok()) << call.status();
  Result<Case> made = make_case(*op, *call, small_registry(), {});
  EXPECT_TRUE(made.ok()) << made.status();
  Result<CaseVerdict> verdict = validate_case(*made);
  EXPECT_TRUE(verdict.ok()) << verdict.status();
  Outcome outcome;
  outcome.proved = join_rules(verdict->proved);
  for (const RefutedRule& rule : verdict->incorrect)
    outcome.incorrect += format_rule(rule.rule) + ": " + rule.reason + "\n";
  outcome.missing = join_rules(verdict->missing);
  for (const auto& [rule, why] : verdict->unexercised)
    outcome.unexercised += format_rule(rule) + ": " + why + "\n";
  return outcome;
}

TEST(CaseVerdict, RightRulesAreProvedAndNothingElseHolds) {
  for (const char* name : {"small.add", "small.log", "small.exp", "small.is_finite", "small.mm"}) {
    const Result<std::vector<std::string>> samples = small_registry().find(name)->samples();
    ASSERT_TRUE(samples.ok()) << samples.status();
    for (const std::string& sample : *samples) {
      const Outcome outcome = validate(name, sample);
      EXPECT_NE(outcome.proved, "") << name << " " << sample;
      EXPECT_EQ(outcome.incorrect, "") << name << " " << sample;
      EXPECT_EQ(outcome.missing, "") << name << " " << sample;
      EXPECT_EQ(outcome.unexercised, "") << name << " " << sample;
    }
  }
}

TEST(CaseVerdict, WrongRuleIsRefutedWithNumbers) {
  const Outcome outcome = validate("small.add_wrong", "f64[4,6]; f64[4,6]");
  EXPECT_EQ(outcome.incorrect.substr(0, 24), "P(max) | P(max), P(max):") << outcome.incorrect;
  EXPECT_EQ(outcome.missing, "");
}

TEST(CaseVerdict, MissingRulesAreFound) {
  const Outcome outcome = validate("small.add_missing", "f64[4,6]; f64[4,6]");
  EXPECT_EQ(outcome.missing, "P(avg) | R, P(avg)\nP(avg) | P(avg), R\nP(avg) | P(avg), P(avg)\n");
  EXPECT_EQ(outcome.incorrect, "");
}

}  // namespace
}  // namespace onedim
