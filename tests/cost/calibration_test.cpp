#include "core/cost/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "core/cost/make_cost_model.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

const ClusterGroup kNode{8, 1, 8};
const ClusterGroup kOuter{4, 4, 1};

std::vector<Measurement> measured_file() {
  std::ifstream file(ONEDIM_TEST_DATA "/colls8_8.table");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return *parse_measurements(text, "colls8_8.table", {});
}

// Times made by the ring formulas, written out: the links come back.
TEST(Calibration, FindsTheLinksOfRings) {
  std::vector<Measurement> measurements;
  for (int64_t bytes = 1024; bytes <= 1 << 28; bytes *= 8) {
    const double size = static_cast<double>(bytes);
    measurements.push_back({Collective::kAllGather, kNode, bytes, 7 * 2.5 + size * 7 / 8 / 120e3});
    measurements.push_back(
        {Collective::kAllReduce, kNode, bytes, 14 * 2.5 + size * 14 / 8 / 120e3});
    measurements.push_back(
        {Collective::kReduceScatter, kOuter, bytes, 3 * 9.0 + size * 3 / 4 / 20e3});
  }
  const Result<Calibration> fitted = calibrate(*load_cluster("alpha_beta"), measurements);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_NEAR(fitted->cluster.intra.latency_us, 2.5, 1e-9);
  EXPECT_NEAR(fitted->cluster.intra.bandwidth_gbs, 120, 1e-6);
  EXPECT_NEAR(fitted->cluster.inter.latency_us, 9, 1e-9);
  EXPECT_NEAR(fitted->cluster.inter.bandwidth_gbs, 20, 1e-6);
  EXPECT_TRUE(fitted->breaks.empty());
  for (const CalibrationRow& row : fitted->rows) {
    EXPECT_NEAR(row.link_error(), 0, 1e-9);
    EXPECT_NEAR(row.model_error(), 0, 1e-9);
  }
}

// A perturbed fit is no better: the least squares are a minimum.
TEST(Calibration, LinksAreTheLeastSquares) {
  std::mt19937_64 random(random_seed());
  std::vector<Measurement> measurements;
  for (int64_t bytes = 1 << 16; bytes <= 1 << 28; bytes *= 2) {
    const double noise = std::uniform_real_distribution<double>(0.8, 1.25)(random);
    measurements.push_back({Collective::kAllGather, kNode, bytes,
                            noise * (7 * 5.0 + static_cast<double>(bytes) * 7 / 8 / 100e3)});
  }
  const ClusterLink link = calibrate(*load_cluster("alpha_beta"), measurements)->cluster.intra;
  const auto squares = [&](double latency, double gbs) {
    double sum = 0;
    for (const Measurement& row : measurements) {
      const double us = 7 * latency + static_cast<double>(row.bytes) * 7 / 8 / (gbs * 1e3);
      sum += std::pow(us / row.us - 1, 2);
    }
    return sum;
  };
  const double least = squares(link.latency_us, link.bandwidth_gbs);
  for (const double factor : {0.97, 0.999, 1.001, 1.03}) {
    EXPECT_LE(least, squares(link.latency_us * factor, link.bandwidth_gbs));
    EXPECT_LE(least, squares(link.latency_us, link.bandwidth_gbs * factor));
  }
}

TEST(Calibration, AMeasuredFileRoundTrips) {
  const Result<Calibration> fitted = calibrate(*load_cluster("h100"), measured_file());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->cluster.measured.size(), 4u);
  const Result<Cluster> again = parse_cluster(format_cluster(fitted->cluster), "h100.toml");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, fitted->cluster);
  const auto model = *make_cost_model(*again, *Mesh::parse("dp=8,tp=8"));
  EXPECT_NEAR(model->collective_us(Collective::kAllReduce, 0b10, 64 << 20), 382.2, 1e-6);
  EXPECT_NEAR(model->collective_us(Collective::kAllGather, 0b01, 64 << 20), 1329.7, 1e-6);
  EXPECT_NEAR(model->collective_us(Collective::kReduceScatter, 0b01, 1 << 20), 86.6, 1e-6);
}

