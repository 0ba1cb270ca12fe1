// Faults that only certain values, strides, locations or repeated runs show, and how they are told.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/validate/op_validation.hpp"
#include "faulty_pack.hpp"
#include "shipped_packs.hpp"

namespace onedim {
namespace {

OpReport validate(const std::string& name, const ValidateOptions& options = {}) {
  return validate_op(*faulty_registry().find(name), {name, std::nullopt, {}}, faulty_registry(),
                     options);
}

std::string text_of(const OpReport& report) { return to_json(report).dump(1); }

TEST(Faults, ThresholdsThatNoAttributeNamesAreCrossed) {
  for (uint64_t seed = 1; seed < 5; ++seed) {
    ValidateOptions options;
    options.cases.seed = seed;
    for (const char* kind : {"sum", "avg", "product"}) {
      const OpReport report = validate(std::string("faulty.min_") + kind, options);
      EXPECT_EQ(report.incorrect.size(), static_cast<size_t>(report.samples))
          << "seed " << seed << "\n"
          << text_of(report);
    }
  }
}

TEST(Faults, ThresholdsOfEverySizeAreCrossed) {
  const char* const calls[] = {"f32[5]; max=1100.0",    "bf16[5]; max=30.0", "f16[5]; max=100.0",
                               "i8[5]; max=50",         "i16[5]; max=300",   "i64[5]; max=2000",
                               "f64[5]; max=3000.0",    "f32[5]; max=1e9",   "f16[5]; max=10000.0",
                               "i32[5]; max=1000000000"};
  const Op& clamp = *shipped_registry().find("clamp");
  for (const char* call : calls) {
    const OpReport own =
        validate_op(clamp, {"clamp", call, {}}, shipped_registry(), ValidateOptions{});
    EXPECT_TRUE(own.is_clean()) << text_of(own);
    std::vector<std::string> claims{"P(sum) | P(sum)", "P(avg) | P(avg)"};
    if (call[0] == 'i') claims.pop_back();
    const OpReport claimed =
        validate_op(clamp, {"clamp", call, claims}, shipped_registry(), ValidateOptions{});
    EXPECT_EQ(claimed.incorrect.size(), claims.size()) << text_of(claimed);
  }
  const OpReport less = validate_op(*shipped_registry().find("lt.Scalar"),
                                    {"lt.Scalar", "f32[5]; other=3000.0", {{"R | P(sum)"}}},
                                    shipped_registry(), ValidateOptions{});
  EXPECT_EQ(less.incorrect.size(), 1u) << text_of(less);
}

// Large integers wrap around in the op, which refutes no rule.
TEST(Faults, WrapAroundIsNotHeldAgainstARule) {
  for (const char* call : {"i8[5]; other=50", "i16[5]; other=300", "i64[5]; other=100000000000"}) {
    const OpReport report = validate_op(*shipped_registry().find("mul.Scalar"),
                                        {"mul.Scalar", call, {{"P(max) | P(max)"}}},
                                        shipped_registry(), ValidateOptions{});
    EXPECT_EQ(report.proved.size(), 1u) << text_of(report);
  }
}

TEST(Faults, WhatAcceptLocalRefusesIsUnexercised) {
  const OpReport report = validate("faulty.never_offered");
  EXPECT_TRUE(report.proved.empty() && report.incorrect.empty() && report.missing.empty())
      << text_of(report);
  ASSERT_FALSE(report.unexercised.empty());
  EXPECT_NE(report.unexercised[0].reason.find("not today"), std::string::npos)
      << report.unexercised[0].reason;
  const OpReport even = validate("faulty.even_lengths");
  EXPECT_TRUE(even.incorrect.empty() && even.missing.empty()) << text_of(even);
}

TEST(Faults, AnElementLeftUnwrittenIsNamed) {
  const OpReport report = validate("faulty.forgets");
  ASSERT_EQ(report.errors.size(), 2u) << text_of(report);
  EXPECT_NE(report.errors[0].find("faulty.forgets: the kernel did not write element 2 of output 0"),
            std::string::npos)
      << report.errors[0];
  EXPECT_TRUE(report.proved.empty() && report.incorrect.empty());
}

TEST(Faults, AChangedInputIsNamed) {
  const OpReport report = validate("faulty.scribbles");
  ASSERT_EQ(report.errors.size(), 2u) << text_of(report);
  EXPECT_NE(report.errors[0].find("faulty.scribbles: the kernel changed its input 0"),
            std::string::npos)
      << report.errors[0];
  EXPECT_TRUE(report.proved.empty() && report.incorrect.empty());
}

TEST(Faults, IgnoredStridesAreNamed) {
  const OpReport report = validate("faulty.ignores_strides");
  ASSERT_EQ(report.errors.size(), 2u) << text_of(report);
  EXPECT_NE(report.errors[0].find("does not follow the strides of input 0"), std::string::npos)
      << report.errors[0];
}

TEST(Faults, ALocationIsNotToldWithoutTheFlag) {
  const OpReport report = validate("faulty.peeks");
  bool found = false;
  for (const RuleFinding& finding : report.incorrect) found |= finding.rule == "S(0) | S(0)";
  EXPECT_TRUE(found) << text_of(report);
}

TEST(Faults, TensorsThatCannotBeNumberedAreRefused) {
  const OpReport report =
      validate_op(*faulty_registry().find("faulty.min_sum"),
                  {"faulty.min_sum", "f32[65536,65536]", {}}, faulty_registry(), {});
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_NE(report.errors[0].find("at most 2147483647 elements can be judged"), std::string::npos)
      << report.errors[0];
}

TEST(Faults, FewWorldsMissNothingThatIsNotTrueInOthers) {
  for (const int64_t world : {3, 5, 8}) {
    ValidateOptions options;
    options.cases.worlds = {world};
    for (const char* name :
         {"neg", "mul.Tensor", "sign", "addcmul", "lerp.Scalar", "dot", "prod"}) {
      const OpReport report = validate_op(*shipped_registry().find(name), {name, std::nullopt, {}},
                                          shipped_registry(), options);
      EXPECT_TRUE(report.missing.empty() && report.incorrect.empty())
          << world << " " << text_of(report);
    }
  }
}

TEST(Faults, LargeWorldsAreJudgedAsSharply) {
  ValidateOptions options;
  options.cases.worlds = {32};
  for (uint64_t seed = 1; seed < 4; ++seed) {
    options.cases.seed = seed;
    const OpReport report = validate_op(*shipped_registry().find("relu"), {"relu", "bf16[6]", {}},
                                        shipped_registry(), options);
    EXPECT_TRUE(report.is_clean()) << "seed " << seed << text_of(report);
  }
}

}  // namespace
}  // namespace onedim
