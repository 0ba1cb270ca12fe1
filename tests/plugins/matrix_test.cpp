#include <gtest/gtest.h>

#include <limits>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const LoadedPack& pack() {
  static const LoadedPack loaded("matrix");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view op, std::string_view call, const Elements& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

TEST(Matrix, Products) {
  const Elements pair = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  EXPECT_EQ(run("mm", "f32[2,2]; f32[2,2]", pair), "f32[2,2]: 19, 22, 43, 50");
  EXPECT_EQ(run("bmm", "i64[1,2,2]; i64[1,2,2]", pair), "i64[1,2,2]: 19, 22, 43, 50");
  EXPECT_EQ(run("mm", "f32[2,0]; f32[0,1]", {{}, {}}), "f32[2,1]: 0, 0");
  EXPECT_EQ(run("dot", "c64[1]; c64[1]", {{0, 1}, {0, 1}}), "c64[]: -1, 0");
  EXPECT_EQ(run("vdot", "c64[1]; c64[1]", {{0, 1}, {0, 1}}), "c64[]: 1, 0");
  EXPECT_EQ(run("mv", "f32[2,2]; f32[2]", {{1, 2, 3, 4}, {5, 6}}), "f32[2]: 17, 39");
  EXPECT_EQ(run("outer", "f32[2]; f32[2]", {{1, 2}, {3, 4}}), "f32[2,2]: 3, 4, 6, 8");
  EXPECT_EQ(run("mm", "i8[1,2]; i8[2,1]", {{100, 100}, {1, 1}}), "i8[1,1]: -56");
  EXPECT_EQ(run("linear", "f32[1,2]; f32[2,2]; f32[2]", {{1, 2}, {5, 6, 7, 8}, {1, 1}}),
            "f32[1,2]: 18, 24");
  EXPECT_EQ(run("linear", "f32[2]; f32[2]; -", {{1, 2}, {5, 6}}), "f32[]: 17");
}

// As exported graphs have them.
TEST(Matrix, EinsumsLieAsTheirLastProductLeavesThem) {
  const auto strides = [](std::string_view call) { return pack().strides("einsum", call, {}); };
  EXPECT_EQ(strides(R"([f32[2,3,4]; f32[4,5]]; equation="abk,kn->abn")"), (Dims{15, 5, 1}));
  EXPECT_EQ(strides(R"([f32[2,3,5]; f32[2,3,4]]; equation="abn,abk->kn")"), (Dims{1, 4}));
  EXPECT_EQ(strides(R"([f32[2,3]; f32[2,4]]; equation="bi,bj->bji")"), (Dims{12, 1, 4}));
  EXPECT_EQ(strides(R"([f32[2,3]; f32[3,4]; f32[4,5]]; equation="ij,jk,kl->li")"), (Dims{1, 5}));
  EXPECT_EQ(strides(R"([f32[1,3,4]; f32[4,5]]; equation="abk,kn->abn")"), (Dims{15, 5, 1}));
  EXPECT_EQ(strides(R"([f32[2,1,4]; f32[4,5]]; equation="abk,kn->abn")"), (Dims{5, 5, 1}));
  EXPECT_EQ(strides(R"([f32[1,3]; f32[4,3]]; equation="ki,ji->jk")"), (Dims{1, 4}));
  EXPECT_EQ(strides(R"([f32[4,3]]; equation="ij->ji")"), (Dims{4, 1}));
}

