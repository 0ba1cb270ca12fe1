// Functions of single numbers whose rules hold on part of their domain only: right values, refused
// calls, and that rules which hold elsewhere are refuted.

#include <gtest/gtest.h>

#include <limits>

#include "core/validate/claim.hpp"
#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

using Word = RuleVerdict::Word;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const LoadedPack& pack() {
  static const LoadedPack loaded("pointwise");
  return loaded;
}
std::string run(std::string_view op, std::string_view call,
                const std::vector<std::vector<double>>& elements) {
  return pack().run(op, call, elements);
}
Word judged(std::string_view name, std::string_view text, std::string_view claim) {
  const Op* op = pack().registry().find(name);
  EXPECT_NE(op, nullptr) << name;
  Result<CallText> call = parse_call(op->schema, text);
  Result<Rule> rule = parse_claim(claim);
  EXPECT_TRUE(call.ok() && rule.ok()) << text << " " << claim;
  Result<ClaimVerdict> verdict = judge_claim(*op, *call, *rule, pack().registry(), {});
  EXPECT_TRUE(verdict.ok()) << name << " " << text << " " << verdict.status();
  return verdict->word;
}

// A rule that the pack has for one call and not for another, where it is refuted.
struct Border {
  std::string_view op, rule, holds_on, fails_on;
};
void expect_borders(std::initializer_list<Border> borders) {
  for (const auto& [op, rule, holds_on, fails_on] : borders) {
    EXPECT_TRUE(pack().has_rule(op, holds_on, rule)) << op << " " << holds_on << " " << rule;
    EXPECT_EQ(judged(op, holds_on, rule), Word::kHolds) << op << " " << holds_on << " " << rule;
    EXPECT_FALSE(pack().has_rule(op, fails_on, rule)) << op << " " << fails_on << " " << rule;
    EXPECT_EQ(judged(op, fails_on, rule), Word::kRefuted) << op << " " << fails_on << " " << rule;
  }
}

TEST(SpecialFunctions, ValuesAtPolesAndEnds) {
  EXPECT_EQ(run("lgamma", "f64[3]", {{1, 0, -1}}), "f64[3]: 0, inf, inf");
  EXPECT_EQ(run("digamma", "f64[3]", {{0, -2, kInfinity}}), "f64[3]: -inf, nan, inf");
  EXPECT_EQ(run("polygamma", "f64[1]; n=1", {{0}}), "f64[1]: inf");
  EXPECT_EQ(run("special_zeta", "f64[4]; f64[4]", {{1, 0.5, 2, 2.5}, {1, 1, -1, -0.5}}),
            "f64[4]: inf, nan, inf, nan");
  EXPECT_EQ(run("special_entr", "f64[4]", {{0, 1, -1, kNaN}}), "f64[4]: 0, -0, -inf, nan");
  EXPECT_EQ(run("xlogy.Tensor", "f64[3]; f64[3]", {{0, 0, 2}, {-1, kNaN, 1}}), "f64[3]: 0, nan, 0");
  EXPECT_EQ(run("angle", "i64[3]", {{-1, 0, 2}}).substr(0, 9), "f32[3]: 3");
  EXPECT_EQ(run("angle", "f64[2]", {{kNaN, 5}}), "f64[2]: nan, 0");
  EXPECT_EQ(run("nextafter", "f64[3]; f64[3]", {{kInfinity, kNaN, 1}, {0, 1, 1}}),
            "f64[3]: 1.7976931348623157e+308, nan, 1");
}

