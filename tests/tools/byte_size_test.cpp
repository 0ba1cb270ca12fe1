#include "tools/byte_size.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(ByteSize, UnitsOfTenAndOfTwo) {
  EXPECT_EQ(*parse_byte_size("4096"), 4096);
  EXPECT_EQ(*parse_byte_size("4096B"), 4096);
  EXPECT_EQ(*parse_byte_size("80GB"), 80'000'000'000);
  EXPECT_EQ(*parse_byte_size("1.5GiB"), 1'610'612'736);
  EXPECT_EQ(*parse_byte_size("64 KiB"), 65536);
}

TEST(ByteSize, EverythingElseIsRefused) {
  for (const char* text : {"", "lots", "GB", "0", "-1", "1e", "1 gb", "12XB", "nan", "inf", "1e30"})
    EXPECT_FALSE(parse_byte_size(text).ok()) << text;
  EXPECT_EQ(message_of(parse_byte_size("lots").status()),
            "\"lots\" is not a size in bytes, expected one such as 4096, 80GB or 1.5GiB");
}

}  // namespace
}  // namespace onedim