TEST(Matrix, OnlyEinsumStretchesSizesOfOne) {
  const auto expect_refused = [](const std::string& op, std::string_view call, const char* text) {
    EXPECT_EQ(run(op, call, {}), op + ": " + text);
  };
  expect_refused("mm", "f64[4,5]; f64[1,3]",
                 "dim 1 of self has size 5 and dim 0 of mat2 has size 1, expected one size (k)");
  expect_refused("mm", "f64[4,1]; f64[5,3]",
                 "dim 0 of mat2 has size 5 and dim 1 of self has size 1, expected one size (k)");
  expect_refused("bmm", "f64[1,4,5]; f64[0,5,3]",
                 "dim 0 of mat2 has size 0 and dim 0 of self has size 1, expected one size (b)");
  expect_refused("dot", "f64[5]; f64[1]",
                 "dim 0 of self has size 5 and dim 0 of tensor has size 1, expected one size (i)");
  expect_refused("addmm", "f64[3]; f64[4,5]; f64[1,3]",
                 "dim 1 of mat1 has size 5 and dim 0 of mat2 has size 1, expected one size (k)");
  expect_refused(
      "baddbmm", "f64[3]; f64[1,4,5]; f64[2,5,3]",
      "dim 0 of batch2 has size 2 and dim 0 of batch1 has size 1, expected one size (b)");
  expect_refused("linear", "f64[4,5]; f64[3,1]; -",
                 "dim 1 of input has size 5 and dim 1 of weight has size 1, expected one size (k)");
  expect_refused("linear", "f64[4,5]; f64[1]; -",
                 "dim 1 of input has size 5 and dim 0 of weight has size 1, expected one size (k)");
  EXPECT_EQ(run("einsum", "[f64[1,5]; f64[1,1]]; equation=\"mk,kn->mn\"", {}), "f64[1,1]: 5");
}

TEST(Matrix, MistakesNameTheirOperands) {
  EXPECT_EQ(run("mm", "f32[4,6]; f64[6,8]", {}),
            "mm: self is f32 and mat2 is f64, expected one dtype");
  EXPECT_EQ(run("addmm", "f32[8]; f32[4,6]; f64[6,8]", {}),
            "addmm: self is f32 and mat2 is f64, expected one dtype");
  EXPECT_EQ(run("linear", "f32[4,6]; f32[8,6]; f64[8]", {}),
            "linear: input is f32 and bias is f64, expected one dtype");
  EXPECT_EQ(run("mm", "f32[4,6]; f32[7,8]", {}),
            "mm: dim 1 of self has size 6 and dim 0 of mat2 has size 7, expected one size (k)");
  const auto einsum = [](const std::string& tensors, const std::string& equation) {
    return run("einsum", "[" + tensors + "]; equation=\"" + equation + "\"", {});
  };
  EXPECT_EQ(einsum("f32[4,6]; f32[7,8]", "ij,jk->ik"),
            "einsum: dim 1 of tensors[0] has size 6 and dim 0 of tensors[1] has size 7, expected "
            "one size (j)");
  EXPECT_EQ(
      einsum("f32[4,6]", "ii->i"),
      "einsum: dim 0 of tensors has size 4 and dim 1 of tensors has size 6, expected one size "
      "(i)");
  EXPECT_EQ(einsum("f32[2,4,6]; f32[3,6,8]", "...ij,...jk->...ik"),
            "einsum: dim 0 of tensors[0] has size 2 and dim 0 of tensors[1] has size 3, expected "
            "one size");
  EXPECT_EQ(einsum("f32[4,6]; f64[6,8]", "ij,jk->ik"),
            "einsum: tensors[0] is f32 and tensors[1] is f64, expected one dtype");
  EXPECT_EQ(einsum("f32[4,6]; f32[6,8]", "ij,jk->il"),
            "einsum: the output of equation \"ij,jk->il\" has the letter l, expected letters that "
            "some operand has");
  EXPECT_EQ(einsum("f32[4,6]; f32[6,8]", "ij,jk->ii"),
            "einsum: the output of equation \"ij,jk->ii\" has the letter i twice, expected each "
            "letter once");
}

