#include <gtest/gtest.h>

#include <limits>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const LoadedPack& pack() {
  static const LoadedPack loaded("reduction");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view op, std::string_view call, const Elements& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

TEST(Reduction, FoldsTheDimsAsked) {
  const Elements grid = {{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(run("sum", "f32[2,3]", grid), "f32[]: 21");
  EXPECT_EQ(run("sum.dim_IntList", "f32[2,3]; dim=[-1]; keepdim=true", grid), "f32[2,1]: 6, 15");
  EXPECT_EQ(run("sum.dim_IntList", "f32[2,3]; dim=[0]", grid), "f32[3]: 5, 7, 9");
  EXPECT_EQ(run("sum.dim_IntList", "f32[2,3]; dim=[]", grid), "f32[]: 21");
  EXPECT_EQ(run("mean.dim", "f64[2,3]; dim=[1]", grid), "f64[2]: 2, 5");
  EXPECT_EQ(run("prod.dim_int", "i64[2,3]; dim=1", grid), "i64[2]: 6, 120");
  EXPECT_EQ(run("amin", "i8[2,3]; dim=[1]", grid), "i8[2]: 1, 4");
  EXPECT_EQ(run("argmax", "f32[2,3]", grid), "i64[]: 5");
  EXPECT_EQ(run("argmax", "f32[2,3]; dim=0; keepdim=true", grid), "i64[1,3]: 1, 1, 1");
  EXPECT_EQ(run("any.dims", "f32[2]; dim=[]", {{0, 3}}), "bool[2]: 0, 1");
  EXPECT_EQ(run("sum", "f32[]", {{3}}), "f32[]: 3");
}

TEST(Reduction, DTypesFollowATen) {
  EXPECT_EQ(run("sum", "i32[2]", {{1, 2}}), "i64[]: 3");
  EXPECT_EQ(run("sum", "bool[3]", {{1, 0, 1}}), "i64[]: 2");
  EXPECT_EQ(run("sum", "f32[3]; dtype=bool", {{1, -1, 0}}), "bool[]: 1");
  EXPECT_EQ(run("sum", "f32[2]; dtype=i64", {{1.75, 1.75}}), "i64[]: 2");
  EXPECT_EQ(run("mean", "i64[2]; dtype=f32", {{1, 2}}), "f32[]: 1.5");
  EXPECT_EQ(run("any", "u8[2]", {{0, 4}}), "u8[]: 1");
  EXPECT_EQ(run("all", "c64[2]", {{0, 1, 1, 0}}), "bool[]: 1");
  // 2049 is no f16: each element is rounded before the sum.
  EXPECT_EQ(run("sum", "f32[2]; dtype=f16", {{2049, 2049}}), "f16[]: 4096");
}

TEST(Reduction, SpecialValues) {
  EXPECT_EQ(run("amax", "f32[3]", {{1, kNaN, 3}}), "f32[]: nan");
  EXPECT_EQ(run("argmin", "f32[3]", {{1, kNaN, kNaN}}), "i64[]: 1");
  EXPECT_EQ(run("argmax", "f32[4]", {{2, 5, 5, 1}}), "i64[]: 1");
  EXPECT_EQ(run("argmax", "f32[2]", {{-0.0, 0.0}}), "i64[]: 0");
  EXPECT_EQ(run("sum", "f32[0]", {{}}), "f32[]: 0");
  EXPECT_EQ(run("prod", "f32[0]", {{}}), "f32[]: 1");
  EXPECT_NE(run("mean", "f32[0]", {{}}).find("nan"), std::string::npos);
  EXPECT_EQ(run("all", "bool[0]", {{}}), "bool[]: 1");
}

TEST(Reduction, LongSumsStayExact) {
  std::vector<double> ones(100000, 1);
  ones[0] = 16777216;  // 2^24: f32 alone would drop every one
  EXPECT_EQ(run("sum", "f32[100000]", {ones}), "f32[]: 16877216");
}

TEST(Reduction, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"amax", "f32[0]"},
      {"amax", "f32[2,0]; dim=[1]"},
      {"argmax", "f32[0]"},
      {"max", "f32[0]"},
      {"amax", "c64[2]"},
      {"argmax", "c64[2]"},
      {"mean", "i64[2]"},
      {"mean", "f32[2]; dtype=i64"},
      {"sum.dim_IntList", "f32[2]; dim=[1]"},
      {"sum.dim_IntList", "f32[2,2]; dim=[0,-2]"},
      {"max.dim", "f32[2]; dim=-2"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
}

TEST(Reduction, RulesFollowTheCase) {
  EXPECT_TRUE(has_rule("sum", "f32[4,3]", "P(avg) | P(avg)"));
  EXPECT_FALSE(has_rule("sum", "f32[4,3]", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("sum.dim_IntList", "f32[4,1]; dim=[1]", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("sum.dim_IntList", "f32[4,3]; dim=[0]; keepdim=true", "S(1) | S(1)"));
  EXPECT_TRUE(has_rule("mean", "f32[4,3]", "P(avg) | S(0)"));
  EXPECT_TRUE(has_rule("mean", "f32[4,3]", "P(sum) | S(0)"));
  EXPECT_TRUE(has_rule("prod", "bool[4]", "P(product) | P(min)"));
  EXPECT_FALSE(has_rule("sum", "f32[4,3]; dtype=i64", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("all", "f32[4]", "P(min) | P(product)"));
  EXPECT_FALSE(has_rule("any", "i64[4]", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("any", "u8[4]", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("argmax", "f32[4,3]; dim=1", "P(reduction.argmax#0) | S(1)"));
  EXPECT_TRUE(has_rule("argmin", "f32[4,3]", "P(reduction.argmin#0) | P(min)"));
  EXPECT_TRUE(
      has_rule("max.dim", "f32[4,3]; dim=0", "P(reduction.max#0), P(reduction.max#1) | S(0)"));
}

TEST(Reduction, ScansAlongADim) {
  const Elements grid = {{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(run("cumsum", "f32[2,3]; dim=1", grid), "f32[2,3]: 1, 3, 6, 4, 9, 15");
  EXPECT_EQ(run("cumsum", "i32[2,3]; dim=0", grid), "i64[2,3]: 1, 2, 3, 5, 7, 9");
  EXPECT_EQ(run("cumprod", "f64[2,3]; dim=-1", grid), "f64[2,3]: 1, 2, 6, 4, 20, 120");
  EXPECT_EQ(run("cummax", "f32[4]; dim=0", {{1, 3, 2, 3}}), "f32[4]: 1, 3, 3, 3");
  EXPECT_EQ(run("logcumsumexp", "f64[2]; dim=0", {{0, 0}}), "f64[2]: 0, 0.6931471805599453");
  EXPECT_EQ(run("cumsum", "f32[]; dim=0", {{3}}), "f32[]: 3");
}

TEST(Reduction, MomentsAndNorms) {
  const Elements grid = {{1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(run("var.correction", "f64[2,3]; dim=[1]", grid), "f64[2]: 1, 1");
  EXPECT_EQ(run("var.correction", "f64[2,3]; dim=[0]; correction=0", grid),
            "f64[3]: 2.25, 2.25, 2.25");
  EXPECT_EQ(run("std.correction", "f64[2]; dim=[0]", {{1, 3}}), "f64[]: 1.4142135623730951");
  EXPECT_NE(run("var.correction", "f64[1]; dim=[0]", {{1}}).find("nan"), std::string::npos);
  EXPECT_EQ(run("linalg_vector_norm", "f64[2]", {{3, 4}}), "f64[]: 5");
  EXPECT_EQ(run("linalg_vector_norm", "f64[3]; ord=0", {{3, 0, 4}}), "f64[]: 2");
  EXPECT_EQ(run("linalg_vector_norm", "f64[2]; ord=inf", {{3, -4}}), "f64[]: 4");
  EXPECT_EQ(run("linalg__powsum", "f64[2]", {{3, 4}}), "f64[]: 25");
  EXPECT_EQ(run("logsumexp", "f64[2]; dim=[0]", {{0, 0}}), "f64[]: 0.6931471805599453");
}

TEST(Reduction, SortsAndSelects) {
  const Elements row = {{3, 1, 2, 1}};
  EXPECT_EQ(run("sort", "f32[4]", row), "f32[4]: 1, 1, 2, 3");
  EXPECT_EQ(run("topk", "f32[4]; k=2", row), "f32[2]: 3, 2");
  EXPECT_EQ(run("kthvalue", "f32[4]; k=3", row), "f32[]: 2");
  EXPECT_EQ(run("median", "f32[4]", row), "f32[]: 1");
  EXPECT_EQ(run("mode", "f32[4]", row), "f32[]: 1");
  EXPECT_EQ(run("nanmedian", "f32[3]", {{kNaN, 2, 5}}), "f32[]: 2");
  EXPECT_EQ(run("nansum", "f32[3]", {{kNaN, 2, 5}}), "f32[]: 7");
  EXPECT_EQ(run("count_nonzero", "f32[3]", {{0, 2, 5}}), "i64[]: 2");
  EXPECT_EQ(run("histc", "f32[4]; bins=2; min=0; max=2", {{0, 1, 2, 3}}), "f32[2]: 1, 2");
}

TEST(Reduction, RefusesWrongScansAndSelections) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"cumsum", "f32[2]; dim=1"},
      {"cumsum", "f32[2]; dim=0; dtype=bool"},
      {"logcumsumexp", "i64[2]; dim=0"},
      {"cummax", "c64[2]; dim=0"},
      {"var.correction", "i64[2]"},
      {"linalg_vector_norm", "i64[2]"},
      {"linalg_vector_norm", "f64[2]; dtype=f32"},
      {"linalg_vector_norm", "f64[0]; ord=inf"},
      {"nansum", "c64[2]"},
      {"topk", "f32[2]; k=3"},
      {"kthvalue", "f32[2]; k=0"},
      {"median.dim", "f32[0]; dim=0"},
      {"sort", "c64[2]"},
      {"histc", "f32[2]; bins=0"},
      {"histc", "f32[2]; min=2; max=1"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
  EXPECT_EQ(run("topk", "f32[4]; k=5", {}), "topk: k is 5, expected 0 to 4, the length of the dim");
  EXPECT_EQ(run("kthvalue", "f32[4]; k=0", {}),
            "kthvalue: k is 0, expected 1 to 4, the length of the dim");
}

TEST(Reduction, ShardedLinesMerge) {
  EXPECT_TRUE(has_rule("cumsum", "f32[4,3]; dim=0", "P(sum) | S(0)"));
  EXPECT_TRUE(has_rule("cumsum", "f32[4,3]; dim=0", "S(0) | R"));
  EXPECT_TRUE(has_rule("cumprod", "f32[4]; dim=0", "P(product) | S(0)"));
  EXPECT_TRUE(
      has_rule("cummax", "f32[4]; dim=0", "P(reduction.cummax#0), P(reduction.cummax#1) | S(0)"));
  EXPECT_TRUE(has_rule("logsumexp", "f32[4]; dim=[0]", "P(reduction.logsumexp#0) | S(0)"));
  EXPECT_TRUE(has_rule("var.correction", "f32[4,3]; dim=[1]", "P(reduction.var#0) | S(1)"));
  EXPECT_TRUE(has_rule("linalg_vector_norm", "f32[4]", "P(reduction.norm2#0) | S(0)"));
  EXPECT_TRUE(has_rule("linalg_vector_norm", "f32[4]; ord=3", "P(reduction.norm#0) | S(0)"));
  EXPECT_TRUE(has_rule("linalg_vector_norm", "f32[4]; ord=1", "P(sum) | S(0)"));
  EXPECT_TRUE(
      has_rule("topk", "f32[4]; k=2", "P(reduction.largest#0), P(reduction.largest#1) | S(0)"));
  EXPECT_FALSE(has_rule("topk", "f32[4,3]; k=2; dim=0",
                        "P(reduction.largest#0), P(reduction.largest#1) | S(0)"));
  EXPECT_FALSE(has_rule("median", "f32[4]", "P(sum) | S(0)"));
  // One element has no variance with correction 1, so there are no parts of it.
  EXPECT_FALSE(has_rule("var.correction", "f32[2]; correction=2", "P(reduction.var#0) | S(0)"));
}

// Magnitudes are neither linear nor monotone; NaN in one part would hide the others; a range found
// in a part is not the range of the whole.
TEST(Reduction, PartsOfElementsDoNotPass) {
  EXPECT_FALSE(has_rule("linalg_vector_norm", "f32[4]; ord=inf", "P(max) | P(max)"));
  EXPECT_TRUE(has_rule("linalg_vector_norm", "f32[4]; ord=inf", "P(max) | S(0)"));
  EXPECT_FALSE(has_rule("linalg_vector_norm", "f32[4]; ord=-inf", "P(min) | P(min)"));
  EXPECT_FALSE(has_rule("linalg__powsum", "f32[4]", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("linalg__powsum", "f32[4]", "P(sum) | S(0)"));
  EXPECT_FALSE(has_rule("nansum", "f32[4]", "P(sum) | P(sum)"));
  EXPECT_TRUE(has_rule("nansum", "i64[4]", "P(sum) | P(sum)"));
  EXPECT_FALSE(has_rule("histc", "f32[4]; bins=2", "P(sum) | S(0)"));
  EXPECT_FALSE(has_rule("histc", "f32[4]; bins=2; min=1; max=1", "P(sum) | S(0)"));
  EXPECT_TRUE(has_rule("histc", "f32[4]; bins=2; min=0; max=1", "P(sum) | S(0)"));
}

// A state beside the norm is made from the element's own call, which a list's is not.
TEST(Reduction, NormsOfListsHaveNoHiddenState) {
  const std::string_view list = "_foreach_norm.Scalar", two = "[f64[6]; f64[6]]";
  const std::string_view of_3 = "[f64[6]; f64[6]]; ord=3";
  EXPECT_TRUE(has_rule("linalg_vector_norm", "f64[6]; ord=3", "P(reduction.norm#0) | S(0)"));
  EXPECT_FALSE(has_rule(list, of_3, "R, P(reduction.norm#0) | R, S(0)"));
  EXPECT_TRUE(has_rule(list, two, "R, P(reduction.norm2#0) | R, S(0)"));
}

}  // namespace
}  // namespace onedim
