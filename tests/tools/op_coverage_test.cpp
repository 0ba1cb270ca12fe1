#include "tools/op_coverage.hpp"

#include <gtest/gtest.h>

#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

TEST(OpCoverage, TellsWhatNoPackOffers) {
  const OpCoverage coverage = op_coverage(shipped_registry(), {"mm", "add", "nonesuch"}, true);
  ASSERT_EQ(coverage.names.size(), 3u);
  EXPECT_EQ(coverage.present(), 2u);
  EXPECT_EQ(coverage.names[0].lack, "");
  EXPECT_GE(coverage.names[1].ops.size(), 3u);  // all overloads
  EXPECT_EQ(coverage.names[2].lack, "no pack offers it");
  EXPECT_FALSE(coverage.names[2].replicates);
}

TEST(OpCoverage, ExactNamesAreNoBaseNames) {
  const OpCoverage coverage = op_coverage(shipped_registry(), {"add", "add.Tensor"}, false);
  EXPECT_EQ(coverage.names[0].lack, "no pack offers it");
  EXPECT_EQ(coverage.names[1].lack, "");
  EXPECT_FALSE(coverage.names[1].replicates);
  EXPECT_TRUE(coverage.names[1].has_cuttable);
}

TEST(OpCoverage, AsksForEvidenceOfWhatOnlyReplicates) {
  OpCoverage coverage = op_coverage(shipped_registry(), {"mm", "t"}, false);
  EXPECT_TRUE(ops_in_question(coverage, false).empty());
  EXPECT_EQ(ops_in_question(coverage, true).size(), 2u);
  coverage.names[0].replicates = true;
  EXPECT_EQ(ops_in_question(coverage, false), coverage.names[0].ops);
}

OpReport report_of(std::string op) {
  OpReport report;
  report.op = std::move(op);
  report.samples = 5;
  report.combinations = 40;
  report.tried = 30;
  return report;
}

TEST(OpCoverage, EvidenceSaysWhyAnOpOnlyReplicates) {
  OpCoverage coverage = op_coverage(shipped_registry(), {"mm"}, false);
  coverage.names[0].replicates = true;
  add_evidence({report_of("mm"), report_of("t")}, coverage);
  EXPECT_EQ(coverage.names[0].reason,
            "of 30 placements of its inputs on 5 samples, out of 40, none but R makes a placed "
            "output");
  coverage.names[0].has_cuttable = false;
  add_evidence({report_of("mm")}, coverage);
  EXPECT_EQ(coverage.names[0].reason,
            "no tensor of its 5 samples has a dim to cut, and no partial holds");
}

TEST(OpCoverage, WhatTheValidatorRefutesDoesNotCount) {
  const auto lack_with = [](const OpReport& report) {
    OpCoverage coverage = op_coverage(shipped_registry(), {"mm"}, false);
    add_evidence({report}, coverage);
    EXPECT_EQ(coverage.present(), coverage.names[0].lack.empty() ? 1u : 0u);
    return coverage.names[0].lack;
  };
  EXPECT_EQ(lack_with(report_of("mm")), "");
  OpReport report = report_of("mm");
  report.missing = {{"S(0) | S(0), R", "f32[4,6]; f32[6,8]", "", ""}};
  EXPECT_EQ(lack_with(report), "missing rule S(0) | S(0), R on f32[4,6]; f32[6,8]");
  report = report_of("mm");
  report.errors = {"it is refused"};
  EXPECT_EQ(lack_with(report), "it is refused");
  report = report_of("mm");
  report.crashed = true;
  EXPECT_EQ(lack_with(report), "the process that judged it ended early");
}

TEST(OpCoverage, ALackOfOneOverloadNamesIt) {
  OpCoverage coverage = op_coverage(shipped_registry(), {"add"}, true);
  OpReport report = report_of("add.Scalar");
  report.errors = {"it is refused"};
  add_evidence({report}, coverage);
  EXPECT_EQ(coverage.names[0].lack, "add.Scalar: it is refused");
}

}  // namespace
}  // namespace onedim
