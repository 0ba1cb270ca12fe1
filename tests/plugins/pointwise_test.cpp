#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const LoadedPack& pack() {
  static const LoadedPack loaded("pointwise");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view op, std::string_view call, const Elements& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

TEST(Pointwise, BroadcastsAndPromotes) {
  EXPECT_EQ(run("add.Tensor", "f32[2,1]; i64[3]; alpha=2", {{1, 2}, {10, 20, 30}}),
            "f32[2,3]: 21, 41, 61, 22, 42, 62");
  EXPECT_EQ(run("mul.Tensor", "i32[2]; f64[]", {{3, 4}, {0.5}}), "f64[2]: 1.5, 2");
  EXPECT_EQ(run("mul.Tensor", "u8[2]; other=2.5", {{3, 4}}), "f32[2]: 7.5, 10");
  EXPECT_EQ(run("add.Tensor", "f16[2]; other=1", {{1, 2}}), "f16[2]: 2, 3");
  EXPECT_EQ(run("abs", "c64[2]", {{3, 4, 0, -1}}), "f32[2]: 5, 1");
  EXPECT_EQ(run("div.Tensor", "i64[2]; i64[2]", {{1, 3}, {2, 2}}), "f32[2]: 0.5, 1.5");
  EXPECT_EQ(run("eq.Scalar", "bool[2]; other=1", {{0, 1}}), "bool[2]: 0, 1");
  EXPECT_EQ(run("square", "bool[2]", {{0, 1}}), "i64[2]: 0, 1");
}

// Against PyTorch 2.15.
TEST(Pointwise, OutputsLieAsTheirOperandsDo) {
  const auto strides = [](std::string_view op, std::string_view call,
                          const std::vector<Dims>& inputs) {
    return pack().strides(op, call, inputs);
  };
  EXPECT_EQ(strides("neg", "f32[2,3,4]", {{12, 1, 3}}), (Dims{12, 1, 3}));
  EXPECT_EQ(strides("neg", "f32[2,3,4]", {{0, 1, 3}}), (Dims{12, 1, 3}));
  EXPECT_EQ(strides("neg", "f32[2,3]", {{1, 4}}), (Dims{1, 2}));  // gaps are left out
  EXPECT_EQ(strides("neg", "f32[2,3]", {{1, 1}}), (Dims{1, 2}));  // and overlaps
  EXPECT_EQ(strides("mul.Tensor", "f32[2,3]; f32[2,3]", {{1, 2}, {3, 1}}), (Dims{1, 2}));
  EXPECT_EQ(strides("mul.Tensor", "f32[2,3]; f32[2,3]", {{3, 1}, {1, 2}}), (Dims{3, 1}));
  EXPECT_EQ(strides("mul.Tensor", "f32[2,3,4]; f32[4]", {{12, 1, 3}, {1}}), (Dims{12, 1, 3}));
  EXPECT_EQ(strides("mul.Tensor", "f32[4]; f32[2,3,4]", {{1}, {12, 1, 3}}), (Dims{12, 1, 3}));
  EXPECT_EQ(strides("mul.Scalar", "f32[2,3]; other=2", {{1, 2}}), (Dims{1, 2}));
  // Strides of dims of size 1: a number is an operand of another shape.
  EXPECT_EQ(strides("neg", "f32[2,1,3]", {{3, 7, 1}}), (Dims{3, 3, 1}));
  EXPECT_EQ(strides("mul.Scalar", "f32[2,1,3]; other=2", {{3, 7, 1}}), (Dims{3, 6, 1}));
  EXPECT_EQ(strides("neg", "f32[2,1,3]", {{1, 9, 2}}), (Dims{1, 9, 2}));
  EXPECT_EQ(strides("mul.Scalar", "f32[2,1,3]; other=2", {{1, 9, 2}}), (Dims{1, 6, 2}));
  EXPECT_EQ(strides("neg", "f32[2,1,3,4]", {{12, 4, 4, 1}}), (Dims{12, 12, 4, 1}));
  EXPECT_EQ(strides("neg", "f32[4,2,1,3]", {{6, 1, 24, 2}}), (Dims{6, 1, 6, 2}));  // channels last
  EXPECT_EQ(strides("clamp", "f32[3,1,3]; min=0", {{3, 1, 1}}), (Dims{3, 3, 1}));
}

