// Splits over meshes against core/layout's own join, and the judge of meshes against hand-made
// values.

#include "core/validate/mesh_split.hpp"

#include <gtest/gtest.h>

#include "core/layout/partition.hpp"
#include "core/validate/mesh_judge.hpp"
#include "core/validate/value_draw.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"

namespace onedim {
namespace {

bool same_values(const Tensor& a, const Tensor& b) {
  Lanes one, two;
  read_lanes(a, one);
  read_lanes(b, two);
  return one == two;  // -0 equals 0
}

// Means of three ranks round.
bool divides_exactly(const Layout& layout, const Mesh& mesh) {
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    if (layout.placements[mesh_dim].is_partial("avg") && mesh.size(mesh_dim) == 3) return false;
  }
  return true;
}

TEST(MeshSplit, JoinsToTheGlobalTensorExactly) {
  const uint64_t seed = random_seed();
  PairDraw draw(seed);
  int partials = 0;
  for (int number = 0; number < 3000; ++number) {
    const Mesh mesh = draw.mesh(1, 3);
    const DType dtype = draw.dtype();
    const Dims shape = draw.shape(0, 3, 7);
    const Layout layout = draw.layout(mesh, static_cast<int>(shape.size()), dtype, true);
    const auto kind = static_cast<DrawKind>(draw.number(0, kValueKindCount - 1));
    const Tensor global = draw_values(TensorMeta::contiguous(dtype, shape), {}, kind, {},
                                      Random(seed + static_cast<uint64_t>(number)));
    const std::vector<Tensor> locals =
        split_over_mesh(global, layout, mesh, {}, seed + static_cast<uint64_t>(number));
    const Result<Tensor> joined = join(locals, shape, layout, mesh);
    ASSERT_TRUE(joined.ok()) << joined.status();
    if (!divides_exactly(layout, mesh)) continue;
    EXPECT_TRUE(same_values(*joined, global))
        << format_meta(global.meta()) << " " << format_layout(layout, mesh) << " on "
        << mesh.format() << " draw " << number;
    for (const Placement& placement : layout.placements) partials += placement.is_partial();
  }
  EXPECT_GT(partials, 500);
}

TEST(MeshSplit, ReplicasHoldTheSameSplit) {
  const Mesh mesh = *Mesh::parse("a=2,b=2,c=2");
  const Layout layout = *parse_layout("R,P(sum),R", mesh, 1);
  const Tensor global =
      draw_values(TensorMeta::contiguous(DType::kF64, {6}), {}, DrawKind::kMixed, {}, Random(1));
  const std::vector<Tensor> locals = split_over_mesh(global, layout, mesh, {}, 5);
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    Dims first = mesh.coordinate_of(rank);
    first[0] = first[2] = 0;
    EXPECT_TRUE(bit_equal(locals[rank], locals[mesh.rank_of(first)])) << rank;
  }
  EXPECT_FALSE(bit_equal(locals[0], locals[2]));
}

TEST(MeshSplit, PartialsOfPartialsDiffer) {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const Layout layout = *parse_layout("P(sum),P(avg)", mesh, 1);
  const Tensor global =
      draw_values(TensorMeta::contiguous(DType::kF64, {40}), {}, DrawKind::kMixed, {}, Random(1));
  int different = 0;
  for (uint64_t key = 0; key < 20; ++key) {
    const std::vector<Tensor> locals = split_over_mesh(global, layout, mesh, {}, key);
    different += bit_equal(locals[0], locals[1]) || bit_equal(locals[2], locals[3]) ? 0 : 1;
  }
  EXPECT_GT(different, 10);
}

Truth truth_of(std::vector<double> values) {
  Truth truth{DType::kF64, {}, 0};
  truth.lanes.reals = std::move(values);
  for (const double value : truth.lanes.reals)
    truth.largest = std::max(truth.largest, std::abs(value));
  return truth;
}

// `values` are one list a rank.
Judgement judge_mesh(std::string_view layout, std::vector<double> truth,
                     const std::vector<std::vector<double>>& values, std::string* why = nullptr) {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const Dims shape{static_cast<int64_t>(truth.size())};
  MeshJudge judge(*parse_layout(layout, mesh, 1), shape, mesh);
  std::vector<Lanes> locals(values.size());
  for (size_t rank = 0; rank < values.size(); ++rank) locals[rank].reals = values[rank];
  const Truth of_all = truth_of(std::move(truth));
  const Judgement judgement = judge.judge(of_all, locals, ErrorModel::of(DType::kF64, DType::kF64));
  if (judgement == Judgement::kFails && why != nullptr) *why = judge.explain(of_all, locals);
  return judgement;
}

TEST(MeshJudge, JoinsEveryCell) {
  using enum Judgement;
  EXPECT_EQ(judge_mesh("R,R", {1, 2}, {{1, 2}, {1, 2}, {1, 2}, {1, 2}}), kHolds);
  EXPECT_EQ(judge_mesh("R,R", {1, 2}, {{1, 2}, {1, 2}, {1, 2}, {1, 3}}), kFails);
  EXPECT_EQ(judge_mesh("S(0),R", {1, 2}, {{1}, {1}, {2}, {2}}), kHolds);
  EXPECT_EQ(judge_mesh("S(0),R", {1, 2}, {{1}, {1}, {2}, {1}}), kFails);
  EXPECT_EQ(judge_mesh("S(0),S(0)", {1, 2, 3, 4}, {{1}, {2}, {3}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("S(0)[b,a]", {1, 2, 3, 4}, {{1}, {3}, {2}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("S(0)[b,a]", {1, 2, 3, 4}, {{1}, {2}, {3}, {4}}), kFails);
  EXPECT_EQ(judge_mesh("SS(0,2),R", {1, 2, 3, 4}, {{1, 3}, {1, 3}, {2, 4}, {2, 4}}), kHolds);
  EXPECT_EQ(judge_mesh("P(sum),P(sum)", {10}, {{1}, {2}, {3}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("P(avg),P(avg)", {2.5}, {{1}, {2}, {3}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("P(sum),P(avg)", {5}, {{1}, {2}, {3}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("P(sum),P(avg)", {10}, {{1}, {2}, {3}, {4}}), kFails);
  EXPECT_EQ(judge_mesh("P(max),R", {3, 4}, {{1, 4}, {1, 4}, {3, 2}, {3, 2}}), kHolds);
  EXPECT_EQ(judge_mesh("P(max),R", {3, 4}, {{1, 4}, {1, 4}, {3, 2}, {2, 2}}), kFails);
  EXPECT_EQ(judge_mesh("P(product),P(product)", {24}, {{1}, {2}, {3}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("S(0),P(sum)", {3, 7}, {{1}, {2}, {3}, {4}}), kHolds);
  EXPECT_EQ(judge_mesh("S(0),P(sum)", {3, 8}, {{1}, {2}, {3}, {4}}), kFails);
}

TEST(MeshJudge, TellsWhatTheRanksOfACellHold) {
  std::string why;
  ASSERT_EQ(judge_mesh("S(0),P(sum)", {3, 8}, {{1}, {2}, {3}, {4}}, &why), Judgement::kFails);
  EXPECT_EQ(why, "at [1] should be 8, but rank [1,0] has 3, rank [1,1] has 4 under S(0),P(sum)");
  ASSERT_EQ(judge_mesh("S(0),R", {1, 2}, {{1}, {1}, {2}, {1}}, &why), Judgement::kFails);
  EXPECT_EQ(why, "at [1] should be 2, but rank [1,1] has 1 under S(0),R");
}

}  // namespace
}  // namespace onedim
