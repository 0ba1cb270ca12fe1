#include <gtest/gtest.h>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("matrix");
  return loaded;
}
std::string run(std::string_view call, const std::vector<std::vector<double>>& elements = {}) {
  return pack().run("_scaled_mm", call, elements);
}
bool has_rule(std::string_view call, std::string_view rule) {
  return pack().has_rule("_scaled_mm", call, rule);
}

TEST(ScaledMm, ScalesOfOneOfRowsAndOfBlocks) {
  const std::vector<double> ones;
  EXPECT_EQ(run("f8e4m3fn[1,2]; f8e4m3fn[2,1]; f32[1]; f32[]; -; -; out_dtype=f32",
                {{1, 2}, {3, 4}, {0.5}, {2}}),
            "f32[1,1]: 11");
  EXPECT_EQ(run("f8e4m3fn[2,1]; f8e5m2[1,2]; f32[2,1]; f32[1,2]; bf16[2]; -; out_dtype=bf16",
                {{1, 1}, {1, 1}, {1, 2}, {1, 4}, {0, 1}}),
            "bf16[2,2]: 1, 5, 2, 9");
  EXPECT_EQ(run("f8e4m3fn[1,256]; f8e4m3fn[256,1]; f32[1,2]; f32[2,1]; -; -; out_dtype=f32",
                {ones, ones, {1, 2}, {1, 0.5}}),
            "f32[1,1]: 256");
  EXPECT_EQ(run("f8e4m3fn[1,1]; f8e4m3fn[1,1]; f32[]; f32[]; -; f32[]", {{2}, {3}, {1}, {1}, {4}}),
            "f8e4m3fn[1,1]: 24");
}

// Row 1 lies 16 elements on in the vector, the second block of 32 terms one.
TEST(ScaledMm, VectorsOfScalesAreInTiles) {
  std::vector<double> scales(512, 1);
  scales[16] = 2;
  scales[17] = 8;
  EXPECT_EQ(run("f8e4m3fn[2,64]; f8e4m3fn[64,1]; f8e8m0[512]; f8e8m0[512]; -; -; out_dtype=f32",
                {{}, {}, scales}),
            "f32[2,1]: 64, 320");
}

TEST(ScaledMm, RefusesScalesThatDoNotFit) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"f32[2,2]; f32[2,2]; f32[]; f32[]", "self and mat2 must be f8e4m3fn or f8e5m2"},
      {"f8e5m2[2,2]; f8e5m2[2,2]; f32[]; f32[]", "two f8e5m2 matrices"},
      {"f8e4m3fn[2,2]; f8e4m3fn[2,2]; bf16[]; f32[]", "scales must be f32 or f8e8m0"},
      {"f8e4m3fn[3,2]; f8e4m3fn[2,3]; f32[2,1]; f32[1,3]", "scales of shape [2,1], expected"},
      {"f8e4m3fn[3,2]; f8e4m3fn[2,3]; f32[3,1]; f32[]", "one scale for all of mat2"},
      {"f8e4m3fn[3,256]; f8e4m3fn[256,3]; f32[3,2]; f32[1,3]", "scales by blocks"},
      {"f8e4m3fn[3,2]; f8e4m3fn[2,3]; f8e8m0[3]; f8e8m0[512]", "expected a vector of 512"},
      {"f8e4m3fn[3,2]; f8e4m3fn[2,3]; f8e8m0[512]; f32[]", "f8e8m0 scales are needed on both"},
      {"f8e4m3fn[3,2]; f8e4m3fn[2,3]; f32[]; f32[]; bf16[2]", "the bias has shape [2]"},
  };
  for (const auto& [call, text] : calls) {
    const std::string result = run(call);
    EXPECT_NE(result.find(text), std::string::npos) << call << " gave " << result;
  }
}

TEST(ScaledMm, ScalesFollowTheirOperandOrStayWhole) {
  const std::string rows = "f8e4m3fn[4,4]; f8e4m3fn[4,3]; f32[4,1]; f32[1,3]; -; -; out_dtype=f32";
  EXPECT_TRUE(has_rule(rows, "S(0) | S(0), R, S(0), R, -, -"));
  EXPECT_TRUE(has_rule(rows, "S(0) | S(0), R, R, R, -, -"));
  EXPECT_TRUE(has_rule(rows, "S(1) | R, S(1), R, S(1), -, -"));
  EXPECT_TRUE(has_rule(rows, "P(sum) | S(1), S(0), R, R, -, -"));
  EXPECT_TRUE(has_rule(rows, "P(sum) | P(sum), R, R, R, -, -"));
  EXPECT_FALSE(has_rule(rows, "P(sum) | P(sum), R, P(sum), R, -, -"));
  const std::string blocks =
      "f8e4m3fn[2,256]; f8e4m3fn[256,4]; f32[2,2]; f32[2,1]; f32[4]; -; out_dtype=f32";
  EXPECT_TRUE(has_rule(blocks, "P(sum) | S(1), S(0), S(1), S(0), P(sum), -"));
  EXPECT_TRUE(has_rule(blocks, "P(sum) | S(1), S(0), R, R, P(sum), -"));
  EXPECT_FALSE(has_rule(blocks, "P(sum) | S(1), S(0), R, R, R, -"));
  const std::string vectors =
      "f8e4m3fn[256,64]; f8e4m3fn[64,4]; f8e8m0[1024]; f8e8m0[512]; -; -; out_dtype=f32";
  EXPECT_TRUE(has_rule(vectors, "S(0) | S(0), R, S(0), R, -, -"));
  EXPECT_TRUE(has_rule(vectors, "P(sum) | S(1), S(0), R, R, -, -"));
  EXPECT_FALSE(has_rule(vectors, "P(sum) | S(1), S(0), S(0), S(0), -, -"));
}

}  // namespace
}  // namespace onedim
