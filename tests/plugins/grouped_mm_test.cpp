#include <gtest/gtest.h>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("grouped_mm");
  return loaded;
}
std::string run(std::string_view call, const std::vector<std::vector<double>>& elements = {}) {
  return pack().run("_grouped_mm", call, elements);
}
std::string values(std::string_view call, const std::vector<std::vector<double>>& elements) {
  const std::string text = run(call, elements);
  return text.substr(std::min(text.size(), text.find(": ") + 2));
}
bool has_rule(std::string_view call, std::string_view rule) {
  return pack().has_rule("_grouped_mm", call, rule);
}

TEST(GroupedMm, GroupsCutRowsColumnsOrTerms) {
  EXPECT_EQ(values("f64[3,2]; f64[2,2,2]; i32[2]; -",
                   {{1, 0, 0, 1, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 3}}),
            "1, 2, 7, 8, 12, 14");
  EXPECT_EQ(values("f64[2,1,2]; f64[2,2]; i32[2]; -", {{1, 1, 2, 2}, {1, 2, 3, 4}, {1, 2}}),
            "4, 12");
  EXPECT_EQ(values("f64[1,2]; f64[2,2]; i32[2]; -", {{1, 2}, {1, 2, 3, 4}, {1, 2}}), "1, 2, 6, 8");
  EXPECT_EQ(values("f64[1,1,2]; f64[1,2,2]; -; -", {{1, 2}, {1, 2, 3, 4}}), "7, 10");
}

TEST(GroupedMm, WhatNoGroupCoversIsZero) {
  const std::vector<double> ones;
  EXPECT_EQ(values("f64[3,2]; f64[1,2,2]; i32[1]; -", {ones, ones, {1}}), "2, 2, 0, 0, 0, 0");
  // Offsets that go back let the later group write.
  EXPECT_EQ(values("f64[2,2]; f64[3,2,2]; i32[3]; -",
                   {ones, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}, {2, 1, 2}}),
            "2, 2, 6, 6");
}

TEST(GroupedMm, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"f64[4]; f64[4,2]; i32[1]; -", "two or three dims, not 1"},
      {"f64[4,2]; f64[1,2,2]; -; -", "offs are needed with a matrix"},
      {"f64[1,4,2]; f64[1,2,2]; i32[1]; -", "must be absent with two batches"},
      {"f64[4,2]; f64[1,2,2]; i64[1]; -", "offs must be a vector of i32"},
      {"f64[4,2]; f64[2,2,2]; i32[1]; -", "offs has 1 ends, expected one for each of 2 matrices"},
      {"f64[4,2]; f64[1,4,2]; i32[1]; -", "the summed sizes of self and mat2 differ: 2 and 4"},
      {"f64[2,4,2]; f64[1,2,2]; -; -", "the batch sizes of self and mat2 differ: 2 and 1"},
      {"f64[4,2]; f32[1,2,2]; i32[1]; -", "self and mat2 must have one dtype"},
      {"i64[4,2]; i64[1,2,2]; i32[1]; -", "self must be f64, f32, bf16 or f16"},
      {"f64[4,2]; f64[1,2,2]; i32[1]; f64[2]", "a bias is not supported"},
      {"f64[4,2]; f64[1,2,2]; i32[1]; -; out_dtype=f32", "out_dtype must be the dtype of self"},
      {"bf16[4,12]; bf16[1,12,8]; i32[1]; -",
       "the leading stride of self is 24 bytes, expected a multiple of 16"},
      {"f32[4,4]; f32[1,4,2]; i32[1]; -", "the leading stride of mat2 is 8 bytes"},
  };
  for (const auto& [call, text] : calls) {
    const std::string result = run(call);
    EXPECT_NE(result.find(text), std::string::npos) << call << " gave " << result;
  }
  EXPECT_NE(run("f64[4,2]; f64[1,2,2]; i32[1]; -", {{}, {}, {5}}).find("offs has 5, expected"),
            std::string::npos);
}

TEST(GroupedMm, RulesOfTheFourShapes) {
  const std::string rows = "f64[6,4]; f64[3,4,2]; i32[3]; -";
  EXPECT_TRUE(has_rule(rows, "S(0) | S(0), R, R, -"));
  EXPECT_TRUE(has_rule(rows, "P(sum) | R, S(0), R, -"));  // experts
  EXPECT_TRUE(has_rule(rows, "S(1) | R, S(2), R, -"));
  EXPECT_TRUE(has_rule(rows, "P(sum) | S(1), S(1), R, -"));
  EXPECT_TRUE(has_rule(rows, "P(avg) | P(avg), R, R, -"));
  EXPECT_FALSE(has_rule(rows, "S(0) | S(0), S(0), R, -"));
  EXPECT_FALSE(has_rule(rows, "P(sum) | P(sum), P(sum), R, -"));
  EXPECT_FALSE(has_rule(rows, "S(0) | S(0), R, S(0), -"));
  const std::string columns = "f64[3,6,4]; f64[4,6]; i32[3]; -";
  EXPECT_TRUE(has_rule(columns, "S(1) | R, S(1), R, -"));
  EXPECT_TRUE(has_rule(columns, "P(sum) | S(0), R, R, -"));
  EXPECT_TRUE(has_rule(columns, "S(0) | S(1), R, R, -"));
  const std::string terms = "f64[4,6]; f64[6,4]; i32[3]; -";
  EXPECT_TRUE(has_rule(terms, "P(sum) | S(1), S(0), R, -"));
  EXPECT_TRUE(has_rule(terms, "S(1) | S(0), R, R, -"));
  EXPECT_TRUE(has_rule(terms, "S(2) | R, S(1), R, -"));
  const std::string batch = "f64[3,6,4]; f64[3,4,2]; -; -";
  EXPECT_TRUE(has_rule(batch, "S(0) | S(0), S(0), -, -"));
  EXPECT_FALSE(has_rule(batch, "P(sum) | R, S(0), -, -"));
}

}  // namespace
}  // namespace onedim
