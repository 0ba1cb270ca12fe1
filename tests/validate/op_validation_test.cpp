#include "core/validate/op_validation.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "small_pack.hpp"

namespace onedim {
namespace {

OpReport validate(const std::string& name, const ValidateOptions& options = {}) {
  return validate_op(*small_registry().find(name), {name, std::nullopt, {}}, small_registry(),
                     options);
}

// The same report, whenever it was made.
std::string timeless(OpReport report) {
  report.seconds = 0;
  return to_json(report).dump();
}

TEST(OpValidation, ACleanOpIsClean) {
  const OpReport report = validate("small.add");
  EXPECT_TRUE(report.is_clean()) << to_json(report).dump(1);
  EXPECT_EQ(report.samples, 5);
  EXPECT_EQ(report.tried, report.combinations);
  EXPECT_GT(report.proved.size(), 50u);
}

TEST(OpValidation, AFindingComesWithTheSmallestCase) {
  const OpReport report = validate("small.add_wrong");
  ASSERT_EQ(report.incorrect.size(), 1u) << to_json(report).dump(1);
  const RuleFinding& finding = report.incorrect[0];
  EXPECT_EQ(finding.rule, "P(max) | P(max), P(max)");
  EXPECT_EQ(finding.case_text, "f64[4,6]; f64[4,6]");
  EXPECT_EQ(finding.repro,
            "onedim validate small.add_wrong --inputs 'f64[1,1]; f64[1,1]' --claim 'P(max) | "
            "P(max), P(max)' "
            "--worlds 2 --seed 1");
  EXPECT_NE(finding.reason.find("should be"), std::string::npos);
}

TEST(OpValidation, TheReproIsRefutedAgain) {
  const OpRequest request{
      "small.add_wrong", "f64[1,1]; f64[1,1]", {"P(max) | P(max), P(max)", "P(max) | P(max), R"}};
  const OpReport report =
      validate_op(*small_registry().find("small.add_wrong"), request, small_registry(), {});
  EXPECT_EQ(report.incorrect.size(), 1u);
  EXPECT_EQ(report.proved.size(), 1u);
}

// Per finding its rule and the one it follows from.
std::map<std::string, std::string> families(const std::vector<RuleFinding>& findings) {
  std::map<std::string, std::string> origins;
  for (const RuleFinding& finding : findings) origins[finding.rule] = finding.follows_from;
  return origins;
}

TEST(OpValidation, FindingsThatFollowFromAnotherSaySo) {
  using Families = std::map<std::string, std::string>;
  const std::string whole = "P(max) | P(max), P(max)";
  EXPECT_EQ(families(validate("small.maximum_missing").missing),
            (Families{{whole, ""}, {"P(max) | P(max), R", whole}, {"P(max) | R, P(max)", whole}}));
  EXPECT_EQ(families(validate("small.sub_wrong").incorrect),
            (Families{{whole, ""}, {"P(max) | R, P(max)", whole}}));
}

TEST(OpValidation, ARuleMarkedTooNarrowlyIsMissing) {
  const OpReport report = validate("small.narrow");
  ASSERT_EQ(report.missing.size(), 1u) << to_json(report).dump(1);
  EXPECT_EQ(report.missing[0].rule, "S(0) | S(0)");
  EXPECT_TRUE(report.incorrect.empty());
}

TEST(OpValidation, ARuleTrueForEvenSizesOnlyMustSaySo) {
  EXPECT_TRUE(validate("small.blind_mean").is_clean())
      << to_json(validate("small.blind_mean")).dump(1);
  const OpReport report = validate("small.mean_too_wide");
  ASSERT_FALSE(report.incorrect.empty());
  EXPECT_EQ(report.incorrect[0].rule, "P(avg) | S(0)");
  EXPECT_NE(report.incorrect[0].reason.find("it holds where every sharded dim divides"),
            std::string::npos)
      << report.incorrect[0].reason;
}

TEST(OpValidation, WhatCannotBeJudgedIsAnError) {
  const OpReport report = validate("small.refuses");
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_NE(report.errors[0].find("no such luck"), std::string::npos) << report.errors[0];
  EXPECT_FALSE(report.is_clean());
  const OpReport odd = validate_op(*small_registry().find("small.add"),
                                   {"small.add", "f64[4]; f64[5]", {}}, small_registry(), {});
  EXPECT_EQ(odd.errors.size(), 1u);
}

TEST(OpValidation, ThreadsAndRepetitionChangeNothing) {
  ValidateOptions threads;
  threads.threads = 3;
  for (const char* name : {"small.add_wrong", "small.mean_too_wide", "small.exp"}) {
    EXPECT_EQ(timeless(validate(name)), timeless(validate(name, threads))) << name;
  }
}

TEST(OpValidation, OtherSeedsFindTheSame) {
  for (uint64_t seed = 2; seed < 6; ++seed) {
    ValidateOptions options;
    options.cases.seed = seed;
    for (const char* name : {"small.add", "small.log", "small.exp", "small.is_finite", "small.mm",
                             "small.blind_mean"}) {
      EXPECT_TRUE(validate(name, options).is_clean()) << name << " seed " << seed;
    }
    EXPECT_EQ(validate("small.add_wrong", options).incorrect.size(), 1u) << seed;
    EXPECT_EQ(validate("small.add_missing", options).missing.size(), 3u) << seed;
  }
}

TEST(OpValidation, FalseMutantsAreCaught) {
  ValidateOptions options;
  options.mutate = true;
  for (const char* name : {"small.add", "small.mm", "small.log"}) {
    const OpReport report = validate(name, options);
    EXPECT_GT(report.mutation.wrong, 50) << name;
    EXPECT_EQ(report.mutation.caught, report.mutation.wrong) << name;
  }
}

TEST(OpValidation, NonfiniteValuesAreNotedAndNotHeldAgainstTheOp) {
  ValidateOptions options;
  options.nonfinite = true;
  const OpReport report = validate("small.add", options);
  EXPECT_TRUE(report.is_clean());
  EXPECT_FALSE(report.notes.empty());
}

TEST(OpValidation, AReportSurvivesItsJson) {
  ValidateOptions options;
  options.mutate = true;
  const OpReport report = validate("small.add_wrong", options);
  Result<OpReport> copy = op_report_from_json(to_json(report));
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(to_json(*copy).dump(), to_json(report).dump());
  EXPECT_FALSE(op_report_from_json(nlohmann::ordered_json{{"op", 3}}).ok());
}

}  // namespace
}  // namespace onedim
