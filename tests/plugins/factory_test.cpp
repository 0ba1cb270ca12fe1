#include <gtest/gtest.h>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("factory");
  return loaded;
}
std::string run(std::string_view op, std::string_view call,
                const std::vector<std::vector<double>>& elements = {}) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

TEST(Factory, FillsWithANumber) {
  EXPECT_EQ(run("full", "size=[2]; fill_value=1.5"), "f32[2]: 1.5, 1.5");
  EXPECT_EQ(run("full", "size=[2]; fill_value=3"), "i64[2]: 3, 3");
  EXPECT_EQ(run("full", "size=[]; fill_value=true"), "bool[]: 1");
  EXPECT_EQ(run("full", "size=[1]; fill_value=0.5; dtype=bool"), "bool[1]: 1");
  EXPECT_EQ(run("full_like", "f32[2]; fill_value=7"), "f32[2]: 7, 7");
  EXPECT_EQ(run("new_ones", "i32[3]; size=[1,2]"), "i32[1,2]: 1, 1");
  EXPECT_EQ(run("zero", "f16[2]", {{1, 2}}), "f16[2]: 0, 0");
  EXPECT_EQ(run("fill.Tensor", "i64[2]; f32[]", {{1, 2}, {2.75}}), "i64[2]: 2, 2");
  EXPECT_EQ(run("scalar_tensor", "s=2"), "f32[]: 2");
  // -1 wraps into u8 as in ATen.
  EXPECT_EQ(run("full", "size=[1]; fill_value=-1; dtype=u8"), "u8[1]: 255");
}

TEST(Factory, EmptyTensorsHaveShapeAndDTypeAndHoldZeros) {
  EXPECT_EQ(run("empty_like", "f32[2]", {{5, 6}}), "f32[2]: 0, 0");
  EXPECT_EQ(run("new_empty", "bool[3]; size=[2]"), "bool[2]: 0, 0");
  EXPECT_EQ(run("new_empty_strided", "f64[3]; size=[2,1]; stride=[1,2]"), "f64[2,1]: 0, 0");
}

TEST(Factory, CountsAndMarksTheDiagonal) {
  EXPECT_EQ(run("arange", "end=3"), "i64[3]: 0, 1, 2");
  EXPECT_EQ(run("arange", "end=2.5"), "f32[3]: 0, 1, 2");
  EXPECT_EQ(run("arange.start_step", "start=5; end=-2; step=-3"), "i64[3]: 5, 2, -1");
  EXPECT_EQ(run("arange.start_step", "start=0; end=1; step=0.25; dtype=f64"),
            "f64[4]: 0, 0.25, 0.5, 0.75");
  EXPECT_EQ(run("arange", "end=0"), "i64[0]: ");
  EXPECT_EQ(run("linspace", "start=0; end=1; steps=3"), "f32[3]: 0, 0.5, 1");
  EXPECT_EQ(run("eye.m", "n=2; m=3"), "f32[2,3]: 1, 0, 0, 0, 1, 0");
}

TEST(Factory, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"full", "size=[-1]; fill_value=1"},
      {"full", "size=[1]; fill_value=300; dtype=i8"},
      {"full_like", "f16[2]; fill_value=1e30"},
      {"fill.Tensor", "f32[2]; f32[2]"},
      {"arange.start_step", "start=0; end=5; step=0"},
      {"arange.start_step", "start=0; end=5; step=-1"},
      {"eye", "n=-1"},
      {"linspace", "start=0; end=1; steps=-1"},
      {"zeros_like", "f32[2,2]; memory_format=channels_last"},
      {"new_empty_strided", "f32[2]; size=[2]; stride=[1,1]"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call);
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
  EXPECT_EQ(run("full", "size=[3,-2]; fill_value=1"),
            "full: size is [3,-2], expected no negative number");
  EXPECT_EQ(run("arange", "end=-3"),
            "arange: step 1 does not lead from start 0 to end -3, expected a step towards the end");
  EXPECT_EQ(run("arange.start_step", "start=0.5; end=5; step=-0.25"),
            "arange.start_step: step -0.25 does not lead from start 0.5 to end 5, expected a step "
            "towards the end");
  EXPECT_EQ(run("linspace", "start=0; end=1; steps=-1"),
            "linspace: steps is -1, expected at least 0");
}

TEST(Factory, RulesFollowTheNumber) {
  EXPECT_TRUE(has_rule("full", "size=[4]; fill_value=3", "S(0) |"));
  EXPECT_TRUE(has_rule("full", "size=[4]; fill_value=0.0", "P(sum) |"));
  EXPECT_TRUE(has_rule("full", "size=[4]; fill_value=1.0", "P(product) |"));
  EXPECT_FALSE(has_rule("full", "size=[4]; fill_value=3", "P(sum) |"));
  EXPECT_TRUE(has_rule("full", "size=[4]; fill_value=0.5; dtype=i64", "P(sum) |"));
  EXPECT_TRUE(has_rule("new_full", "f32[4]; size=[5]; fill_value=3", "R | S(0)"));
  EXPECT_TRUE(has_rule("zeros_like", "f32[4,6]", "S(0) | S(1)"));
  EXPECT_TRUE(has_rule("zeros_like", "f32[4,6]", "P(sum) | P(max)"));
  EXPECT_TRUE(has_rule("arange", "end=5", "S(0) |"));
  EXPECT_FALSE(has_rule("arange", "end=5", "P(sum) |"));
  EXPECT_TRUE(has_rule("eye", "n=5", "S(1) |"));
}

// A fill that is not zero would be added up once a rank.
TEST(Factory, FillingASumInPlaceIsNoSum) {
  EXPECT_FALSE(has_rule("fill_.Scalar", "f32[4]; value=3.0", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("fill_.Scalar", "f32[4]; value=0.0", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("fill_.Scalar", "f32[4]; value=3.0", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("fill_.Tensor", "f32[4]; f32[]", "P(sum) | P(sum), P(sum)"));
  EXPECT_FALSE(has_rule("fill_.Tensor", "f32[4]; f32[]", "P(sum) | P(sum), R"));
  EXPECT_TRUE(has_rule("zero_", "f32[4]", "P(sum) | P(sum)"));
}

}  // namespace
}  // namespace onedim