TEST(Matrix, LargeProductsAgreeWithSmallOnes) {
  // Above the library's threshold; ones sum to the inner size.
  EXPECT_TRUE(run("mm", "f32[40,50]; f32[50,33]", {}).starts_with("f32[40,33]: 50, 50, 50"));
  EXPECT_TRUE(run("mm", "f64[40,50]; f64[50,33]", {}).starts_with("f64[40,33]: 50, 50, 50"));
}

TEST(Matrix, FactorZeroLeavesItsSideUnread) {
  const Elements nan_bias = {{kNaN}, {1, 2}, {3, 4}};
  EXPECT_EQ(run("addmm", "f32[1]; f32[1,2]; f32[2,1]; beta=0", nan_bias), "f32[1,1]: 11");
  const Elements nan_product = {{5}, {kNaN, 2}, {3, 4}};
  EXPECT_EQ(run("addmm", "f32[1]; f32[1,2]; f32[2,1]; alpha=0", nan_product), "f32[1,1]: 5");
  EXPECT_EQ(run("addmm", "f32[]; f32[1,2]; f32[2,1]; beta=-1; alpha=2", {{5}, {1, 2}, {3, 4}}),
            "f32[1,1]: 17");
}

TEST(Matrix, InPlaceWritesSelf) {
  EXPECT_EQ(run("addmm_", "f32[1,1]; f32[1,2]; f32[2,1]", {{5}, {1, 2}, {3, 4}}), "f32[1,1]: 16");
}

TEST(Matrix, EinsumReadsPyTorchEquations) {
  const auto einsum = [](std::string_view tensors, std::string_view equation,
                         const Elements& elements) {
    return run("einsum", std::string(tensors) + "; equation=\"" + std::string(equation) + "\"",
               elements);
  };
  const Elements square = {{1, 2, 3, 4}};
  EXPECT_EQ(einsum("[f32[2,2]]", "ii", square), "f32[]: 5");
  EXPECT_EQ(einsum("[f32[2,2]]", "ii->i", square), "f32[2]: 1, 4");
  EXPECT_EQ(einsum("[f32[2,2]]", "ba", square), "f32[2,2]: 1, 3, 2, 4");
  EXPECT_EQ(einsum("[f32[2,2]]", "bA", square), "f32[2,2]: 1, 3, 2, 4");
  EXPECT_EQ(einsum("[f32[2,2]]", "...->", square), "f32[]: 10");
  EXPECT_EQ(einsum("[i32[2,2]]", "ij->i", square), "i64[2]: 3, 7");
  EXPECT_EQ(einsum("[bool[1,2]]", "ij->ji", {{0, 1}}), "bool[2,1]: 0, 1");
  EXPECT_EQ(einsum("[f32[2]; f32[2]]", " i , j -> j i ", {{1, 2}, {3, 4}}), "f32[2,2]: 3, 6, 4, 8");
  EXPECT_EQ(einsum("[f32[2,1]; f32[2]]", "...i,...i->...", {{1, 2}, {3, 4}}), "f32[2]: 7, 14");
  EXPECT_EQ(einsum("[f32[2]; f32[2]; f32[2]]", "i,i,i", {{1, 2}, {3, 4}, {5, 6}}), "f32[]: 63");
  for (std::string_view equation : {"ij", "i->j", "i->ii", "i,i", "i+", "i...j"}) {
    const std::string result = einsum("[f32[2]]", equation, {{1, 2}});
    EXPECT_EQ(result.find("]:"), std::string::npos) << equation << " gave " << result;
  }
}

TEST(Matrix, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"mm", "f32[2,3]; f32[2,3]"},
      {"mm", "f32[2]; f32[2,3]"},
      {"mm", "f32[2,3]; f64[3,2]"},
      {"mm", "bool[2,3]; bool[3,2]"},
      {"bmm", "f32[2,2,3]; f32[3,3,2]"},
      {"dot", "f32[2]; f32[3]"},
      {"t", "f32[1,2,3]"},
      {"addmm", "i64[2,2]; i64[2,2]; i64[2,2]; alpha=0.5"},
      {"addmm", "f32[2,2]; f32[2,2]; f32[2,2]; beta=1+2j"},
      {"addmm", "f32[3]; f32[2,2]; f32[2,2]"},
      {"linear", "f32[2,3]; f32[4,2]"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
  }
}

