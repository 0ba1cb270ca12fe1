#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("attention");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view form, std::string_view call, const Elements& elements = {}) {
  return pack().run("_scaled_dot_product_" + std::string(form), call, elements);
}
// The numbers behind the shape.
std::string values(std::string_view form, std::string_view call, const Elements& elements = {}) {
  const std::string text = run(form, call, elements);
  return text.substr(std::min(text.size(), text.find(": ") + 2));
}
bool has_rule(std::string_view form, std::string_view call, std::string_view rule) {
  return pack().has_rule("_scaled_dot_product_" + std::string(form), call, rule);
}

constexpr std::string_view kCpu = "flash_attention_for_cpu";

// Keys of zeros weigh all values alike.
TEST(Attention, EveryFormTakesTheMeanOfEqualWeights) {
  const Elements elements = {{1, 1}, {0, 0}, {1, 3}};
  const std::string call = "f64[1,1,2,1]; f64[1,1,2,1]; f64[1,1,2,1]";
  EXPECT_EQ(values(kCpu, call + "; -", elements), "2, 2");
  EXPECT_EQ(values("flash_attention", call, elements), "2, 2");
  EXPECT_EQ(values("efficient_attention", call + "; -; compute_log_sumexp=true", elements), "2, 2");
  EXPECT_EQ(values("cudnn_attention", call + "; -; compute_log_sumexp=false", elements), "2, 2");
  EXPECT_EQ(values("attention_math", call + "; -; -", elements), "2, 2");
}

TEST(Attention, CausalMasksBeginAtEitherCorner) {
  const Elements elements = {{1, 1}, {0, 0, 0}, {1, 3, 5}};
  const std::string call = "f64[1,1,2,1]; f64[1,1,3,1]; f64[1,1,3,1]";
  EXPECT_EQ(values(kCpu, call + "; -; is_causal=true", elements), "1, 2");
  EXPECT_EQ(values("flash_attention", call + "; is_causal=true", elements), "2, 3");
}

TEST(Attention, MasksAddOrHide) {
  const std::string call = "f64[1,1,2,1]; f64[1,1,2,1]; f64[1,1,2,1]";
  EXPECT_EQ(values(kCpu, call + "; bool[2,2]", {{1, 1}, {0, 0}, {1, 3}, {1, 0, 1, 1}}), "1, 2");
  EXPECT_EQ(values(kCpu, call + "; bool[2,2]", {{1, 1}, {0, 0}, {1, 3}, {0, 0, 0, 1}}), "0, 3");
  EXPECT_EQ(values(kCpu, call + "; f64[2]", {{1, 1}, {0, 0}, {1, 3}, {0, -10000}}), "1, 1");
}

TEST(Attention, TakesEmptyDims) {
  EXPECT_EQ(values(kCpu, "f64[1,2,2,3]; f64[1,2,4,3]; f64[1,2,4,1]; -"), "1, 1, 1, 1");
  EXPECT_EQ(values(kCpu, "f64[0,2,2,3]; f64[0,2,4,3]; f64[0,2,4,1]; -"), "");
  EXPECT_EQ(values(kCpu, "f64[1,2,0,3]; f64[1,2,4,3]; f64[1,2,4,1]; -"), "");
  EXPECT_EQ(values(kCpu, "f64[1,2,2,3]; f64[1,2,0,3]; f64[1,2,0,1]; -"), "0, 0, 0, 0");
}