TEST(SpecialFunctions, Polynomials) {
  const auto at = [](std::string_view name, double x, double n) {
    return run("special_" + std::string(name), "f64[1]; f64[1]", {{x}, {n}});
  };
  EXPECT_EQ(at("chebyshev_polynomial_t", 2, 3), "f64[1]: 26");  // 4 x^3 - 3 x
  EXPECT_EQ(at("chebyshev_polynomial_u", 2, 3), "f64[1]: 56");  // 8 x^3 - 4 x
  EXPECT_EQ(at("hermite_polynomial_h", 2, 3), "f64[1]: 40");    // 8 x^3 - 12 x
  EXPECT_EQ(at("hermite_polynomial_he", 2, 3), "f64[1]: 2");    // x^3 - 3 x
  EXPECT_EQ(at("laguerre_polynomial_l", 2, 2), "f64[1]: -1");   // 1 - 2 x + x^2 / 2
  EXPECT_EQ(at("legendre_polynomial_p", 2, 2), "f64[1]: 5.5");  // (3 x^2 - 1) / 2
  EXPECT_EQ(at("legendre_polynomial_p", 2, -1), "f64[1]: 0");
  EXPECT_EQ(at("legendre_polynomial_p", 2, 2.9), "f64[1]: 5.5");  // degrees are cut to whole ones
  EXPECT_EQ(at("legendre_polynomial_p", 2, 5000), "f64[1]: inf");
}

TEST(SpecialFunctions, NonfiniteNumbers) {
  const std::vector<std::vector<double>> all = {{kNaN, kInfinity, -kInfinity, 2}};
  EXPECT_EQ(run("isfinite", "f64[4]", all), "bool[4]: 0, 0, 0, 1");
  EXPECT_EQ(run("isposinf", "f64[4]", all), "bool[4]: 0, 1, 0, 0");
  EXPECT_EQ(run("isneginf", "f64[4]", all), "bool[4]: 0, 0, 1, 0");
  EXPECT_EQ(run("nan_to_num", "f64[4]; nan=5; neginf=-7; posinf=3", all), "f64[4]: 5, 3, -7, 2");
}

TEST(SpecialFunctions, Remainders) {
  EXPECT_EQ(run("remainder.Scalar", "i64[4]; other=-2", {{-3, 3, 4, 0}}), "i64[4]: -1, -1, 0, 0");
  EXPECT_EQ(run("fmod.Scalar", "i64[4]; other=-2", {{-3, 3, 4, 0}}), "i64[4]: -1, 1, 0, 0");
  EXPECT_EQ(run("ldexp.Tensor", "f64[3]; i64[3]", {{3, -1, 0}, {2, -1, 5}}), "f64[3]: 12, -0.5, 0");
  EXPECT_EQ(run("ldexp.Tensor", "c64[1]; i64[1]", {{3, -1}, {2}}).substr(0, 7), "c64[1]:");
}

TEST(SpecialFunctions, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"digamma", "c64[1]"},
      {"polygamma", "f64[1]; n=-1"},
      {"mvlgamma", "f64[1]; p=0"},
      {"isposinf", "c64[1]"},
      {"isneginf", "c64[1]"},
      {"nextafter", "i64[1]; i64[1]"},
      {"remainder.Scalar", "bool[1]; other=true"},
      {"remainder.Scalar", "i64[1]; other=0"},
      {"special_zeta", "c64[1]; c64[1]"},
      {"special_hermite_polynomial_h", "c64[1]; i64[1]"},
      {"special_airy_ai", "bf16[1]"},
      {"threshold", "u8[1]; threshold=-1; value=0"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
}

TEST(SpecialFunctions, GammaFunctionsRiseOnWholeNumbersOnly) {
  expect_borders({{"lgamma", "P(max) | P(max)", "i64[6]", "f64[6]"},
                  {"digamma", "P(min) | P(min)", "i64[6]", "f64[6]"},
                  {"digamma", "P(max) | P(max)", "u8[6]", "i64[6]"},
                  {"polygamma", "P(max) | P(min)", "i64[6]; n=1", "f64[6]; n=1"},
                  {"mvlgamma", "P(min) | P(min)", "i64[6]; p=3", "i64[6]; p=2"},
                  {"special_entr", "P(min) | P(max)", "i64[6]", "f64[6]:nonnegative"}});
}

