#include "core/validate/value_draw.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "core/validate/lanes.hpp"

namespace onedim {
namespace {

Lanes draw(DType dtype, const std::string& domain, DrawKind kind,
           std::span<const double> constants = {}) {
  Domain parsed;
  if (!domain.empty()) {
    Result<Domain> result = parse_domain(domain);
    EXPECT_TRUE(result.ok()) << result.status();
    parsed = *result;
  }
  Lanes lanes;
  read_lanes(draw_values(TensorMeta::contiguous(dtype, {40}), parsed, kind, constants, Random(7)),
             lanes);
  return lanes;
}

template <typename Check>
void for_each_kind(const Check& check) {
  for (int kind = 0; kind < kValueKindCount; ++kind) check(static_cast<DrawKind>(kind));
}

TEST(ValueDraw, DomainsHoldForEveryKind) {
  struct Domain {
    const char* name;
    bool (*holds)(double);
  };
  const Domain domains[] = {
      {"positive", [](double x) { return x > 0; }},
      {"nonnegative", [](double x) { return x >= 0; }},
      {"nonzero", [](double x) { return x != 0; }},
      {"unit", [](double x) { return x > -1 && x < 1; }},
      {"probability", [](double x) { return x >= 0 && x <= 1; }},
      {"values(0.5,2)", [](double x) { return x == 0.5 || x == 2; }},
  };
  for (const Domain& domain : domains) {
    for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16}) {
      for_each_kind([&](DrawKind kind) {
        const Lanes lanes = draw(dtype, domain.name, kind);
        EXPECT_TRUE(std::all_of(lanes.reals.begin(), lanes.reals.end(), domain.holds))
            << domain.name << " " << name_of(dtype);
      });
    }
  }
}

TEST(ValueDraw, KindsAreWhatTheyAreCalled) {
  const auto all = [](const Lanes& lanes, bool (*holds)(double)) {
    return std::all_of(lanes.reals.begin(), lanes.reals.end(), holds);
  };
  EXPECT_TRUE(all(draw(DType::kF64, "", DrawKind::kNegative), [](double x) { return x < 0; }));
  EXPECT_TRUE(all(draw(DType::kF64, "", DrawKind::kPositive), [](double x) { return x > 0; }));
  EXPECT_TRUE(
      all(draw(DType::kF64, "", DrawKind::kIntegers), [](double x) { return x == std::rint(x); }));
  const Lanes mixed = draw(DType::kF64, "", DrawKind::kMixed);
  EXPECT_LT(*std::min_element(mixed.reals.begin(), mixed.reals.end()), 0);
  EXPECT_GT(*std::max_element(mixed.reals.begin(), mixed.reals.end()), 0);
  const double bound[] = {1.5};
  const Lanes constants = draw(DType::kF64, "", DrawKind::kConstants, bound);
  EXPECT_GT(std::count(constants.reals.begin(), constants.reals.end(), 1.5), 5);
}

TEST(ValueDraw, LargeValuesReachFarAndStayInRange) {
  const std::tuple<DType, double, double> ranges[] = {
      {DType::kF64, 1e9, 0x1p40},  {DType::kF32, 1e9, 0x1p40}, {DType::kBF16, 1e6, 0x1p40},
      {DType::kF16, 5000, 0x1p14}, {DType::kF8E4M3FN, 40, 64}, {DType::kF8E5M2, 500, 0x1p12},
      {DType::kI64, 1e6, 0x1p40},  {DType::kI32, 5e5, 0x1p30}, {DType::kI16, 5000, 0x1p14},
      {DType::kI8, 30, 63}};
  for (const auto& [dtype, reached, bound] : ranges) {
    double largest = 0;
    for (uint64_t key = 0; key < 20; ++key) {
      Lanes lanes;
      read_lanes(
          draw_values(TensorMeta::contiguous(dtype, {40}), {}, DrawKind::kLarge, {}, Random(key)),
          lanes);
      for (const double value : lanes.reals) largest = std::max(largest, std::abs(value));
      for (const int64_t value : lanes.integers)
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    EXPECT_GT(largest, reached) << name_of(dtype);
    EXPECT_LT(largest, bound) << name_of(dtype);
  }
}

TEST(ValueDraw, ConstantsAreMetAtTheirOwnScale) {
  const std::pair<DType, double> constants[] = {
      {DType::kF32, 1100}, {DType::kF32, 0x1p29}, {DType::kBF16, 30}, {DType::kF16, 100},
      {DType::kF64, 3000}, {DType::kI8, 50},      {DType::kI16, 300}, {DType::kI64, 2000},
      {DType::kI8, 127},   {DType::kI64, 1 << 30}};
  for (const auto& [dtype, constant] : constants) {
    const Lanes lanes = draw(dtype, "", DrawKind::kConstants, {&constant, 1});
    const int64_t hits =
        std::count(lanes.reals.begin(), lanes.reals.end(), constant) +
        std::count(lanes.integers.begin(), lanes.integers.end(), static_cast<int64_t>(constant));
    EXPECT_GT(hits, 5) << name_of(dtype) << " " << constant;
    EXPECT_LT(hits, 40) << name_of(dtype) << " " << constant;
  }
}

TEST(ValueDraw, IndicesAndOffsetsStayInRange) {
  for_each_kind([](DrawKind kind) {
    for (const int64_t value : draw(DType::kI64, "index(6)", kind).integers)
      EXPECT_TRUE(value >= 0 && value < 6);
    const Lanes offsets = draw(DType::kI32, "offsets(12)", kind);
    EXPECT_TRUE(std::is_sorted(offsets.integers.begin(), offsets.integers.end()));
    EXPECT_EQ(offsets.integers.back(), 12);
  });
}

TEST(ValueDraw, UnsignedAndBoolValuesExist) {
  for_each_kind([](DrawKind kind) {
    for (const int64_t value : draw(DType::kU8, "", kind).integers)
      EXPECT_TRUE(value >= 0 && value < 256);
    for (const int64_t value : draw(DType::kBool, "", kind).integers)
      EXPECT_TRUE(value == 0 || value == 1);
  });
}

TEST(ValueDraw, NonfiniteValuesAppearOnlyWhereAskedFor) {
  const auto is_odd = [](double x) { return !std::isfinite(x); };
  const Lanes asked = draw(DType::kF64, "nonfinite", DrawKind::kMixed),
              plain = draw(DType::kF64, "", DrawKind::kMixed);
  EXPECT_GT(std::count_if(asked.reals.begin(), asked.reals.end(), is_odd), 3);
  EXPECT_EQ(std::count_if(plain.reals.begin(), plain.reals.end(), is_odd), 0);
}

TEST(ValueDraw, TheSameKeyDrawsTheSameValues) {
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {3, 4});
  const Tensor a = draw_values(meta, {}, DrawKind::kMixed, {}, Random(1)),
               b = draw_values(meta, {}, DrawKind::kMixed, {}, Random(1));
  const Tensor other = draw_values(meta, {}, DrawKind::kMixed, {}, Random(2));
  EXPECT_TRUE(bit_equal(a, b));
  EXPECT_FALSE(bit_equal(a, other));
}

}  // namespace
}  // namespace onedim
