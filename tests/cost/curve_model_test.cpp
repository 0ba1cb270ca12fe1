// Prices of the curve models against formulas written out here, and the repairs one by one.
#include "core/cost/curve_model.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>

#include "core/cost/make_cost_model.hpp"
#include "core/cost/measurement.hpp"

namespace onedim {
namespace {

constexpr int64_t kMiB = 1 << 20;

// 8 ranks a node: 300 GB/s and 1 us inside, 50 GB/s and 5 us outside, 5 us a collective.
TEST(AlphaBeta, RingsOverTheSlowestLink) {
  const auto model = *make_cost_model(*load_cluster("alpha_beta"), *Mesh::parse("a=4,b=8"));
  const auto us = [&](Collective collective, MeshDimSet set) {
    return model->collective_us(collective, set, 3 * kMiB);
  };
  const double bytes = 3 * kMiB;
  EXPECT_NEAR(us(Collective::kAllGather, 0b10), 5 + 7 * 1 + bytes * 7 / 8 / 300e3, 1e-9);
  EXPECT_NEAR(us(Collective::kReduceScatter, 0b10), 5 + 7 * 1 + bytes * 7 / 8 / 300e3, 1e-9);
  EXPECT_NEAR(us(Collective::kAllReduce, 0b10), 5 + 14 * 1 + bytes * 14 / 8 / 300e3, 1e-9);
  EXPECT_NEAR(us(Collective::kAllToAll, 0b10), 5 + 7 * 1 + bytes * 7 / 8 / 300e3, 1e-9);
  EXPECT_NEAR(us(Collective::kBroadcast, 0b10), 5 + 3 * 1 + bytes / 300e3, 1e-9);
  EXPECT_NEAR(us(Collective::kAllGather, 0b01), 5 + 3 * 5 + bytes * 3 / 4 / 50e3, 1e-9);
  EXPECT_NEAR(us(Collective::kAllReduce, 0b01), 5 + 6 * 5 + bytes * 6 / 4 / 50e3, 1e-9);
}

// Over both mesh dims a ring of 32 is dearer than two rings, the outer one on an eighth.
TEST(AlphaBeta, FlattenedDimsTakeTheCheaperWay) {
  const auto model = *make_cost_model(*load_cluster("alpha_beta"), *Mesh::parse("a=4,b=8"));
  const double bytes = 64 * kMiB;
  const double outer_first =
      5 + 3 * 5 + bytes / 8 * 3 / 4 / 50e3 + 5 + 7 * 1 + bytes * 7 / 8 / 300e3;
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 0b11, 64 * kMiB), outer_first, 1e-9);
}

TEST(AlphaBeta, CopiesAndTheirFloor) {
  const auto model = *make_cost_model(*load_cluster("alpha_beta"), Mesh::line(2));
  EXPECT_EQ(model->copy_us(0), 0);
  EXPECT_EQ(model->copy_us(1), 4);
  EXPECT_NEAR(model->copy_us(1'000'000'000), 500, 1e-9);
}

// The rows of one H100 node, and the several-node ring at a size where it is a straight line.
TEST(Nccl, RowsOfTheTables) {
  const auto model = *make_cost_model(*load_cluster("h100"), *Mesh::parse("a=8,b=8"));
  const double gib = 1 << 30;
  const auto us = [&](Collective collective, MeshDimSet set, int64_t bytes) {
    return model->collective_us(collective, set, bytes);
  };
  EXPECT_NEAR(us(Collective::kAllGather, 0b10, 1 << 30), 30 + gib / 394e3, 1e-3 * 2755);
  EXPECT_NEAR(us(Collective::kAllReduce, 0b10, 1 << 30), 31 + gib / 267e3, 1e-3 * 4053);
  EXPECT_NEAR(us(Collective::kAllToAll, 0b10, 1 << 30), 50 + gib / 380e3, 1e-3 * 2876);
  EXPECT_NEAR(us(Collective::kAllGather, 0b01, 1 << 30), 106.4 + gib / 54.9e3, 1e-3 * 19665);
  // Broadcast: a ring without all-gather's (n-1)/n.
  EXPECT_NEAR(us(Collective::kBroadcast, 0b10, 1 << 30), 30 + gib * 8 / 7 / 394e3, 1e-3 * 3144);
}

// Times of 8x8 H100: gathers and scatters within a tenth from 8 MiB on; all-reduce there ran
// without the switch's sums, and ours with them.
TEST(Nccl, IsNearTheMeasurements) {
  std::ifstream file(ONEDIM_TEST_DATA "/colls8_8.table");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto model = *make_cost_model(*load_cluster("h100"), *Mesh::parse("a=8,b=8"));
  const std::vector<Measurement> rows = *parse_measurements(text, "colls8_8.table", {});
  for (const Measurement& row : rows) {
    const MeshDimSet set = row.group.is_one_node() ? 0b10 : 0b01;
    const bool reduces = row.collective == Collective::kAllReduce;
    const double tolerance = reduces ? 0.3 : row.bytes >= 8 * kMiB ? 0.1 : 0.25;
    EXPECT_NEAR(model->collective_us(row.collective, set, row.bytes), row.us, tolerance * row.us)
        << collective_name(row.collective) << ' ' << row.bytes << " over " << set;
  }
}

// Two rows of ranks: 3 ranks lie between 2 and 4.
TEST(Nccl, OneNodeIsLinearInRanks) {
  const auto model = *make_cost_model(*load_cluster("h100"), Mesh::line(3));
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 1, 0), 12.5, 1e-3);
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 1, 1 << 30), 12.5 + 1073741824 / 485.5e3,
              2.3);
}

