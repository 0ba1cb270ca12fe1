#include "core/validate/partial_split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/layout/partition.hpp"
#include "core/validate/judge.hpp"

namespace onedim {
namespace {

constexpr DType kDTypes[] = {DType::kF64,      DType::kF32,    DType::kBF16,   DType::kF16,
                             DType::kF8E4M3FN, DType::kF8E5M2, DType::kF8E8M0, DType::kI64,
                             DType::kI32,      DType::kI16,    DType::kI8,     DType::kU8,
                             DType::kBool,     DType::kC64,    DType::kC128};

std::vector<Lanes> read_all(const std::vector<Tensor>& tensors) {
  std::vector<Lanes> all(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) read_lanes(tensors[i], all[i]);
  return all;
}

// Joined without any slack.
bool joins_exactly(const Tensor& global, const std::vector<Tensor>& locals,
                   const std::string& kind) {
  return judge(Placement::make_partial(kind), make_truth(global), {}, read_all(locals),
               ErrorModel{}) == Judgement::kHolds;
}

TEST(PartialSplit, EverySplitJoinsToItsValueExactly) {
  for (const DType dtype : kDTypes) {
    for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
      if (!is_legal_partial(kind, dtype)) continue;
      for (int variant = 0; variant < kSplitVariantCount; ++variant) {
        for (int draw = 0; draw < kValueKindCount; ++draw) {
          for (const int64_t world : {1, 2, 3, 4, 5}) {
            const Tensor global = draw_values(TensorMeta::contiguous(dtype, {3, 5}), {},
                                              static_cast<DrawKind>(draw), {}, Random(draw));
            const std::vector<Tensor> locals =
                split_partial(global, kind, world, {}, {variant, 11});
            ASSERT_EQ(locals.size(), static_cast<size_t>(world));
            // Means of three round in the narrowest floats, whose grid is too coarse to hold thrice
            // a value.
            if (std::string(kind) == "avg" && size_of(dtype) == 1) continue;
            EXPECT_TRUE(joins_exactly(global, locals, kind))
                << name_of(dtype) << " " << kind << " variant " << variant << " draw " << draw
                << " world " << world;
          }
        }
      }
    }
  }
}

// Values at constants of every size, split on the grid of their own scale. Integers join without
// wrap-around, since an op of the local values would not.
TEST(PartialSplit, SplitsAroundConstantsAreExact) {
  for (const DType dtype : kDTypes) {
    for (const double constant : {3.0, 50.0, 300.0, 2000.0, 1100.0, 1e9}) {
      const Tensor global = draw_values(TensorMeta::contiguous(dtype, {20}), {},
                                        DrawKind::kConstants, {&constant, 1}, Random(7));
      for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
        if (!is_legal_partial(kind, dtype) || dtype == DType::kF8E8M0) continue;
        for (int variant = 0; variant < kSplitVariantCount; ++variant) {
          const std::vector<Tensor> locals = split_partial(global, kind, 3, {}, {variant, 11});
          if (std::string(kind) == "avg" && size_of(dtype) == 1) continue;
          EXPECT_TRUE(joins_exactly(global, locals, kind))
              << name_of(dtype) << " " << kind << " variant " << variant << " at " << constant;
          const std::vector<Lanes> parts = read_all(locals);
          const std::vector<int64_t> whole = read_all({global})[0].integers;
          for (size_t i = 0; i < whole.size() && std::string(kind) == "sum"; ++i) {
            EXPECT_EQ(parts[0].integers[i] + parts[1].integers[i] + parts[2].integers[i], whole[i])
                << name_of(dtype) << " variant " << variant << " at " << constant;
          }
        }
      }
    }
  }
}

TEST(PartialSplit, SumsAreSplitToBothSidesOfALargeConstant) {
  const double constant = 1100;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kI64, DType::kI16}) {
    const Tensor global = draw_values(TensorMeta::contiguous(dtype, {20}), {}, DrawKind::kConstants,
                                      {&constant, 1}, Random(7));
    double lowest = 0, highest = 0;
    for (int variant = 0; variant < kSplitVariantCount; ++variant) {
      for (const Lanes& lanes : read_all(split_partial(global, "sum", 2, {}, {variant, 5}))) {
        std::vector<double> values = lanes.reals;
        values.insert(values.end(), lanes.integers.begin(), lanes.integers.end());
        for (const double value : values)
          lowest = std::min(lowest, value), highest = std::max(highest, value);
      }
    }
    EXPECT_LT(lowest, -1000) << name_of(dtype);
    EXPECT_GT(highest, 2000) << name_of(dtype);
  }
}

TEST(PartialSplit, LocalValuesAreFinite) {
  for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
    for (int variant = 0; variant < kSplitVariantCount; ++variant) {
      const Tensor global = draw_values(TensorMeta::contiguous(DType::kF16, {40}), {},
                                        DrawKind::kWide, {}, Random(3));
      for (const Lanes& lanes : read_all(split_partial(global, kind, 4, {}, {variant, 5}))) {
        for (const double value : lanes.reals)
          EXPECT_TRUE(std::isfinite(value)) << kind << " " << variant;
      }
    }
  }
}