TEST(Calibration, OtherMeasuredCurvesStay) {
  const Cluster h200 = *load_cluster("h200");
  ASSERT_EQ(h200.measured.size(), 1u);
  std::vector<Measurement> gathers = {{Collective::kAllGather, kNode, 1024, 5},
                                      {Collective::kAllGather, kNode, 2048, 6}};
  EXPECT_EQ(calibrate(h200, gathers)->cluster.measured.size(), 2u);
  for (Measurement& row : gathers) row.collective = Collective::kAllReduce;
  const Cluster replaced = calibrate(h200, gathers)->cluster;
  ASSERT_EQ(replaced.measured.size(), 1u);
  EXPECT_EQ(replaced.measured[0].us, (std::vector<double>{5, 6}));
}

TEST(Calibration, EqualSizesBecomeTheirMedian) {
  const std::vector<Measurement> rows = merged({{Collective::kAllGather, kNode, 1024, 9},
                                                {Collective::kAllGather, kNode, 1024, 5},
                                                {Collective::kAllGather, kNode, 512, 4},
                                                {Collective::kAllGather, kNode, 1024, 6}});
  EXPECT_EQ(rows, (std::vector<Measurement>{{Collective::kAllGather, kNode, 512, 4},
                                            {Collective::kAllGather, kNode, 1024, 6}}));
}

TEST(Calibration, NothingToFit) {
  EXPECT_EQ(message_of(calibrate(*load_cluster("h100"), {}).status()),
            "there are no measurements to fit");
}

std::vector<std::string> breaks_of(std::vector<Measurement> measurements) {
  std::vector<std::string> texts;
  for (const PropertyBreak& broken : property_breaks(merged(std::move(measurements)))) {
    texts.push_back(fmt::format("{}: {} ({:.2f})", broken.property, broken.text, broken.factor));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PropertyBreaks, LargerIsCheaper) {
  EXPECT_EQ(breaks_of({{Collective::kAllGather, kNode, 1024, 10},
                       {Collective::kAllGather, kNode, 2048, 8},
                       {Collective::kAllGather, kNode, 4096, 8}}),
            Texts{"monotone: all_gather on 1x8 of 2048 bytes takes 8 us, less than 1024 bytes with "
                  "10 us (1.25)"});
}

TEST(PropertyBreaks, AllReduceAboveItsTwoSteps) {
  EXPECT_EQ(breaks_of({{Collective::kAllGather, kNode, 1000, 10},
                       {Collective::kAllGather, kNode, 3000, 20},
                       {Collective::kReduceScatter, kNode, 2000, 5},
                       {Collective::kAllReduce, kNode, 2000, 30},
                       {Collective::kAllReduce, kNode, 4000, 300}}),
            Texts{"all-reduce: all_reduce on 1x8 of 2000 bytes takes 30 us, more than "
                  "reduce_scatter and all_gather with 20 us (1.50)"});
}

TEST(PropertyBreaks, AllToAllAboveAllGather) {
  EXPECT_EQ(
      breaks_of(
          {{Collective::kAllToAll, kOuter, 1000, 12}, {Collective::kAllGather, kOuter, 4000, 10}}),
      Texts{"all-to-all: all_to_all on 4x1 of 1000 bytes takes 12 us, more than all_gather of "
            "4000 bytes with 10 us (1.20)"});
}

TEST(PropertyBreaks, MoreRanksAreCheaper) {
  EXPECT_EQ(breaks_of({{Collective::kAllReduce, ClusterGroup{4, 1, 4}, 1000, 12},
                       {Collective::kAllReduce, kNode, 1000, 10},
                       {Collective::kAllReduce, ClusterGroup{2, 2, 1}, 1000, 1}}),
            Texts{"more-ranks: all_reduce on 1x8 of 1000 bytes takes 10 us, less than on 1x4 with "
                  "12 us (1.20)"});
}

TEST(PropertyBreaks, NoneInTheMeasuredFile) {
  for (const PropertyBreak& broken : property_breaks(merged(measured_file()))) {
    ADD_FAILURE() << broken.text;
  }
}

}  // namespace
}  // namespace onedim
