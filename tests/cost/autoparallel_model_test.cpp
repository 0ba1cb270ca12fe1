// The compatible model against AutoParallel's own figures.
#include "core/cost/autoparallel_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/make_cost_model.hpp"

namespace onedim {
namespace {

constexpr int64_t kMiB = 1 << 20;

std::unique_ptr<const CostModel> model_on(const char* mesh) {
  return *make_cost_model(*load_cluster("h100"), *Mesh::parse(mesh), "autoparallel-h100");
}

// One row of the table: all-gather (reduce-scatter is equal), all-reduce, all-to-all.
struct Golden {
  int64_t bytes;
  const char* us[3];
};

// With as many digits as the golden text has. Those with one digit behind the point were rounded
// twice: 40.6454 to 40.65 to 40.7.
std::string printed(double us, std::string_view as) {
  if (as.find('.') == std::string_view::npos) return fmt::format("{:.0f}", us);
  return fmt::format("{:.1f}", std::floor(std::round(us * 100) / 10 + 0.5) / 10);
}

void expect_golden(const CostModel& model, MeshDimSet dims, std::span<const Golden> rows) {
  constexpr Collective kColumns[] = {Collective::kAllGather, Collective::kAllReduce,
                                     Collective::kAllToAll};
  for (const Golden& row : rows) {
    for (size_t i = 0; i < 3; ++i) {
      const double us = model.collective_us(kColumns[i], dims, row.bytes);
      EXPECT_EQ(printed(us, row.us[i]), row.us[i])
          << collective_name(kColumns[i]) << ' ' << row.bytes << ' ' << model.mesh().format();
    }
    EXPECT_EQ(model.collective_us(Collective::kReduceScatter, dims, row.bytes),
              model.collective_us(Collective::kAllGather, dims, row.bytes));
  }
}

TEST(AutoParallelModel, EightNodesOfOneRank) {
  constexpr Golden kRows[] = {
      {kMiB / 16, {"44.4", "59.1", "61.2"}},   {kMiB, {"86.6", "164.3", "84.0"}},
      {4 * kMiB, {"156.6", "362.9", "146.0"}}, {8 * kMiB, {"239.6", "594.6", "225.3"}},
      {32 * kMiB, {"717.6", "2183", "698.4"}}, {64 * kMiB, {"1329", "3533", "1324"}},
      {256 * kMiB, {"4996", "9764", "5031"}},  {1024 * kMiB, {"19665", "37950", "19944"}}};
  expect_golden(*model_on("dp=8,tp=8"), 0b01, kRows);
}

TEST(AutoParallelModel, EightRanksOfOneNode) {
  constexpr Golden kRows[] = {
      {kMiB / 16, {"30.2", "31.3", "50.2"}},    {kMiB, {"32.7", "34.9", "52.8"}},
      {4 * kMiB, {"40.7", "46.7", "61.0"}},     {8 * kMiB, {"51.3", "62.4", "72.1"}},
      {32 * kMiB, {"115.2", "156.7", "138.3"}}, {64 * kMiB, {"200.3", "282.3", "226.6"}},
      {256 * kMiB, {"711.3", "1036", "756.4"}}, {1024 * kMiB, {"2755", "4053", "2876"}}};
  expect_golden(*model_on("dp=8,tp=8"), 0b10, kRows);
}

TEST(AutoParallelModel, SixtyFourRanks) {
  constexpr Golden kRows[] = {
      {kMiB / 16, {"113.2", "57.8", "61.2"}},   {kMiB, {"153.6", "100.2", "85.6"}},
      {4 * kMiB, {"169.1", "135.7", "159.2"}},  {8 * kMiB, {"189.8", "177.0", "251.8"}},
      {32 * kMiB, {"313.8", "460.6", "747.9"}}, {64 * kMiB, {"479.2", "691.5", "1382"}},
      {256 * kMiB, {"1309", "1787", "5167"}},   {1024 * kMiB, {"3781", "6820", "19944"}}};
  expect_golden(*model_on("x=64"), 0b1, kRows);
  // Flattened mesh dims are the same group.
  expect_golden(*model_on("dp=8,tp=8"), 0b11, kRows);
}

// DTensor's ring: 6.6 us, hops of 0.6 or 2.7 us, 87.7 or 0.22 of it in GiB/s.
TEST(AutoParallelModel, RingWhereNodesAreNotFull) {
  const auto model = model_on("a=3,b=5");
  const double gib = 1 << 30, bytes = 15 << 20;
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 0b10, 15 << 20),
              6.6 + 4 * 0.6 + bytes * 4 / 5 / gib / 87.7 * 1e6, 1e-9);
  EXPECT_NEAR(model->collective_us(Collective::kAllReduce, 0b01, 15 << 20),
              6.6 + 4 * 2.7 + bytes * 4 / 3 / gib / (87.7 * 0.22) * 1e6, 1e-9);
  EXPECT_NEAR(model->collective_us(Collective::kAllToAll, 0b10, 15 << 20),
              5 * model->collective_us(Collective::kAllGather, 0b10, 15 << 20), 1e-9);
}

TEST(AutoParallelModel, OneRankIsFree) {
  const auto model = model_on("a=1,b=8");
  EXPECT_EQ(model->collective_us(Collective::kAllReduce, 0b01, kMiB), 0);
  EXPECT_EQ(model->collective_us(Collective::kAllReduce, 0, kMiB), 0);
}

TEST(AutoParallelModel, CopiesAndTheirFloor) {
  const auto model = model_on("x=8");
  EXPECT_EQ(model->copy_us(0), 0);
  EXPECT_EQ(model->copy_us(1), 7);
  // 0.7 of 3.35 x 2^40 bytes a second.
  EXPECT_NEAR(model->copy_us(50331648), 50331648 / (0.7 * 3.35 * 1099511627776) * 1e6, 1e-9);
}

TEST(AutoParallelModel, OnlyForItsCluster) {
  const auto model = make_cost_model(*load_cluster("h200"), Mesh::line(8), "autoparallel-h100");
  EXPECT_EQ(model.status().message(),
            "cost model autoparallel-h100 prices the cluster h100 only, not h200; use --cluster "
            "h100");
}

}  // namespace
}  // namespace onedim
