// Moves as AutoParallel prices them: the figures of its documentation and those of a real solution.
#include "core/cost/autoparallel_move.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/cost/make_cost_model.hpp"

namespace onedim {
namespace {

class AutoParallelMove : public testing::Test {
 protected:
  double us(const TensorMeta& meta, std::string_view from, std::string_view to) const {
    const int ndim = static_cast<int>(meta.shape.size());
    return autoparallel_move_us(*model_, meta, *parse_layout(from, mesh_, ndim),
                                *parse_layout(to, mesh_, ndim));
  }
  double us(DType dtype, Dims shape, std::string_view from, std::string_view to) const {
    return us(TensorMeta::contiguous(dtype, std::move(shape)), from, to);
  }

  const Mesh mesh_ = *Mesh::parse("dp=8,tp=8");
  const std::unique_ptr<const CostModel> model_ =
      *make_cost_model(*load_cluster("h100"), mesh_, "autoparallel-h100");
};

TEST_F(AutoParallelMove, FiguresOfItsDocumentation) {
  const DType bf16 = DType::kBF16, f32 = DType::kF32;
  EXPECT_NEAR(us(bf16, {4096, 4096}, "S(0),S(0)", "R,R"), 271.7, 0.05);
  EXPECT_NEAR(us(bf16, {4096, 4096}, "S(0),S(0)", "R,S(0)"), 156.6, 0.05);
  EXPECT_NEAR(us(bf16, {14336, 4096}, "S(0),S(0)", "R,R"), 692.3, 0.05);
  EXPECT_NEAR(us(bf16, {14336, 4096}, "S(0),S(0)", "R,S(0)"), 364.2, 0.05);
  EXPECT_NEAR(us(bf16, {128256, 4096}, "S(0),S(0)", "R,R"), 5195, 0.5);
  EXPECT_NEAR(us(bf16, {128256, 4096}, "S(0),S(0)", "R,S(0)"), 2499, 0.5);
  EXPECT_NEAR(us(f32, {4096, 4096}, "P(sum),P(sum)", "S(0),S(0)"), 439.9, 0.05);
  EXPECT_NEAR(us(f32, {4096, 4096}, "P(sum),S(0)", "S(0),S(0)"), 239.6, 0.05);
  EXPECT_NEAR(us(f32, {14336, 4096}, "P(sum),P(sum)", "S(0),S(0)"), 1267, 0.5);
  EXPECT_NEAR(us(f32, {14336, 4096}, "P(sum),S(0)", "S(0),S(0)"), 641, 0.5);
  const Dims activation = {16, 8192, 4096};
  EXPECT_NEAR(us(bf16, activation, "S(0),S(1)", "S(0),R"), 474.8, 0.05);
  EXPECT_NEAR(us(bf16, activation, "S(0),P(sum)", "S(0),S(1)"), 474.8, 0.05);
  EXPECT_NEAR(us(bf16, activation, "S(0),P(sum)", "S(0),R"), 533.7, 0.05);
  EXPECT_NEAR(us(bf16, activation, "S(0),S(1)", "S(0),S(2)"), 120.2, 0.05);
  EXPECT_NEAR(us(bf16, {16, 8192, 128256}, "S(0),S(2)", "S(0),R"), 13957, 0.5);
  EXPECT_NEAR(us(bf16, {4096}, "S(0),S(0)", "R,R"), 71.7, 0.05);
}

TEST_F(AutoParallelMove, EveryMoveOfASolution) {
  std::ifstream file(ONEDIM_TEST_DATA "/autoparallel_moves.json");
  const nlohmann::json moves = nlohmann::json::parse(file)["moves"];
  double sum = 0;
  for (const nlohmann::json& move : moves) {
    TensorMeta meta{*parse_dtype(move["dtype"].get<std::string>()), {}, {}};
    for (int64_t size : move["shape"]) meta.shape.push_back(size);
    for (int64_t stride : move["strides"]) meta.strides.push_back(stride);
    const std::string from = move["from"], to = move["to"];
    const double expected = move["us"];
    EXPECT_NEAR(us(meta, from, to), expected, 1e-9 * expected) << move;
    sum += us(meta, from, to) * move["count"].get<double>();
  }
  EXPECT_EQ(moves.size(), 27u);
  EXPECT_NEAR(sum, 25432.9068218298, 1e-6);
}

TEST_F(AutoParallelMove, StepsItDoesNotHave) {
  const Dims shape = {64, 64};
  EXPECT_EQ(us(DType::kF32, shape, "R,R", "S(0),S(1)"), 0);
  EXPECT_EQ(us(DType::kF32, shape, "R,S(0)", "S(1),S(0)"), 0);
  EXPECT_TRUE(std::isinf(us(DType::kF32, shape, "R,R", "P(sum),R")));
  EXPECT_TRUE(std::isinf(us(DType::kF32, shape, "S(0),R", "P(sum),R")));
  EXPECT_TRUE(std::isinf(us(DType::kF32, shape, "S(0),R", "S(0),P(sum)")));
  EXPECT_TRUE(std::isinf(us(DType::kF32, shape, "P(max),R", "R,R")));
  EXPECT_TRUE(std::isinf(us(DType::kF32, shape, "SS(0,2),R", "R,R")));
}

// 64 KiB a rank before the gather over dp: a copy of twice that, at its floor of 7 us.
TEST_F(AutoParallelMove, ASourceThatIsNotContiguousIsCopied) {
  TensorMeta meta = TensorMeta::contiguous(DType::kF32, {1024, 1024});
  const double plain = us(meta, "S(0),S(0)", "R,S(0)");
  meta.strides = {1, 1024};
  EXPECT_NEAR(us(meta, "S(0),S(0)", "R,S(0)"), plain + 7, 1e-9);
}

}  // namespace
}  // namespace onedim
