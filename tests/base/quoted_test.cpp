#include "core/base/quoted.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

std::string read(std::string_view text) {
  Scanner scanner(text);
  const Result<std::string> result = scan_quoted(scanner);
  return result.ok() ? *result : "error: " + std::string(message_of(result.status()));
}

TEST(Quoted, DecodesEscapes) {
  EXPECT_EQ(read(R"("a b")"), "a b");
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"("\u0041\u00e9\u20ac")"), "A\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(read(R"("\ud83d\ude00")"), "\xF0\x9F\x98\x80");
}

TEST(Quoted, StopsBehindTheClosingQuote) {
  Scanner scanner(R"( "a",b)");
  EXPECT_EQ(*scan_quoted(scanner), "a");
  EXPECT_EQ(scanner.position(), 4u);
}

TEST(Quoted, RefusesIllFormedText) {
  EXPECT_EQ(read(R"("a)"), "error: the string is not closed, expected '\"' at column 1 of \"\"a\"");
  for (const char* text : {R"("\x")", R"("\u12")", R"("\u12G4")", R"("\ud83d")",
                           R"("\ud83d\u0041")", R"("\ude00")", R"("\)", R"("\u)", R"("\u123)"}) {
    EXPECT_EQ(read(text).rfind("error: ", 0), 0u) << text;
  }
}

TEST(Quoted, FormatsWhatItReads) {
  std::string all;
  for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_EQ(read(format_quoted(all)), all);
  EXPECT_EQ(format_quoted("a/\"b\"\n\x01"), R"("a/\"b\"\n\u0001")");
}

}  // namespace
}  // namespace onedim