TEST(Pointwise, IntegersWrapAndBoolSaturates) {
  EXPECT_EQ(run("add.Tensor", "u8[2]; u8[2]", {{250, 1}, {10, 2}}), "u8[2]: 4, 3");
  EXPECT_EQ(run("neg", "i8[2]", {{-128, 5}}), "i8[2]: -128, -5");
  EXPECT_EQ(run("add.Tensor", "bool[3]; bool[3]", {{0, 1, 1}, {0, 0, 1}}), "bool[3]: 0, 1, 1");
  EXPECT_EQ(run("pow.Tensor_Tensor", "i64[3]; i64[3]", {{2, -1, 3}, {-1, -3, 4}}),
            "i64[3]: 0, -1, 81");
}

TEST(Pointwise, DivisionRoundsAsAsked) {
  const Elements operands = {{-7, 7, 7.5}, {2, -2, 2}};
  EXPECT_EQ(run("div.Tensor_mode", "f64[3]; f64[3]; rounding_mode=floor", operands),
            "f64[3]: -4, -4, 3");
  EXPECT_EQ(run("div.Tensor_mode", "f64[3]; f64[3]; rounding_mode=trunc", operands),
            "f64[3]: -3, -3, 3");
  EXPECT_EQ(run("div.Tensor_mode", "i64[2]; i64[2]; rounding_mode=floor", {{-7, 7}, {2, -2}}),
            "i64[2]: -4, -4");
  EXPECT_NE(run("div.Tensor_mode", "i64[2]; i64[2]; rounding_mode=floor", {{1, 1}, {1, 0}})
                .find("division by zero"),
            std::string::npos);
}

TEST(Pointwise, SpecialValues) {
  EXPECT_EQ(run("maximum", "f64[2]; f64[2]", {{kNaN, 1}, {1, kNaN}}), "f64[2]: nan, nan");
  EXPECT_EQ(run("fmax", "f64[2]; f64[2]", {{kNaN, 1}, {1, kNaN}}), "f64[2]: 1, 1");
  EXPECT_EQ(run("relu", "f64[3]", {{kNaN, -1, kInfinity}}), "f64[3]: nan, 0, inf");
  EXPECT_EQ(run("sign", "f64[2]", {{kNaN, -0.0}}), "f64[2]: 0, 0");
  EXPECT_EQ(run("logaddexp", "f64[2]; f64[2]", {{-kInfinity, kInfinity}, {-kInfinity, kInfinity}}),
            "f64[2]: -inf, inf");
  EXPECT_EQ(run("clamp", "f64[3]; min=1; max=-1", {{0, kNaN, 5}}), "f64[3]: -1, nan, -1");
  EXPECT_EQ(run("addcmul", "f64[1]; f64[1]; f64[1]; value=0", {{3}, {5}, {7}}), "f64[1]: 3");
}

TEST(Pointwise, InPlaceWritesTheFirstArgument) {
  EXPECT_EQ(run("mul_.Tensor", "f32[2]; i64[2]", {{1.5, 2}, {2, 3}}), "f32[2]: 3, 6");
  EXPECT_EQ(run("pow_.Scalar", "f32[2]; exponent=2", {{3, 4}}), "f32[2]: 9, 16");
  EXPECT_EQ(run("masked_fill_.Scalar", "i64[3]; bool[3]; value=7", {{1, 2, 3}, {1, 0, 1}}),
            "i64[3]: 7, 2, 7");
  EXPECT_EQ(run("mul_.Tensor", "i64[2]; f32[2]", {{1, 2}, {2, 3}}).find("i64[2]:"),
            std::string::npos);
}

TEST(Pointwise, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"abs", "bool[1]"},
      {"neg", "bool[1]"},
      {"positive", "bool[1]"},
      {"relu", "bool[1]"},
      {"sub.Tensor", "bool[1]; bool[1]"},
      {"sub.Scalar", "i64[1]; other=true"},
      {"floor", "c64[1]"},
      {"sign", "c64[1]"},
      {"lt.Tensor", "c64[1]; c64[1]"},
      {"maximum", "c64[1]; c64[1]"},
      {"gelu", "i64[1]"},
      {"gelu", "f32[1]; approximate=other"},
      {"lerp.Scalar", "i64[1]; i64[1]; weight=0.5"},
      {"lerp.Scalar", "f32[1]; f64[1]; weight=0.5"},
      {"addcdiv", "i64[1]; i64[1]; i64[1]"},
      {"pow.Tensor_Scalar", "i64[1]; exponent=-1"},
      {"add.Tensor", "i64[1]; i64[1]; alpha=0.5"},
      {"add.Tensor", "f32[1]; f32[1]; alpha=true"},
      {"add.Tensor", "f32[2]; f32[3]"},
      {"clamp", "f32[1]"},
      {"masked_fill.Scalar", "f32[1]; i64[1]; value=0"},
      {"masked_fill.Tensor", "f32[1]; bool[1]; f32[1]"},
      {"where.self", "i64[1]; f32[1]; f32[1]"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
}

