#include <gtest/gtest.h>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("cast");
  return loaded;
}
std::string run(std::string_view op, std::string_view call,
                const std::vector<std::vector<double>>& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

TEST(Cast, ConvertsElements) {
  EXPECT_EQ(run("_to_copy", "f32[3]; dtype=i64", {{1.75, -1.75, 3}}), "i64[3]: 1, -1, 3");
  EXPECT_EQ(run("_to_copy", "f32[2]", {{1.75, -1.75}}), "f32[2]: 1.75, -1.75");
  EXPECT_EQ(run("prims.convert_element_type", "f32[3]; dtype=bool", {{0, 0.5, -2}}),
            "bool[3]: 0, 1, 1");
  EXPECT_EQ(run("to.dtype", "f64[2]; dtype=bf16", {{1.00390625, 3}}), "bf16[2]: 1, 3");
  EXPECT_EQ(run("to.dtype", "f64[2]; dtype=f64", {{1.5, 3}}), "f64[2]: 1.5, 3");
  EXPECT_EQ(run("_to_copy", "c64[1]; dtype=f32", {{2, 5}}), "f32[1]: 2");
  EXPECT_EQ(run("_to_copy", "i64[2]; dtype=u8", {{-1, 258}}), "u8[2]: 255, 2");
  EXPECT_EQ(run("_to_copy", "f32[2]; dtype=f8e8m0", {{-3, 1}}), "f8e8m0[2]: 4, 1");
}

TEST(Cast, FloatsBeyondTheRangeBecomeTheNearestInteger) {
  EXPECT_EQ(run("_to_copy", "f64[3]; dtype=i8", {{1e9, -1e9, 127.5}}), "i8[3]: 127, -128, 127");
  EXPECT_EQ(run("_to_copy", "f64[2]; dtype=i32", {{8e9, -8e9}}), "i32[2]: 2147483647, -2147483648");
}

TEST(Cast, RefusesAMemoryFormatThatDoesNotFit) {
  const std::string result = run("_to_copy", "f32[2]; memory_format=channels_last", {{1, 2}});
  EXPECT_NE(result.find("memory_format must be"), std::string::npos) << result;
}

TEST(Cast, RulesFollowThePairOfDTypes) {
  // Between floats a sum needs no reduction first.
  EXPECT_TRUE(has_rule("_to_copy", "bf16[4]; dtype=f32", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("prims.convert_element_type", "f32[4]; dtype=bf16", "P(avg) | P(avg)"));
  EXPECT_TRUE(has_rule("_to_copy", "i32[4]; dtype=f32", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("_to_copy", "i64[4]; dtype=i16", "P(product) | P(product)"));
  EXPECT_FALSE(has_rule("_to_copy", "i64[4]; dtype=i16", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("_to_copy", "c64[4]; dtype=f32", "P(sum) | P(sum)"));
  EXPECT_FALSE(has_rule("_to_copy", "c64[4]; dtype=f32", "P(product) | P(product)"));
  EXPECT_FALSE(has_rule("_to_copy", "f32[4]; dtype=f8e8m0", "P(max) | P(max)"));
}

// Truncation is not linear, in any of the ops that cast.
TEST(Cast, FloatsToIntegersPassNoSums) {
  const std::vector<std::string> ops = {"_to_copy", "to.dtype", "prims.convert_element_type"};
  for (const std::string& op : ops) {
    for (const std::string kind : {"sum", "avg", "product"}) {
      const std::string rule = "P(" + kind + ") | P(" + kind + ")";
      EXPECT_FALSE(has_rule(op, "f32[4]; dtype=i64", rule)) << op << ": " << rule;
      EXPECT_FALSE(has_rule(op, "f32[4]; dtype=bool", rule)) << op << ": " << rule;
    }
    EXPECT_TRUE(has_rule(op, "f32[4]; dtype=i64", "P(max) | P(max)")) << op;
    EXPECT_TRUE(has_rule(op, "f32[4]; dtype=bool", "P(min) | P(product)")) << op;
    EXPECT_FALSE(has_rule(op, "f32[4]; dtype=bool", "P(max) | P(max)")) << op;
  }
}

}  // namespace
}  // namespace onedim
