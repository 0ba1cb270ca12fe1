#include "core/base/one_line.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(OneLine, LineEndsBecomeSpacesAndOtherControlsMarks) {
  EXPECT_EQ(one_line("no\nluck\r\ttoday"), "no luck  today");
  EXPECT_EQ(one_line("\033[2Jgone\x7f"), "?[2Jgone?");
}

TEST(OneLine, AllElseStays) {
  EXPECT_EQ(one_line("größer als 3 µs"), "größer als 3 µs");
  EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace onedim
