#include "core/cost/size_curve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/random_seed.hpp"

namespace onedim {
namespace {

using Knot = SizeCurve::Knot;

// Knots at random sizes, rising or not; the tail rises.
SizeCurve random_curve(std::mt19937_64& random) {
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::vector<Knot> knots = {{0, draw(1, 50)}};
  while (draw(0, 1) < 0.9) {
    knots.push_back({knots.back().bytes + std::exp2(draw(0, 16)), draw(1, 50)});
  }
  return {std::move(knots), draw(0, 1e-3)};
}

double random_size(std::mt19937_64& random) {
  return std::exp2(std::uniform_real_distribution<double>(0, 24)(random));
}

TEST(SizeCurve, IsStraightBetweenKnots) {
  const SizeCurve curve({{0, 10}, {100, 20}, {200, 50}}, 0.5);
  EXPECT_EQ(curve.at(0), 10);
  EXPECT_EQ(curve.at(50), 15);
  EXPECT_EQ(curve.at(150), 35);
  EXPECT_EQ(curve.at(300), 100);
}

TEST(SizeCurve, NondecreasingCutsPeaks) {
  const SizeCurve curve = SizeCurve({{0, 10}, {10, 30}, {20, 20}}, 1).nondecreasing();
  EXPECT_EQ(curve.at(4), 18);
  EXPECT_EQ(curve.at(5), 20);
  EXPECT_EQ(curve.at(10), 20);
  EXPECT_EQ(curve.at(21), 21);
}

TEST(SizeCurve, OperationsAgreeWithTheirMeaningAtEverySize) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 500; ++round) {
    const SizeCurve a = random_curve(random), b = random_curve(random);
    const SizeCurve sum = a + b, least = minimum(a, b), wide = a.stretched(0.375);
    for (int i = 0; i < 50; ++i) {
      const double size = random_size(random);
      ASSERT_NEAR(sum.at(size), a.at(size) + b.at(size), 1e-9 * sum.at(size));
      ASSERT_NEAR(least.at(size), std::min(a.at(size), b.at(size)), 1e-9 * least.at(size));
      ASSERT_NEAR(wide.at(size), a.at(size * 0.375), 1e-9 * wide.at(size));
    }
  }
}

// The least of all larger sizes, found by trying many.
TEST(SizeCurve, NondecreasingIsTheLeastOfAllLargerSizes) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 300; ++round) {
    const SizeCurve curve = random_curve(random), smooth = curve.nondecreasing();
    const double size = random_size(random);
    double least = curve.at(size);
    for (const Knot& knot : curve.knots()) {
      if (knot.bytes > size) least = std::min(least, knot.us);
    }
    ASSERT_NEAR(smooth.at(size), least, 1e-9 * least);
  }
}

TEST(SizeCurve, ThinningKeepsToItsTolerance) {
  std::vector<Knot> knots = {{0, 5}};
  for (int i = 1; i < 1000; ++i) knots.push_back({i * 64.0, 5 + std::sqrt(i)});
  const SizeCurve curve(std::move(knots), 0.01), thin = curve.thinned(0.01);
  EXPECT_LT(thin.knots().size(), 60u);
  for (double size = 0; size < 64000; size += 7) {
    ASSERT_NEAR(thin.at(size), curve.at(size), 0.0101 * curve.at(size)) << size;
  }
}

TEST(SizeTable, AgreesWithItsCurveAndNeverFalls) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 300; ++round) {
    const SizeCurve curve = random_curve(random).nondecreasing();
    const SizeTable table(curve);
    for (int i = 0; i < 50; ++i) {
      const int64_t size = static_cast<int64_t>(random_size(random));
      ASSERT_NEAR(table.at(size), curve.at(static_cast<double>(size)), 1e-9 * table.at(size));
      ASSERT_LE(table.at(size), table.at(size + 1));
    }
    ASSERT_EQ(table.at(0), curve.at(0));
    ASSERT_TRUE(std::isfinite(table.at(INT64_MAX)));
  }
}

}  // namespace
}  // namespace onedim
