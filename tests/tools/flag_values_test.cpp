#include "tools/flag_values.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(FlagValues, WholeNumbersNeitherWrapNorSaturate) {
  EXPECT_EQ(*parse_whole("--seed", "18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(*parse_whole("-j", "1", 1, 8), 1u);
  for (const char* text : {"-1", "18446744073709551616", "", " 1", "1 ", "+1", "1.0", "0x1", "one"})
    EXPECT_FALSE(parse_whole("--seed", text, 0, UINT64_MAX).ok()) << text;
  EXPECT_EQ(message_of(parse_whole("-j", "9", 1, 8).status()),
            "-j: \"9\" is no whole number from 1 to 8");
}

TEST(FlagValues, SecondsAreFiniteAndAboveZero) {
  EXPECT_EQ(*parse_seconds("--deadline", "0.25"), 0.25);
  EXPECT_EQ(*parse_seconds("--deadline", "86400"), 86400);
  for (const char* text : {"0", "-1", "inf", "nan", "1e9", "", "1s"})
    EXPECT_FALSE(parse_seconds("--deadline", text).ok()) << text;
}

TEST(FlagValues, WorldsAreAListWithoutGaps) {
  EXPECT_EQ(*parse_worlds("--worlds", "2, 3,64"), (std::vector<int64_t>{2, 3, 64}));
  for (const char* text : {"", ",", "2,", "2,,3", "1", "65", "2;3", "2,x", "-2"})
    EXPECT_FALSE(parse_worlds("--worlds", text).ok()) << text;
}

}  // namespace
}  // namespace onedim