// With one key of weight 1, out is dropout's factor, and so is the query's gradient.
TEST(Attention, BackwardDropsWhatForwardDropped) {
  const std::string forward =
      values("flash_attention", "f64[1,1,8,1]; f64[1,1,1,1]; f64[1,1,1,1]; dropout_p=0.5");
  EXPECT_NE(forward.find('0'), std::string::npos);
  EXPECT_NE(forward.find('2'), std::string::npos);
  const std::vector<double> ones, zeros(8, 0);
  EXPECT_EQ(values("flash_attention_backward",
                   "f64[1,1,8,1]; f64[1,1,8,1]; f64[1,1,1,1]; f64[1,1,1,1]; f64[1,1,8,1]; "
                   "f64[1,1,8]; -; -; i64[2]; i64[]; max_q=8; max_k=1; dropout_p=0.5; "
                   "is_causal=false",
                   {ones, ones, ones, ones, zeros, ones, {0, 0}, {0}}),
            forward);
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"f64[2,3,2]; f64[2,3,2]; f64[2,3,2]; -",
       "query, key and value need four dims: batch, heads, sequence, features"},
      {"f64[1,3,2,2]; f64[1,2,2,2]; f64[1,2,2,2]; -",
       "query has 3 heads and key has 2, expected a multiple of the key heads"},
      {"f64[1,1,2,2]; f64[1,1,2,3]; f64[1,1,2,2]; -",
       "query has shape [1,1,2,2] and key [1,1,2,3], expected one number of features (dim 3)"},
      {"f64[1,1,2,2]; f64[1,1,2,2]; f64[1,1,3,2]; -",
       "key has shape [1,1,2,2] and value [1,1,3,2], expected one sequence length (dim 2)"},
      {"f64[1,2,2,2]; f64[1,2,2,2]; f64[1,1,2,2]; -",
       "key has shape [1,2,2,2] and value [1,1,2,2], expected one number of heads (dim 1)"},
      {"f64[1,1,2,2]; f64[1,1,2,2]; f64[3,1,2,2]; -",
       "query has shape [1,1,2,2] and value [3,1,2,2], expected one batch size (dim 0)"},
      {"f64[1,1,2,2]; f32[1,1,2,2]; f64[1,1,2,2]; -",
       "query, key and value are f64, f32 and f64, expected one dtype"},
      {"i64[1,1,2,2]; i64[1,1,2,2]; i64[1,1,2,2]; -",
       "query, key and value must be f64, f32, bf16 or f16"},
      {"f64[1,1,2,2]; f64[1,1,3,2]; f64[1,1,3,2]; f64[2,1,1,1]",
       "a mask of shape [2,1,1,1] does not broadcast to the scores' [1,1,2,3]"},
      {"f64[1,1,2,2]; f64[1,1,2,2]; f64[1,1,2,2]; -; dropout_p=0.5",
       "dropout_p must be 0 on the CPU"},
  };
  for (const auto& [call, text] : calls) {
    const std::string result = run(kCpu, call);
    EXPECT_NE(result.find(text), std::string::npos) << call << " gave " << result;
  }
  EXPECT_NE(run("flash_attention", "f64[1,1,2,2]; f64[1,1,2,2]; f64[1,1,2,2]; dropout_p=1.0")
                .find("dropout_p must be at least 0 and below 1"),
            std::string::npos);
  EXPECT_NE(run("attention_math", "f64[1,2,2,2]; f64[1,1,2,2]; f64[1,1,2,2]; -; -")
                .find("need enable_gqa"),
            std::string::npos);
}

TEST(Attention, ForwardRules) {
  const std::string plain = "f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,4]; -";
  EXPECT_TRUE(has_rule(kCpu, plain, "S(0), S(0) | S(0), S(0), S(0), -"));
  EXPECT_TRUE(has_rule(kCpu, plain, "S(1), S(1) | S(1), R, R, -"));
  EXPECT_TRUE(has_rule(kCpu, plain + "; is_causal=true", "S(2), S(2) | S(2), R, R, -"));
  EXPECT_TRUE(has_rule(kCpu, plain, "S(3), R | R, R, S(3), -"));
  EXPECT_TRUE(has_rule(kCpu, plain, "P(avg), R | R, R, P(avg), -"));
  EXPECT_TRUE(
      has_rule(kCpu, plain, "P(attention.softmax#0), P(attention.softmax#1) | R, S(2), S(2), -"));
  EXPECT_FALSE(has_rule(kCpu, plain, "S(2), S(2) | S(2), S(2), S(2), -"));
  EXPECT_FALSE(has_rule(kCpu, plain, "P(max), R | R, R, P(max), -"));
}