// Linear in one operand at a time, never in two at once, however many there are.
TEST(Matrix, EinsumIsMultilinear) {
  const std::string three = R"([f32[4,3]; f32[4,3]; f32[3]]; equation="ij,ij,j->ij")";
  EXPECT_TRUE(has_rule("einsum", three, "P(sum) | P(sum), R, R"));
  EXPECT_TRUE(has_rule("einsum", three, "P(avg) | R, R, P(avg)"));
  EXPECT_FALSE(has_rule("einsum", three, "P(sum) | P(sum), P(sum), R"));
  EXPECT_FALSE(has_rule("einsum", three, "P(sum) | P(sum), P(sum), P(sum)"));
  EXPECT_TRUE(has_rule("einsum", three, "P(product) | P(product), P(product), P(product)"));
  EXPECT_TRUE(has_rule("einsum", three, "S(1) | S(1), S(1), S(0)"));
  const std::string four =
      R"([f32[2,3]; f32[3,4]; f32[4,5]; f32[5,6]]; equation="ab,bc,cd,de->ae")";
  EXPECT_TRUE(has_rule("einsum", four, "P(sum) | R, S(1), S(0), R"));
  EXPECT_FALSE(has_rule("einsum", four, "P(sum) | S(1), S(0), S(1), S(0)"));
}

TEST(Matrix, RulesFollowTheCase) {
  EXPECT_TRUE(has_rule("mm", "f32[4,3]; f32[3,5]", "P(sum) | S(1), S(0)"));
  EXPECT_FALSE(has_rule("mm", "f32[4,3]; f32[3,5]", "P(sum) | P(sum), P(sum)"));
  EXPECT_TRUE(has_rule("mm", "f32[4,1]; f32[1,5]", "P(product) | P(product), P(product)"));
  EXPECT_TRUE(has_rule("t", "f32[4,3]", "P(product) | P(product)"));
  const std::string addmm = "f32[4,5]; f32[4,3]; f32[3,5]";
  EXPECT_TRUE(has_rule("addmm", addmm, "P(avg) | R, P(avg), R"));
  EXPECT_TRUE(has_rule("addmm", addmm, "P(max) | P(max), R, R"));
  EXPECT_FALSE(has_rule("addmm", addmm, "P(sum) | R, S(1), S(0)"));
  EXPECT_TRUE(has_rule("addmm", addmm + "; beta=-1", "P(min) | P(max), R, R"));
  EXPECT_FALSE(has_rule("addmm", addmm + "; beta=-1", "P(max) | P(max), R, R"));
  EXPECT_TRUE(has_rule("addmm", addmm + "; beta=0", "P(sum) | P(max), S(1), S(0)"));
  EXPECT_TRUE(has_rule("addmm", addmm + "; alpha=0", "P(max) | P(max), S(1), S(0)"));
  EXPECT_TRUE(has_rule("addmm", "f32[5]; f32[4,3]; f32[3,5]", "S(0) | R, S(0), R"));
  EXPECT_TRUE(has_rule("linear", "f32[2,4,3]; f32[5,3]; f32[5]", "S(2) | R, S(0), S(0)"));
  EXPECT_TRUE(has_rule("einsum", R"([f32[3,4]]; equation="ij->ji")", "P(max) | P(max)"));
  EXPECT_FALSE(has_rule("einsum", R"([f32[4,4]]; equation="ii->i")", "S(0) | S(0)"));
  EXPECT_TRUE(has_rule("einsum", R"([f32[4,1]; f32[4,5]]; equation="ij,ij->j")", "S(0) | R, S(1)"));
}

}  // namespace
}  // namespace onedim
