#include <gtest/gtest.h>

#include "core/tensor/tensor.hpp"

namespace onedim {
namespace {

std::string error_of(std::string_view text) {
  return std::string(message_of(parse_meta(text).status()));
}

TEST(TensorText, RoundTrip) {
  for (const char* text :
       {"f32[4,6]", "f64[]", "bool[0]", "f8e4m3fn[1,2,3,4,5,6,7,8,9]", "c128[0,1099511627776]"}) {
    const Result<TensorMeta> meta = parse_meta(text);
    ASSERT_TRUE(meta.ok()) << meta.status();
    EXPECT_EQ(format_meta(*meta), text);
    EXPECT_TRUE(meta->is_contiguous());
    EXPECT_EQ(meta->strides.size(), meta->shape.size());
  }
}

TEST(TensorText, BlanksAreAllowed) {
  EXPECT_EQ(format_meta(*parse_meta(" f32 [ 4 , 6 ] ")), "f32[4,6]");
}

TEST(TensorText, ErrorsPointAtTheCharacter) {
  EXPECT_EQ(error_of(""), "expected a tensor such as f32[4,6] at column 1 of \"\"");
  EXPECT_EQ(error_of("f32"),
            "expected \"[\" and the sizes, such as f32[4,6] at column 4 of \"f32\"");
  EXPECT_EQ(error_of("f32[4,"), "expected an integer at column 7 of \"f32[4,\"");
  EXPECT_EQ(error_of("f32[4,]"), "expected an integer at column 7 of \"f32[4,]\"");
  EXPECT_EQ(error_of("f32[4 6]"), "expected \",\" or \"]\" at column 7 of \"f32[4 6]\"");
  EXPECT_EQ(error_of("f32[4]x"), "unexpected text behind the tensor at column 7 of \"f32[4]x\"");
  EXPECT_EQ(error_of("f32[4,-6]"),
            "size -6 is negative, expected 0 or more at column 7 of \"f32[4,-6]\"");
  EXPECT_EQ(error_of("f32[4.5]"), "expected \",\" or \"]\" at column 6 of \"f32[4.5]\"");
  EXPECT_EQ(error_of("f32[99999999999999999999]"),
            "the integer does not fit in 64 bits at column 5 of \"f32[99999999999999999999]\"");
}

TEST(TensorText, UnknownDTypesNameTheNearest) {
  EXPECT_EQ(error_of("fp32[4]"),
            "unknown dtype \"fp32\", expected one of f64 f32 bf16 f16 f8e4m3fn f8e5m2 f8e8m0 i64 "
            "i32 i16 i8 u8 bool c64 c128 at column 1 of \"fp32[4]\"; did you mean \"f32\"?");
}

TEST(TensorText, SizesMustNotOverflow) {
  EXPECT_TRUE(parse_meta("f32[1048576,1048576]").ok()) << "2^40 elements may be described";
  EXPECT_EQ(error_of("f32[4294967296,4294967296]"),
            "the tensor is too large to describe, expected at most 2^62 bytes at column 1 of "
            "\"f32[4294967296,4294967296]\"");
  EXPECT_FALSE(parse_meta("c128[1152921504606846976]").ok())
      << "the bytes overflow, not the elements";
  EXPECT_FALSE(parse_meta("u8[0,4611686018427387904,4]").ok());
}

}  // namespace
}  // namespace onedim
