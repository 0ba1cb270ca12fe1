#include "core/base/scanner.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(Scanner, SkipsBlanksBeforeTokens) {
  Scanner scanner("  dp = 8 ");
  EXPECT_EQ(scanner.word(), "dp");
  EXPECT_TRUE(scanner.accept("="));
  EXPECT_EQ(*scanner.integer(), 8);
  EXPECT_TRUE(scanner.at_end());
}

TEST(Scanner, WordsDoNotStartWithADigit) {
  Scanner scanner("2d");
  EXPECT_EQ(scanner.word(), "");
  EXPECT_EQ(*scanner.integer(), 2);
  EXPECT_EQ(scanner.word(), "d");
}

TEST(Scanner, IntegersMustFit) {
  EXPECT_EQ(*Scanner("-9223372036854775808").integer(), INT64_MIN);
  EXPECT_EQ(message_of(Scanner("9223372036854775808").integer().status()),
            "the integer does not fit in 64 bits at column 1 of \"9223372036854775808\"");
  EXPECT_EQ(message_of(Scanner(" x").integer().status()),
            "expected an integer at column 2 of \" x\"");
  EXPECT_FALSE(Scanner("").integer().ok());
  EXPECT_FALSE(Scanner("-").integer().ok());
}

TEST(Scanner, ExpectSaysWhatIsMissing) {
  Scanner scanner("a]");
  EXPECT_EQ(message_of(scanner.expect("[")), "expected \"[\" at column 1 of \"a]\"");
  EXPECT_EQ(scanner.position(), 0u);
}

TEST(Scanner, ANulByteIsNotTheEnd) {
  Scanner scanner(std::string_view("\0a", 2));
  EXPECT_FALSE(scanner.at_end());
}

}  // namespace
}  // namespace onedim