TEST(SpecialFunctions, ZetaFallsWhereItsTermsDo) {
  const std::string_view falls = "P(max) | P(min)", name = "special_zeta.other_scalar";
  expect_borders(
      {{name, falls, "f64[6]:values(1.5,2,4); other=1", "f64[6]:values(1.5,2,4,9); other=0.5"},
       {"special_zeta.self_scalar", falls, "f64[6]; self=2.5", "f64[6]; self=2"},
       {"special_zeta.self_scalar", falls, "i64[6]; self=2", "f64[6]; self=2"}});
}

TEST(SpecialFunctions, DegreesRiseAtSomeNumbers) {
  const std::string_view rises = "P(max) | P(max)", degrees = "i64[6]:values(-1,0,1,2,3,5)";
  const auto at = [&](const char* x) { return std::string(degrees) + "; x=" + x; };
  const std::string two = at("2"), half = at("0.5"), below = at("-0.5");
  expect_borders({{"special_chebyshev_polynomial_t.x_scalar", rises, two, half},
                  {"special_shifted_chebyshev_polynomial_w.x_scalar", rises, two, half},
                  {"special_legendre_polynomial_p.x_scalar", rises, two, below},
                  {"special_laguerre_polynomial_l.x_scalar", rises, below, half}});
}

TEST(SpecialFunctions, NaNHidesInfinities) {
  const std::string_view all = "f64[20]:nonfinite";
  for (const auto& [op, right, wrong] :
       {std::array<std::string_view, 3>{"isposinf", "P(min) | P(min)", "P(max) | P(max)"},
        {"isneginf", "P(min) | P(max)", "P(max) | P(min)"},
        {"isneginf", "P(min) | P(max)", "P(max) | P(product)"},
        {"isfinite", "P(min) | P(sum)", "P(min) | P(max)"},
        {"isnan", "P(max) | P(min)", "P(max) | P(sum)"}}) {
    EXPECT_TRUE(pack().has_rule(op, all, right)) << op;
    EXPECT_EQ(judged(op, all, right), Word::kHolds) << op;
    EXPECT_FALSE(pack().has_rule(op, all, wrong)) << op;
    EXPECT_EQ(judged(op, all, wrong), Word::kRefuted) << op << " " << wrong;
  }
}

TEST(SpecialFunctions, OddProductsHaveOddFactors) {
  expect_borders(
      {{"remainder.Scalar", "P(min) | P(product)", "i64[6]; other=2", "i64[6]; other=3"},
       {"remainder.Scalar", "P(max) | P(product)", "i64[6]; other=-2", "i64[6]; other=2"},
       {"fmod.Scalar", "P(min) | P(product)", "u8[6]; other=2", "i64[6]; other=2"}});
}

TEST(SpecialFunctions, LogarithmsOfWholeNumbersAreNotNegative) {
  expect_borders(
      {{"xlogy.Tensor", "P(max) | P(max), R", "f64[6]; i64[6]:positive", "f64[6]; f64[6]:positive"},
       {"special_xlog1py", "P(min) | P(min), R", "f64[6]; u8[6]", "f64[6]; f64[6]:unit"},
       {"xlogy.Tensor", "P(min) | P(min), P(min)", "bool[6]; u8[6]", "bool[6]; f64[6]:positive"}});
}

// A power may be infinite where the exponents' sum is small, and infinity times 0 is no number.
TEST(SpecialFunctions, ScalesAreNotProducts) {
  EXPECT_EQ(judged("ldexp.Tensor", "f64[6]; i64[6]", "P(sum) | P(sum), R"), Word::kHolds);
  EXPECT_EQ(
      judged("ldexp.Tensor", "f32[6,6]:values(0,1); i64[6,6]", "P(product) | P(product), P(sum)"),
      Word::kRefuted);
}

}  // namespace
}  // namespace onedim