TEST(Attention, MasksFollowWhereTheyAreNotBroadcast) {
  const std::string rows = "f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,4]; f64[2,1,3,1]";
  EXPECT_TRUE(has_rule(kCpu, rows, "S(0), S(0) | S(0), S(0), S(0), S(0)"));
  EXPECT_TRUE(has_rule(kCpu, rows, "S(1), S(1) | S(1), S(1), S(1), R"));
  EXPECT_TRUE(has_rule(kCpu, rows, "S(2), S(2) | S(2), R, R, S(2)"));
  EXPECT_TRUE(
      has_rule(kCpu, rows, "P(attention.softmax#0), P(attention.softmax#1) | R, S(2), S(2), R"));
  EXPECT_TRUE(has_rule(kCpu, "f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,4]; f64[5]",
                       "P(attention.softmax#0), P(attention.softmax#1) | R, S(2), S(2), S(0)"));
}

TEST(Attention, WeightsNeedAllKeys) {
  const std::string call = "f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,4]";
  const std::string joint = "P(attention.softmax#0), P(attention.softmax#1), -, -, -, -, R, R, ";
  EXPECT_TRUE(has_rule("flash_attention", call, joint + "- | R, S(2), S(2)"));
  EXPECT_FALSE(
      has_rule("flash_attention", call + "; return_debug_mask=true", joint + "R | R, S(2), S(2)"));
  EXPECT_FALSE(has_rule("efficient_attention", call + "; -; compute_log_sumexp=false",
                        "P(sum), -, R, R | R, S(2), S(2), -"));
}

TEST(Attention, OneKeyLeavesNoSoftmax) {
  const std::string one = "f64[2,1,3,2]; f64[2,1,1,2]; f64[2,1,1,4]; -";
  EXPECT_TRUE(has_rule(kCpu, one, "P(max), R | R, R, P(max), -"));
  EXPECT_TRUE(has_rule(kCpu, one, "P(min), P(sum) | P(sum), R, P(min), -"));
  EXPECT_TRUE(has_rule(kCpu, one, "R, P(sum) | S(3), S(3), R, -"));
}

TEST(Attention, BackwardRules) {
  const std::string form = fmt::format("{}_backward", kCpu);
  const std::string call =
      "f64[2,2,3,4]; f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,4]; f64[2,2,3,4]; f64[2,2,3]; -; "
      "dropout_p=0.0; is_causal=true";
  const auto has = [&](std::string_view rule) { return has_rule(form, call, rule); };
  EXPECT_TRUE(has("S(2), P(sum), P(sum) | S(2), S(2), R, R, S(2), S(2), -"));
  EXPECT_TRUE(has("P(sum), S(2), S(2) | R, R, S(2), S(2), R, R, -"));
  EXPECT_TRUE(has("S(1), P(sum), P(sum) | S(1), S(1), R, R, S(1), S(1), -"));
  EXPECT_TRUE(has("P(sum), P(sum), S(3) | S(3), R, R, S(3), S(3), R, -"));
  EXPECT_TRUE(has("P(sum), P(sum), P(sum) | P(sum), R, R, R, R, R, -"));
  EXPECT_TRUE(has("P(sum), P(sum), R | R, R, R, P(sum), P(sum), R, -"));
  // delta is a product of grad_out and out.
  EXPECT_FALSE(has("P(sum), P(sum), P(sum) | P(sum), R, R, R, P(sum), R, -"));
  EXPECT_FALSE(has("P(sum), P(sum), R | R, R, R, P(sum), R, R, -"));
}

TEST(Attention, ABroadcastBiasGetsASumAsItsGradient) {
  const std::string call =
      "f64[2,2,3,4]; f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,4]; f64[2,1,1,5]; f64[2,2,3,4]; "
      "f64[2,2,3]; i64[]; i64[]; dropout_p=0.0; grad_input_mask=[true,true,true,true]";
  const std::string_view form = "efficient_attention_backward";
  EXPECT_TRUE(has_rule(form, call,
                       "S(0), S(0), S(0), S(0) | S(0), S(0), S(0), S(0), S(0), S(0), S(0), R, R"));
  EXPECT_TRUE(
      has_rule(form, call, "S(2), P(sum), P(sum), P(sum) | S(2), S(2), R, R, R, S(2), S(2), R, R"));
  EXPECT_TRUE(
      has_rule(form, call, "P(sum), S(2), S(2), S(3) | R, R, S(2), S(2), S(3), R, R, R, R"));
}

}  // namespace
}  // namespace onedim