constexpr const char* kTwoDims = R"(ranks_per_node = 2
copy_gbs = 1000
[intra]
bandwidth_gbs = 100
latency_us = 10
[inter]
bandwidth_gbs = 100
latency_us = 10
)";

std::unique_ptr<const CostModel> model_with(std::string_view measured, const char* mesh) {
  return *make_cost_model(*parse_cluster(std::string(kTwoDims) + std::string(measured), "t.toml"),
                          *Mesh::parse(mesh));
}

TEST(CurveModel, MeasuredCurvesReplaceFormulas) {
  const auto model = model_with(
      "[[measured]]\ncollective = 'all_gather'\nnodes = 1\nranks_per_node = 2\n"
      "bytes = [1000, 2000, 4000]\nus = [5, 6, 10]\n",
      "a=2");
  const auto us = [&](int64_t bytes) {
    return model->collective_us(Collective::kAllGather, 1, bytes);
  };
  EXPECT_NEAR(us(0), 4, 1e-9);
  EXPECT_NEAR(us(1500), 5.5, 1e-9);
  EXPECT_NEAR(us(3000), 8, 1e-9);
  EXPECT_NEAR(us(8000), 18, 1e-9);
}

TEST(CurveModel, AMeasuredPeakIsCut) {
  const auto model = model_with(
      "[[measured]]\ncollective = 'all_gather'\nnodes = 1\nranks_per_node = 2\n"
      "bytes = [1000, 2000, 3000]\nus = [5, 9, 7]\n",
      "a=2");
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 1, 2000), 7, 1e-9);
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 1, 1250), 6, 1e-9);
}

TEST(CurveModel, DearAllReduceIsTwoSteps) {
  const auto model = model_with(
      "[[measured]]\ncollective = 'all_reduce'\nnodes = 1\nranks_per_node = 2\n"
      "bytes = [1000, 2000]\nus = [900, 901]\n",
      "a=2");
  // Each step: one hop of 10 us and half of the bytes at 100 GB/s.
  EXPECT_NEAR(model->collective_us(Collective::kAllReduce, 1, 1500), 2 * (10 + 750 / 100e3), 1e-9);
}

TEST(CurveModel, DearAllToAllIsAGather) {
  const auto model = model_with(
      "[[measured]]\ncollective = 'all_to_all'\nnodes = 1\nranks_per_node = 2\n"
      "bytes = [1000, 2000]\nus = [900, 901]\n",
      "a=2");
  EXPECT_NEAR(model->collective_us(Collective::kAllToAll, 1, 1500), 10 + 1500 / 100e3, 1e-9);
}

TEST(CurveModel, FingerprintsDifferWherePricesMay) {
  const Cluster h100 = *load_cluster("h100");
  Cluster faster = h100;
  faster.inter.bandwidth_gbs += 1;
  const auto fingerprint = [](const Cluster& cluster, const char* mesh, const char* model) {
    return (*make_cost_model(cluster, *Mesh::parse(mesh), model))->fingerprint();
  };
  const uint64_t first = fingerprint(h100, "a=2,b=4", "nccl");
  EXPECT_EQ(first, fingerprint(h100, "a=2,b=4", ""));
  EXPECT_EQ(first, fingerprint(h100, "dp=2,tp=4", "nccl"));
  EXPECT_NE(first, fingerprint(h100, "a=4,b=2", "nccl"));
  EXPECT_NE(first, fingerprint(h100, "a=2,b=4", "alpha-beta"));
  EXPECT_NE(first, fingerprint(faster, "a=2,b=4", "nccl"));
}

TEST(MakeCostModel, UnknownNames) {
  const Cluster cluster = *load_cluster("alpha_beta");
  EXPECT_EQ(message_of(make_cost_model(cluster, Mesh::line(2), "ncl").status()),
            "unknown cost model \"ncl\" among alpha-beta, autoparallel-h100, nccl; did you mean "
            "\"nccl\"?");
  EXPECT_EQ(message_of(make_cost_model(cluster, Mesh::line(2), "nccl").status()),
            "cost model nccl needs a cluster with [nccl]; cluster alpha_beta has none, use "
            "alpha-beta");
}

TEST(CurveModel, QueriesAreFast) {
  const auto model = *make_cost_model(*load_cluster("h100"), *Mesh::parse("a=2,b=8,c=8"));
  constexpr int kQueries = 1'000'000;
  double sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kQueries; ++i) {
    const int64_t bytes = (int64_t{i} * 2654435761) & 0xfffffff;
    sum += model->collective_us(static_cast<Collective>(i % 5), 1 + i % 7, bytes);
  }
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f ns a query\n", spent.count() / kQueries);
  EXPECT_GT(sum, 0);
  EXPECT_LT(spent.count() / kQueries, 300);
}

}  // namespace
}  // namespace onedim
