#include <gtest/gtest.h>

#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

std::string attention(std::string_view call) {
  static const LoadedPack pack("custom");
  return pack.run("custom.attention", call, {});
}

// Elements are 1, so every key weighs the same.
TEST(Custom, AttentionTakesEmptyDims) {
  EXPECT_EQ(attention("f64[1,2,2,3]; f64[1,2,4,3]; f64[1,2,4,1]"), "f64[1,2,2,1]: 1, 1, 1, 1");
  EXPECT_EQ(attention("f64[0,2,2,3]; f64[0,2,4,3]; f64[0,2,4,1]"), "f64[0,2,2,1]: ");
  EXPECT_EQ(attention("f64[1,2,0,3]; f64[1,2,4,3]; f64[1,2,4,1]"), "f64[1,2,0,1]: ");
  EXPECT_EQ(attention("f64[1,2,2,3]; f64[1,2,0,3]; f64[1,2,0,1]"), "f64[1,2,2,1]: 0, 0, 0, 0");
  EXPECT_EQ(attention("f64[1,2,2,3]; f64[1,2,4,3]; f64[1,2,4,0]"), "f64[1,2,2,0]: ");
  EXPECT_EQ(attention("f64[1,2,2,0]; f64[1,2,4,0]; f64[1,2,4,1]; -; scale=0.5"),
            "f64[1,2,2,1]: 1, 1, 1, 1");
}

}  // namespace
}  // namespace onedim
