#include "core/base/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
  EXPECT_EQ(message_of(text_error("f33[4]", 0, "unknown dtype; did you mean \"f32\"?")),
            "unknown dtype at column 1 of \"f33[4]\"; did you mean \"f32\"?");
}

TEST(Text, ErrorsAreOneShortLine) {
  EXPECT_EQ(message_of(text_error("a\nb\x7F", 2, "bad")), "bad at column 3 of \"a?b?\"");
  const std::string text(100000, 'x');
  EXPECT_EQ(message_of(text_error(text, 0, "bad")),
            "bad at column 1 of \"" + std::string(120, 'x') + "...\"");
  EXPECT_EQ(message_of(text_error(text, 500, "bad")),
            "bad at column 501 of \"..." + std::string(120, 'x') + "...\"");
  EXPECT_EQ(message_of(text_error(text, text.size(), "bad")),
            "bad at column 100001 of \"..." + std::string(60, 'x') + "\"");
}

TEST(Text, ExcerptsDoNotCutCharacters) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xE2\x82\xAC";
  for (size_t position = 0; position < 300; ++position) {
    std::string excerpt = quoted_excerpt(text, position);
    excerpt.erase(
        std::remove_if(excerpt.begin(), excerpt.end(), [](char c) { return c == '.' || c == '"'; }),
        excerpt.end());
    ASSERT_EQ(excerpt.size() % 3, 0u);
    ASSERT_EQ(excerpt, text.substr(0, excerpt.size()));
  }
}

}  // namespace
}  // namespace onedim