TEST(PartialSplit, NonfiniteValuesAreSplitToo) {
  const Domain domain{"nonfinite", {}};
  ErrorModel model;
  model.nonfinite = true;
  for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
    for (int variant = 0; variant < kSplitVariantCount; ++variant) {
      const Tensor global = draw_values(TensorMeta::contiguous(DType::kF64, {60}), domain,
                                        DrawKind::kMixed, {}, Random(variant));
      const std::vector<Tensor> locals = split_partial(global, kind, 3, domain, {variant, 9});
      EXPECT_EQ(
          judge(Placement::make_partial(kind), make_truth(global), {}, read_all(locals), model),
          Judgement::kHolds)
          << kind << " " << variant;
    }
  }
}

// A NaN beside an infinity, and an infinity whose sign another factor turns.
TEST(PartialSplit, NaNHidesInfinitiesAndFactorsTurnThem) {
  const Domain domain{"nonfinite", {}};
  bool hides = false, turns = false;
  for (int variant = 0; variant < kSplitVariantCount; ++variant) {
    const Tensor global = draw_values(TensorMeta::contiguous(DType::kF64, {60}), domain,
                                      DrawKind::kMixed, {}, Random(variant));
    const Truth truth = make_truth(global);
    const std::vector<Lanes> maxima =
        read_all(split_partial(global, "max", 2, domain, {variant, 9}));
    const std::vector<Lanes> factors =
        read_all(split_partial(global, "product", 2, domain, {variant, 9}));
    for (size_t i = 0; i < truth.lanes.reals.size(); ++i) {
      const double value = truth.lanes.reals[i];
      for (const Lanes& lanes : maxima) hides |= std::isnan(value) && std::isinf(lanes.reals[i]);
      for (const Lanes& lanes : factors) turns |= std::isinf(value) && lanes.reals[i] == -value;
    }
  }
  EXPECT_TRUE(hides && turns);
}

TEST(PartialSplit, ASumHasLocalValuesOfBothSignsAndManySizes) {
  const Tensor global = draw_values(TensorMeta::contiguous(DType::kF64, {40}), {},
                                    DrawKind::kPositive, {}, Random(3));
  bool negative = false, large = false, zero = false;
  for (int variant = 0; variant < kSplitVariantCount; ++variant) {
    for (const Lanes& lanes : read_all(split_partial(global, "sum", 2, {}, {variant, 5}))) {
      for (const double value : lanes.reals)
        negative |= value<0, large |= std::abs(value)> 900, zero |= value == 0;
    }
  }
  EXPECT_TRUE(negative && large && zero);
}

TEST(PartialSplit, IndicesStayIndices) {
  const Result<Domain> domain = parse_domain("index(6)");
  ASSERT_TRUE(domain.ok());
  const Tensor global = draw_values(TensorMeta::contiguous(DType::kI64, {40}), *domain,
                                    DrawKind::kMixed, {}, Random(3));
  for (const char* kind : {"sum", "max", "min", "product"}) {
    for (int variant = 0; variant < kSplitVariantCount; ++variant) {
      const std::vector<Tensor> locals = split_partial(global, kind, 3, *domain, {variant, 5});
      EXPECT_TRUE(joins_exactly(global, locals, kind)) << kind << " " << variant;
      for (const Lanes& lanes : read_all(locals)) {
        for (const int64_t value : lanes.integers)
          EXPECT_TRUE(value >= 0 && value < 6) << kind << " " << variant;
      }
    }
  }
}

TEST(PartialSplit, IntegersMayWrapAroundWhereAsked) {
  for (const DType dtype : {DType::kI64, DType::kI32, DType::kI16, DType::kI8, DType::kU8}) {
    const Tensor global =
        draw_values(TensorMeta::contiguous(dtype, {40}), {}, DrawKind::kMixed, {}, Random(3));
    for (const char* kind : {"sum", "product"}) {
      const std::vector<Tensor> locals = split_partial(global, kind, 3, {}, {2, 5, true});
      EXPECT_TRUE(joins_exactly(global, locals, kind)) << name_of(dtype) << " " << kind;
      EXPECT_FALSE(bit_equal(locals[0], split_partial(global, kind, 3, {}, {2, 5, false})[0]));
    }
  }
}

TEST(PartialSplit, IdentityFilledSplitsOccur) {
  const Tensor global =
      draw_values(TensorMeta::contiguous(DType::kF64, {4, 6}), {}, DrawKind::kMixed, {}, Random(3));
  bool found = false;
  for (int variant = 0; variant < kSplitVariantCount; ++variant) {
    const std::vector<Tensor> locals = split_partial(global, "sum", 2, {}, {variant, 5});
    found |=
        bit_equal(locals[0], global) && bit_equal(locals[1], identity_tensor(global.meta(), "sum"));
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace onedim