TEST(Pointwise, RulesFollowAttributes) {
  EXPECT_TRUE(has_rule("add.Tensor", "f64[4]; f64[4]", "P(max) | R, P(max)"));
  EXPECT_TRUE(has_rule("add.Tensor", "f64[4]; f64[4]; alpha=-2", "P(min) | R, P(max)"));
  EXPECT_FALSE(has_rule("add.Tensor", "f64[4]; f64[4]; alpha=-2", "P(max) | R, P(max)"));
  EXPECT_TRUE(has_rule("add.Tensor", "f64[4]; f64[4]; alpha=0", "P(product) | P(product), P(sum)"));
  EXPECT_FALSE(has_rule("add.Scalar", "f64[4]; other=3", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("add.Scalar", "f64[4]; other=0", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("mul.Tensor", "f64[4]; other=-2", "P(min) | P(max)"));
  EXPECT_FALSE(has_rule("mul.Tensor", "f64[4]; other=-2", "P(max) | P(max)"));
  EXPECT_FALSE(has_rule("mul.Tensor", "f64[4]; f64[4]", "P(sum) | P(sum), P(sum)"));
  EXPECT_TRUE(has_rule("lerp.Scalar", "f64[4]; f64[4]; weight=1.5", "P(min) | P(max), R"));
  EXPECT_TRUE(has_rule("lerp.Scalar", "f64[4]; f64[4]; weight=1", "R | P(sum), R"));
  EXPECT_TRUE(has_rule("pow.Tensor_Scalar", "f64[4]; exponent=3", "P(max) | P(max)"));
  EXPECT_FALSE(has_rule("pow.Tensor_Scalar", "f64[4]; exponent=2", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("masked_fill.Scalar", "f64[4]; bool[4]; value=0", "P(sum) | P(sum), R"));
  EXPECT_FALSE(has_rule("masked_fill.Scalar", "f64[4]; bool[4]; value=2", "P(sum) | P(sum), R"));
  EXPECT_TRUE(has_rule("clamp", "f64[4]; min=-inf", "P(sum) | P(sum)"));
  EXPECT_FALSE(has_rule("clamp", "f64[4]; min=0", "P(sum) | P(sum)"));
}

TEST(Pointwise, RulesFollowDTypes) {
  EXPECT_TRUE(has_rule("add.Tensor", "bool[4]; bool[4]", "P(max) | P(max), P(max)"));
  EXPECT_FALSE(has_rule("add.Tensor", "f64[4]; f64[4]", "P(max) | P(max), P(max)"));
  EXPECT_TRUE(has_rule("mul.Tensor", "bool[4]; bool[4]", "P(min) | P(min), P(min)"));
  EXPECT_TRUE(has_rule("mul.Tensor", "f32[4]; bool[4]", "P(product) | P(product), R"));
  EXPECT_TRUE(has_rule("floor", "i64[4]", "P(sum) | P(sum)"));
  EXPECT_FALSE(has_rule("floor", "f64[4]", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("relu", "u8[4]", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("sqrt", "u8[4]", "P(max) | P(max)"));
  EXPECT_FALSE(has_rule("sqrt", "f64[4]", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("lt.Tensor", "bool[4]; bool[4]", "P(min) | P(max), P(min)"));
  EXPECT_FALSE(has_rule("lt.Tensor", "f64[4]; f64[4]", "P(min) | P(max), P(min)"));
  EXPECT_FALSE(has_rule("lt.Tensor", "f64[4]; f64[4]", "P(sum) | R, P(max)"));
  EXPECT_FALSE(has_rule("neg", "c64[4]", "P(min) | P(max)"));
  EXPECT_TRUE(has_rule("add.Tensor", "i64[4]; f64[4]", "P(avg) | R, P(avg)"));
}

TEST(Pointwise, BitsOfIntegersAndFlags) {
  EXPECT_EQ(run("bitwise_and.Tensor", "i64[3]; i64[3]", {{6, -1, -8}, {3, 5, 12}}),
            "i64[3]: 2, 5, 8");
  EXPECT_EQ(run("bitwise_or.Scalar", "i8[2]; other=-128", {{1, 127}}), "i8[2]: -127, -1");
  EXPECT_EQ(run("bitwise_xor.Scalar", "u8[2]; other=-1", {{0, 200}}), "u8[2]: 255, 55");
  EXPECT_EQ(run("bitwise_xor.Scalar_Tensor", "bool[2]; self=true", {{0, 1}}), "bool[2]: 1, 0");
  EXPECT_EQ(run("bitwise_or.Scalar", "bool[2]; other=6", {{0, 1}}), "i64[2]: 6, 7");
  EXPECT_EQ(run("bitwise_not", "u8[2]", {{0, 200}}), "u8[2]: 255, 55");
  EXPECT_EQ(run("bitwise_not", "bool[2]", {{0, 1}}), "bool[2]: 1, 0");
  EXPECT_EQ(run("__ixor__.Tensor", "i64[2]; bool[2]", {{4, 5}, {1, 1}}), "i64[2]: 5, 4");
}

TEST(Pointwise, ShiftsBeyondTheWidthLeaveNothingOrTheSign) {
  EXPECT_EQ(run("bitwise_left_shift.Tensor", "u8[4]; u8[4]", {{200, 1, 1, 3}, {1, 7, 8, 0}}),
            "u8[4]: 144, 128, 0, 3");
  EXPECT_EQ(run("bitwise_left_shift.Tensor", "i8[4]; i8[4]", {{1, 64, 1, 1}, {7, 1, 8, -1}}),
            "i8[4]: -128, -128, 0, 0");
  EXPECT_EQ(
      run("bitwise_right_shift.Tensor", "i8[5]; i8[5]", {{-7, 7, -7, 7, -7}, {1, 1, 9, 9, -1}}),
      "i8[5]: -4, 3, -1, 0, -1");
  EXPECT_EQ(run("bitwise_right_shift.Tensor", "u8[3]; u8[3]", {{200, 200, 200}, {7, 8, 255}}),
            "u8[3]: 1, 0, 0");
  EXPECT_EQ(run("__lshift__.Scalar", "i32[2]; other=31", {{1, 2}}), "i32[2]: -2147483648, 0");
}

TEST(Pointwise, TruthOfAnyNumber) {
  EXPECT_EQ(run("logical_and", "f64[3]; i64[3]", {{kNaN, -0.5, -0.0}, {2, 0, 1}}),
            "bool[3]: 1, 0, 0");
  EXPECT_EQ(run("logical_or", "c64[2]; bool[2]", {{0, 0, 0, 2}, {0, 0}}), "bool[2]: 0, 1");
  EXPECT_EQ(run("logical_xor_", "f32[3]; f32[3]", {{2, 0, -1}, {0, 0, 3}}), "f32[3]: 1, 0, 0");
  EXPECT_EQ(run("logical_not", "f64[2]", {{kNaN, 0}}), "bool[2]: 0, 1");
}

TEST(Pointwise, BitsAreRefusedOfWhatHasNone) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"bitwise_and.Tensor", "f32[1]; f32[1]"},
      {"bitwise_or.Scalar", "i64[1]; other=0.5"},
      {"bitwise_xor.Tensor", "i64[1]; c64[1]"},
      {"bitwise_not", "f64[1]"},
      {"bitwise_and.Tensor", "i64[2]; i64[3]"},
      {"bitwise_and_.Tensor", "bool[1]; i64[1]"},
      {"bitwise_left_shift.Tensor", "bool[1]; bool[1]"},
      {"bitwise_right_shift.Tensor", "f32[1]; i64[1]"},
      {"__rshift__.Scalar", "i64[1]; other=1.5"},
      {"logical_and_", "i64[1]; i64[2]"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
}

TEST(Pointwise, RulesFollowBits) {
  const std::string grows = "P(max) | P(max)", falls = "P(min) | P(max)";
  for (const int number : {-1, -2, -4, -128})
    EXPECT_TRUE(has_rule("bitwise_and.Scalar", fmt::format("i8[4]; other={}", number), grows));
  for (const int number : {1, 3, 5, -3, 127})
    EXPECT_FALSE(has_rule("bitwise_and.Scalar", fmt::format("i8[4]; other={}", number), grows));
  EXPECT_TRUE(has_rule("bitwise_and.Scalar", "u8[4]; other=240", grows));
  EXPECT_FALSE(has_rule("bitwise_and.Scalar", "i64[4]; other=240", grows));
  EXPECT_FALSE(has_rule("bitwise_and.Scalar", "u8[4]; other=15", grows));
  EXPECT_TRUE(has_rule("bitwise_or.Scalar_Tensor", "i64[4]; self=7", grows));
  EXPECT_FALSE(has_rule("bitwise_or.Scalar_Tensor", "i64[4]; self=4", grows));
  EXPECT_TRUE(has_rule("bitwise_xor.Scalar", "i64[4]; other=-1", falls));
  EXPECT_TRUE(has_rule("bitwise_xor.Scalar", "u8[4]; other=255", falls));
  EXPECT_FALSE(has_rule("bitwise_xor.Scalar", "i64[4]; other=255", falls));
  EXPECT_TRUE(has_rule("bitwise_xor.Scalar", "bool[4]; other=true", falls));
  EXPECT_TRUE(has_rule("bitwise_xor.Scalar", "i64[4]; other=0", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("bitwise_and.Scalar", "i64[4]; other=1", "P(product) | P(product)"));
  EXPECT_FALSE(has_rule("bitwise_and.Scalar", "i64[4]; other=2", "P(product) | P(product)"));
  EXPECT_TRUE(has_rule("bitwise_and.Tensor", "i64[4]; bool[4]", "P(min) | P(product), P(min)"));
  EXPECT_FALSE(has_rule("bitwise_and.Tensor", "i64[4]; i64[4]", "P(min) | P(product), P(min)"));
}

TEST(Pointwise, RulesFollowShifts) {
  EXPECT_TRUE(has_rule("bitwise_left_shift.Tensor", "i64[4]; i64[4]", "P(sum) | P(sum), R"));
  EXPECT_FALSE(has_rule("bitwise_left_shift.Tensor", "u8[4]; u8[4]", "P(max) | P(max), R"));
  EXPECT_FALSE(has_rule("bitwise_left_shift.Tensor_Scalar", "i64[4]; other=1", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("bitwise_left_shift.Tensor_Scalar", "i64[4]; other=0", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("bitwise_right_shift.Tensor", "i64[4]; i64[4]", "P(max) | P(max), R"));
  EXPECT_FALSE(has_rule("bitwise_right_shift.Tensor", "i64[4]; i64[4]", "P(sum) | P(sum), R"));
  EXPECT_TRUE(has_rule("bitwise_right_shift.Tensor_Scalar", "i64[4]; other=0", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("bitwise_right_shift.Tensor", "u8[4]; u8[4]", "P(min) | R, P(max)"));
  EXPECT_FALSE(has_rule("bitwise_right_shift.Tensor", "i64[4]; i64[4]", "P(min) | R, P(max)"));
  EXPECT_TRUE(has_rule("bitwise_right_shift.Scalar_Tensor", "u8[4]; self=9", "P(max) | P(min)"));
  EXPECT_FALSE(has_rule("bitwise_right_shift.Scalar_Tensor", "i64[4]; self=9", "P(max) | P(min)"));
  EXPECT_TRUE(
      has_rule("bitwise_right_shift.Scalar_Tensor", "i64[4]; self=1", "P(max) | P(product)"));
}

TEST(Pointwise, RulesFollowTruth) {
  EXPECT_TRUE(has_rule("logical_and", "u8[4]; u8[4]", "P(min) | P(min), P(product)"));
  EXPECT_FALSE(has_rule("logical_and", "f64[4]; f64[4]", "P(min) | P(min), R"));
  EXPECT_TRUE(has_rule("logical_or", "bool[4]; bool[4]", "P(max) | P(max), P(max)"));
  EXPECT_FALSE(has_rule("logical_or", "u8[4]; u8[4]", "P(min) | P(min), P(min)"));
  EXPECT_FALSE(has_rule("logical_and", "f64[4]; f64[4]", "P(product) | P(product), R"));
  EXPECT_TRUE(has_rule("logical_and_", "f64[4]; f64[4]", "P(product) | P(product), P(product)"));
  EXPECT_TRUE(has_rule("logical_or_", "i64[4]; i64[4]", "P(product) | P(product), R"));
  EXPECT_FALSE(has_rule("logical_or_", "i64[4]; i64[4]", "P(product) | P(product), P(product)"));
  EXPECT_FALSE(has_rule("logical_xor", "bool[4]; bool[4]", "P(max) | P(max), R"));
}

}  // namespace
}  // namespace onedim
