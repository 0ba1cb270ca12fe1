#include "core/base/shell_text.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace onedim {
namespace {

// What the shell makes of the word.
std::string through_shell(const std::string& word) {
  std::FILE* pipe = ::popen(("printf %s " + word).c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

TEST(ShellText, PlainWordsStayAsTheyAre) {
  for (const char* word : {"mylib/build", "a.so", "-p", "x=1"}) EXPECT_EQ(shell_word(word), word);
}

TEST(ShellText, OthersAreQuotedAndComeBack) {
  EXPECT_EQ(shell_word("sp ace"), "'sp ace'");
  EXPECT_EQ(shell_word(""), "''");
  for (const char* text : {"it's", "a\nb", "$HOME `id` \"x\" \\", "f32[4]; i64[2]", "*", "~", "!"})
    EXPECT_EQ(through_shell(shell_word(text)), text);
}

}  // namespace
}  // namespace onedim
