#include "core/validate/judge.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace onedim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor reals(DType dtype, const std::vector<double>& values) {
  Tensor tensor = Tensor::zeros(dtype, {static_cast<int64_t>(values.size())});
  Lanes lanes;
  lanes.reals = values;
  write_lanes(lanes, tensor);
  return tensor;
}

Lanes lanes_of(const Tensor& tensor) {
  Lanes lanes;
  read_lanes(tensor, lanes);
  return lanes;
}

Judgement judge_reals(const char* placement, const std::vector<double>& truth,
                      const std::vector<std::vector<double>>& ranks, bool nonfinite = false,
                      DType dtype = DType::kF64) {
  std::vector<Lanes> locals;
  for (const std::vector<double>& rank : ranks) locals.push_back(lanes_of(reals(dtype, rank)));
  ErrorModel model = ErrorModel::of(dtype, dtype);
  model.nonfinite = nonfinite;
  return judge(*parse_placement(placement), make_truth(reals(dtype, truth)), {}, locals, model);
}

TEST(Judge, JoinsEveryBuiltInKind) {
  EXPECT_EQ(judge_reals("P(sum)", {3, 5}, {{1, 5}, {2, 0}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(avg)", {3, 5}, {{1, 5}, {5, 5}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(max)", {3, 5}, {{1, 5}, {3, 0}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(min)", {1, 0}, {{1, 5}, {3, 0}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(product)", {6, 5}, {{-2, 5}, {-3, 1}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(sum)", {3, 5}, {{1, 5}, {2, 1}}), Judgement::kFails);
}

TEST(Judge, EveryRankOfAReplicateCounts) {
  EXPECT_EQ(judge_reals("R", {3}, {{3}, {3}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("R", {3}, {{3}, {4}}), Judgement::kFails);
}

TEST(Judge, ShardsAreComparedWithWhatTheyOwn) {
  const Truth truth = make_truth(reals(DType::kF64, {1, 2, 3}));
  const std::vector<std::vector<int32_t>> owned{{0, 1}, {2}};
  const std::vector<Lanes> right{lanes_of(reals(DType::kF64, {1, 2})),
                                 lanes_of(reals(DType::kF64, {3}))};
  const std::vector<Lanes> wrong{lanes_of(reals(DType::kF64, {1, 2})),
                                 lanes_of(reals(DType::kF64, {2}))};
  EXPECT_EQ(judge(Placement::shard(0), truth, owned, right, ErrorModel{}), Judgement::kHolds);
  Mismatch mismatch;
  EXPECT_EQ(judge(Placement::shard(0), truth, owned, wrong, ErrorModel{}, &mismatch),
            Judgement::kFails);
  EXPECT_EQ(mismatch.element, 2);
  EXPECT_EQ(mismatch.rank, 1);
}

TEST(Judge, InfiniteElementsAreNotJudged) {
  EXPECT_EQ(judge_reals("P(product)", {2}, {{kInfinity}, {0}}), Judgement::kNothingJudged);
  EXPECT_EQ(judge_reals("P(sum)", {kInfinity}, {{1}, {2}}), Judgement::kNothingJudged);
  EXPECT_EQ(judge_reals("P(sum)", {3, kInfinity}, {{1, 1}, {2, 1}}), Judgement::kHolds);
}

TEST(Judge, AnInfiniteCopyOfAFiniteTruthRefutes) {
  EXPECT_EQ(judge_reals("R", {2, 3}, {{2, 3}, {2, kInfinity}}), Judgement::kFails);
  EXPECT_EQ(judge_reals("R", {2, kInfinity}, {{2, kInfinity}, {2, 1}}), Judgement::kHolds);
  const std::vector<Lanes> infinite{lanes_of(reals(DType::kF64, {kInfinity}))};
  const Truth truth = make_truth(reals(DType::kF64, {1}));
  ErrorModel model = ErrorModel::of(DType::kF64, DType::kF64);
  EXPECT_EQ(
      judge(Placement::shard(0), truth, std::vector<std::vector<int32_t>>{{0}}, infinite, model),
      Judgement::kFails);
  model.finite_inputs = false;
  EXPECT_EQ(judge(Placement::replicate(), truth, {}, infinite, model), Judgement::kNothingJudged);
}

TEST(Judge, MeansAndExtremesAreJudgedAsSharplyInEveryWorld) {
  for (const size_t world : {2u, 32u, 64u}) {
    const std::vector<std::vector<double>> ranks(world, {1.25});
    for (const char* kind : {"P(avg)", "P(max)", "P(min)"}) {
      EXPECT_EQ(judge_reals(kind, {1}, ranks, false, DType::kBF16), Judgement::kFails)
          << kind << " " << world;
      EXPECT_EQ(judge_reals(kind, {1.25}, ranks, false, DType::kBF16), Judgement::kHolds)
          << kind << " " << world;
    }
  }
}

TEST(Judge, CancellationWithinLocalCallsIsAllowedFor) {
  // The other element shows how large the numbers were that cancelled.
  EXPECT_EQ(judge_reals("P(sum)", {1, 3}, {{0.5 + 1e-4, 1e5}, {0.5, 3 - 1e5}}, false, DType::kF32),
            Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(sum)", {1, 3}, {{0.5 + 1e-3, 1}, {0.5, 2}}, false, DType::kF32),
            Judgement::kFails);
}

TEST(Judge, AFactorThatUnderflowsIsNotJudged) {
  EXPECT_EQ(judge_reals("P(product)", {0x1p-130}, {{0x1p60}, {0}}, false, DType::kF32),
            Judgement::kNothingJudged);
  EXPECT_EQ(judge_reals("P(product)", {0}, {{0x1p-80}, {0x1p-80}}, false, DType::kF32),
            Judgement::kNothingJudged);
  EXPECT_EQ(judge_reals("P(product)", {0}, {{0x1p900}, {0x1p900}, {0}}), Judgement::kNothingJudged);
  EXPECT_EQ(judge_reals("P(product)", {1}, {{2}, {0}}, false, DType::kF32), Judgement::kFails);
  EXPECT_EQ(judge_reals("P(product)", {0}, {{2}, {1}}, false, DType::kF32), Judgement::kFails);
}

TEST(Judge, NaNOfALocalThatLeftTheDomainRefutes) {
  EXPECT_EQ(judge_reals("P(max)", {2}, {{2}, {kNaN}}), Judgement::kFails);
  EXPECT_EQ(judge_reals("P(max)", {2}, {{kNaN}, {2}}), Judgement::kFails);
}

TEST(Judge, NonfiniteCallsAreJudgedOnEverything) {
  EXPECT_EQ(judge_reals("P(max)", {kNaN, kInfinity}, {{1, kInfinity}, {kNaN, 3}}, true),
            Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(sum)", {kInfinity}, {{1}, {2}}, true), Judgement::kFails);
}

TEST(Judge, ZerosOfBothSignsAreEqual) {
  EXPECT_EQ(judge_reals("R", {0.0}, {{-0.0}, {0.0}}), Judgement::kHolds);
}

TEST(Judge, RoundingIsAllowedByDType) {
  EXPECT_EQ(judge_reals("R", {1}, {{1 + 1e-12}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("R", {1}, {{1 + 1e-8}}), Judgement::kFails);
  EXPECT_EQ(judge_reals("R", {1}, {{1 + 1e-5}}, false, DType::kF32), Judgement::kHolds);
  EXPECT_EQ(judge_reals("R", {1}, {{1.01}}, false, DType::kF32), Judgement::kFails);
  EXPECT_EQ(judge_reals("R", {1}, {{1.015625}}, false, DType::kBF16), Judgement::kHolds);
  EXPECT_EQ(judge_reals("R", {1}, {{1.25}}, false, DType::kBF16), Judgement::kFails);
}

// 28 and 32, 25 of f16's smallest steps: their mean of 28.5 is rounded to 28.
TEST(Judge, NumbersNextToZeroRoundToTheirGap) {
  constexpr double kStep = 0x1p-24;
  const auto judged = [](double truth, double a, double b) {
    return judge_reals("P(avg)", {truth * kStep}, {{a * kStep}, {b * kStep}}, false, DType::kF16);
  };
  EXPECT_EQ(judged(28, 32, 25), Judgement::kHolds);
  EXPECT_EQ(judged(28, 32, 64), Judgement::kFails);
}

TEST(Judge, TheSizeOfLocalValuesCounts) {
  EXPECT_EQ(judge_reals("P(sum)", {1}, {{1e9 + 1e-3}, {-1e9 + 1}}), Judgement::kHolds);
  EXPECT_EQ(judge_reals("P(sum)", {1}, {{2 + 1e-3}, {-1}}), Judgement::kFails);
}

TEST(Judge, IntegersJoinModuloTheirWidth) {
  const auto integers = [](DType dtype, int64_t value) {
    Tensor tensor = Tensor::zeros(dtype, {1});
    Lanes lanes;
    lanes.lane_class = LaneClass::kInteger;
    lanes.integers = {value};
    write_lanes(lanes, tensor);
    return tensor;
  };
  const std::vector<Lanes> bytes{lanes_of(integers(DType::kI8, 100)),
                                 lanes_of(integers(DType::kI8, 100))};
  EXPECT_EQ(judge(*parse_placement("P(sum)"), make_truth(integers(DType::kI8, -56)), {}, bytes, {}),
            Judgement::kHolds);
  EXPECT_EQ(
      judge(*parse_placement("P(product)"), make_truth(integers(DType::kI8, 16)), {}, bytes, {}),
      Judgement::kHolds);
  EXPECT_EQ(judge(*parse_placement("P(sum)"), make_truth(integers(DType::kI8, -55)), {}, bytes, {}),
            Judgement::kFails);
}

TEST(Judge, ComplexNumbersMultiply) {
  const auto complexes = [](double re, double im) {
    Tensor tensor = Tensor::zeros(DType::kC128, {1});
    Lanes lanes;
    lanes.lane_class = LaneClass::kComplex;
    lanes.reals = {re, im};
    write_lanes(lanes, tensor);
    return tensor;
  };
  const std::vector<Lanes> locals{lanes_of(complexes(0, 2)), lanes_of(complexes(1, 3))};
  const ErrorModel model = ErrorModel::of(DType::kC128, DType::kC128);
  EXPECT_EQ(judge(*parse_placement("P(product)"), make_truth(complexes(-6, 2)), {}, locals, model),
            Judgement::kHolds);
  EXPECT_EQ(judge(*parse_placement("P(sum)"), make_truth(complexes(1, 5)), {}, locals, model),
            Judgement::kHolds);
  EXPECT_EQ(judge(*parse_placement("P(sum)"), make_truth(complexes(1, 4)), {}, locals, model),
            Judgement::kFails);
}

TEST(Judge, AnEmptyTruthHoldsAnything) {
  EXPECT_EQ(judge_reals("P(sum)", {}, {{}, {}}), Judgement::kHolds);
}

}  // namespace
}  // namespace onedim
