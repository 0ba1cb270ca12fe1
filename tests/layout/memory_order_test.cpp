#include "core/layout/memory_order.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(MemoryOrder, StridesPutOneDimOutermost) {
  EXPECT_EQ(strides_with_outermost({2, 3, 4}, 0), (Dims{12, 4, 1}));
  EXPECT_EQ(strides_with_outermost({2, 3, 4}, 1), (Dims{4, 8, 1}));
  EXPECT_EQ(strides_with_outermost({2, 3, 4}, 2), (Dims{3, 1, 6}));
  EXPECT_EQ(strides_with_outermost({2, 0, 4}, 2), (Dims{1, 1, 2}));
  EXPECT_EQ(strides_with_outermost({}, 0), Dims{});
}

// Against the strides themselves: what is outermost has the largest stride of all longer dims.
TEST(MemoryOrder, UnitDimsDoNotCount) {
  for (int bits = 0; bits < 64; ++bits) {
    const Dims shape{1 + (bits & 3), 1 + (bits >> 2 & 3), 1 + (bits >> 4 & 3)};
    UnitDims units = 0;
    for (int dim = 0; dim < 3; ++dim) {
      if (shape[dim] == 1) units |= UnitDims{1} << dim;
    }
    const auto long_strides = [&](int outermost) {
      Dims strides = strides_with_outermost(shape, outermost);
      for (int dim = 0; dim < 3; ++dim) {
        if (shape[dim] == 1) strides[dim] = 0;
      }
      return strides;
    };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        EXPECT_EQ(is_same_memory(a, b, units), long_strides(a) == long_strides(b))
            << format_dims(shape) << " " << a << " " << b;
        bool is_first = true;
        for (int dim = 0; dim < 3; ++dim)
          is_first &= shape[dim] == 1 || dim == b ||
                      strides_with_outermost(shape, a)[dim] < strides_with_outermost(shape, a)[b];
        EXPECT_EQ(is_outermost(b, a, units), is_first)
            << format_dims(shape) << " " << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace onedim
