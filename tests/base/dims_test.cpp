#include "core/base/dims.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(Dims, VolumeOfNoSizesIsOne) {
  EXPECT_EQ(volume(Dims{}), 1);
  EXPECT_EQ(volume(Dims{4, 6}), 24);
  EXPECT_EQ(volume(Dims{4, 0, 6}), 0);
}

TEST(Dims, CheckedVolumeRefusesNegativeSizes) {
  EXPECT_EQ(checked_volume(Dims{}), 1);
  EXPECT_EQ(checked_volume(Dims{3, -1}), -1);
  EXPECT_EQ(checked_volume(Dims{0, -1}), -1);
}

TEST(Dims, CheckedVolumeRefusesOverflow) {
  const int64_t big = int64_t{1} << 31;
  EXPECT_EQ(checked_volume(Dims{big, big}), int64_t{1} << 62);
  EXPECT_EQ(checked_volume(Dims{big, big, 2}), -1);
  EXPECT_EQ(checked_volume(Dims{INT64_MAX, INT64_MAX}), -1);
}

TEST(Dims, CheckedVolumeOfAnEmptyTensorStillNeedsStrides) {
  EXPECT_EQ(checked_volume(Dims{0, 7}), 0);
  EXPECT_EQ(checked_volume(Dims{int64_t{1} << 40, 0, int64_t{1} << 40}), -1);
}

TEST(Dims, RowMajorStridesCountEmptyDimsAsOne) {
  EXPECT_EQ(row_major_strides(Dims{}), Dims{});
  EXPECT_EQ(row_major_strides(Dims{2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(row_major_strides(Dims{2, 0, 4}), (Dims{4, 4, 1}));
}

TEST(Dims, Format) {
  EXPECT_EQ(format_dims(Dims{}), "[]");
  EXPECT_EQ(format_dims(Dims{4, 6}), "[4,6]");
}

}  // namespace
}  // namespace onedim
