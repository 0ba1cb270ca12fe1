#include "core/tensor/strided_run.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace onedim {
namespace {

using Offsets = std::vector<std::pair<int64_t, int64_t>>;

Offsets starts(const StridedPair& pair) {
  Offsets offsets;
  for_each_run(pair, [&](int64_t a, int64_t b) {
    offsets.emplace_back(a, b);
    return true;
  });
  return offsets;
}

TEST(StridedRun, ContiguousBoxesAreOneRun) {
  const StridedPair pair = merge_dims(Dims{2, 3, 4}, Dims{12, 4, 1}, Dims{12, 4, 1});
  EXPECT_EQ(pair.sizes, (Dims{24}));
  EXPECT_EQ(starts(pair), (Offsets{{0, 0}}));
}

TEST(StridedRun, DimsOfSizeOneAreDropped) {
  const StridedPair pair =
      merge_dims(Dims{1, 3, 1, 4, 1}, Dims{99, 4, 7, 1, 5}, Dims{1, 4, 0, 1, 3});
  EXPECT_EQ(pair.sizes, (Dims{12}));
}

TEST(StridedRun, OnlyWhatLiesAlikeInBothIsMerged) {
  const StridedPair pair = merge_dims(Dims{2, 3, 4}, Dims{12, 4, 1}, Dims{24, 8, 1});
  EXPECT_EQ(pair.sizes, (Dims{6, 4}));
  EXPECT_EQ(starts(pair), (Offsets{{0, 0}, {4, 8}, {8, 16}, {12, 24}, {16, 32}, {20, 40}}));
}

TEST(StridedRun, OuterDimsRunRowMajor) {
  const StridedPair pair = merge_dims(Dims{2, 2, 5}, Dims{100, 10, 1}, Dims{5, 20, 1});
  EXPECT_EQ(starts(pair), (Offsets{{0, 0}, {10, 20}, {100, 5}, {110, 25}}));
}

TEST(StridedRun, ScalarsAreOneRunOfOne) {
  const StridedPair pair = merge_dims({}, {}, {});
  EXPECT_EQ(pair.sizes, (Dims{1}));
  EXPECT_EQ(starts(pair), (Offsets{{0, 0}}));
}

TEST(StridedRun, EmptyBoxesHaveNoRun) {
  EXPECT_EQ(starts(merge_dims(Dims{2, 0}, Dims{1, 1}, Dims{1, 1})), Offsets{});
  EXPECT_EQ(starts(merge_dims(Dims{0, 2}, Dims{9, 1}, Dims{2, 1})), Offsets{});
}

TEST(StridedRun, TheBodyMayStop) {
  int runs = 0;
  const StridedPair pair = merge_dims(Dims{3, 2}, Dims{4, 1}, Dims{2, 1});
  EXPECT_FALSE(for_each_run(pair, [&](int64_t, int64_t) { return ++runs < 2; }));
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace onedim
