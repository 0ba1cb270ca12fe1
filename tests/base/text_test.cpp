#include "core/base/text.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

using Pieces = std::vector<std::string_view>;

TEST(Text, Trim) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("   "), "");
}

TEST(Text, SplitsOutsideBracketsAndQuotes) {
  EXPECT_EQ(split_top_level("f32[4,6], S(0,1) ,{a,b}", ','),
            (Pieces{"f32[4,6]", "S(0,1)", "{a,b}"}));
  EXPECT_EQ(split_top_level("a=\"x;y\"; b", ';'), (Pieces{"a=\"x;y\"", "b"}));
  EXPECT_EQ(split_top_level(R"("a\";b";c)", ';'), (Pieces{R"("a\";b")", "c"}));
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_EQ(split_top_level("", ','), Pieces{});
  EXPECT_EQ(split_top_level("  ", ','), Pieces{});
  EXPECT_EQ(split_top_level("a,,b,", ','), (Pieces{"a", "", "b", ""}));
}

TEST(Text, SplitSurvivesUnbalancedText) {
  EXPECT_EQ(split_top_level("a),b", ','), (Pieces{"a)", "b"}));
  EXPECT_EQ(split_top_level("(a,b", ','), (Pieces{"(a,b"}));
  EXPECT_EQ(split_top_level("\"a,b", ','), (Pieces{"\"a,b"}));
  EXPECT_EQ(split_top_level("a,\"b\\", ','), (Pieces{"a", "\"b\\"}));
}

TEST(Text, NearestNameFindsMisspellings) {
  const std::vector<std::string> names = {"mm", "bmm", "addmm", "maximum", "minimum"};
  EXPECT_EQ(nearest_name("addmn", names), "addmm");
  EXPECT_EQ(nearest_name("maximun", names), "maximum");
  EXPECT_EQ(nearest_name("bm", names), "mm");
  EXPECT_EQ(nearest_name("convolution", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("mm", {}), "");
}

TEST(Text, DidYouMean) {
  const std::vector<std::string> names = {"mesh", "inputs"};
  EXPECT_EQ(did_you_mean("mehs", names), "; did you mean \"mesh\"?");
  EXPECT_EQ(did_you_mean("mes", names), "; did you mean \"mesh\"?");
  EXPECT_EQ(did_you_mean("zzzz", names), "");
}

TEST(Text, ErrorsPointAtTheColumn) {
  const Status status = text_error("f32[4,", 6, "expected an integer");
  EXPECT_EQ(message_of(status), "expected an integer at column 7 of \"f32[4,\"");
}

}  // namespace
}  // namespace onedim
