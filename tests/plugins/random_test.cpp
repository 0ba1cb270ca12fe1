#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("random");
  return loaded;
}
std::string run(std::string_view op, std::string_view call,
                const std::vector<std::vector<double>>& elements = {}) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

// The numbers behind `f64[n]: `.
std::vector<double> numbers(const std::string& text) {
  std::vector<double> values;
  for (size_t at = text.find(": ") + 1; at < text.size(); at = text.find(',', at + 1))
    values.push_back(std::stod(text.substr(at + 1)));
  return values;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(Random, DistributionsHaveTheirMeansAndRanges) {
  const std::vector<double> uniform = numbers(run("uniform", "f64[2000]; from=-1; to=3"));
  ASSERT_EQ(uniform.size(), 2000u);
  EXPECT_NEAR(mean_of(uniform), 1, 0.1);
  for (const double value : uniform) EXPECT_TRUE(value >= -1 && value < 3) << value;
  EXPECT_NEAR(mean_of(numbers(run("normal_functional", "f64[2000]; mean=5"))), 5, 0.1);
  EXPECT_NEAR(mean_of(numbers(run("exponential", "f64[2000]; lambd=2"))), 0.5, 0.05);
  EXPECT_NEAR(mean_of(numbers(run("geometric", "f64[2000]; p=0.25"))), 4, 0.4);
  EXPECT_NEAR(mean_of(numbers(run("bernoulli.p", "f64[2000]; p=0.3"))), 0.3, 0.05);
  EXPECT_NEAR(mean_of(numbers(run("randint.low", "low=-10; high=11; size=[2000]"))), 0, 0.7);
  EXPECT_EQ(run("bernoulli", "f32[2]", {{0, 1}}), "f32[2]: 0, 1");
}

TEST(Random, TheSameCallGivesTheSameNumbers) {
  EXPECT_EQ(run("rand_like", "f64[5]"), run("rand_like", "f64[5]"));
  // The counter is the linear index: the shape does not matter, nor does the dtype.
  EXPECT_EQ(numbers(run("rand_like", "f64[2,3]")), numbers(run("rand", "size=[6]; dtype=f64")));
}

TEST(Random, PermutationsHoldEachIndexOnce) {
  std::vector<double> order = numbers(run("randperm", "n=50"));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(order[i], i);
}

TEST(Random, DropoutScalesWhatItKeeps) {
  const std::vector<double> kept = numbers(run("native_dropout", "f64[8]; p=0.5; train=true"));
  for (const double value : kept) EXPECT_TRUE(value == 0 || value == 2) << value;
  EXPECT_EQ(run("native_dropout", "f64[2]; p=0.5; train=false", {{3, 4}}), "f64[2]: 3, 4");
  EXPECT_EQ(run("native_dropout", "f64[2]; p=1.0; train=true", {{3, 4}}), "f64[2]: 0, 0");
  EXPECT_EQ(run("native_dropout_backward", "f32[2]; bool[2]; scale=2.0", {{3, 4}, {1, 0}}),
            "f32[2]: 6, 0");
}

TEST(Random, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"uniform", "i64[2]"},
      {"uniform", "f32[2]; from=2; to=1"},
      {"normal_functional", "f32[2]; std=-1"},
      {"exponential", "f32[2]; lambd=0"},
      {"geometric", "f32[2]; p=1.5"},
      {"bernoulli.p", "f32[2]; p=1.5"},
      {"bernoulli.Tensor", "f32[2]; f32[3]"},
      {"randint", "high=0; size=[2]"},
      {"native_dropout", "i64[2]; p=0.5; train=true"},
      {"native_dropout", "f32[2]; p=-0.5; train=true"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call);
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
  EXPECT_NE(run("bernoulli", "f32[1]", {{2}}).find("p must lie between"), std::string::npos);
}

TEST(Random, RulesKeepTheGlobalValues) {
  EXPECT_TRUE(has_rule("uniform_", "f32[8,8]", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("uniform_", "f32[8,8]", "S(1) | S(1)"));
  EXPECT_FALSE(has_rule("uniform_", "f32[8,8]", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("rand_like", "f32[8,8]", "S(0) | P(sum)"));
  EXPECT_FALSE(has_rule("rand_like", "f32[8,8]", "P(sum) | R"));
  EXPECT_TRUE(has_rule("bernoulli", "f32[8]", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("native_dropout", "f32[8]; p=0.5; train=true", "P(sum), R | P(sum)"));
  EXPECT_FALSE(
      has_rule("native_dropout", "f32[8]; p=0.5; train=true", "P(product), R | P(product)"));
  EXPECT_TRUE(
      has_rule("native_dropout_backward", "f32[8]; bool[8]; scale=2.0", "P(sum) | P(sum), R"));
  EXPECT_TRUE(has_rule("randperm", "n=8", "S(0) |"));
}

}  // namespace
}  // namespace onedim
