#include "core/pack/verdict.hpp"

#include <gtest/gtest.h>

#include <set>

namespace onedim {
namespace {

TEST(Verdict, EveryWordReadsBack) {
  std::set<std::string_view> seen;
  for (int i = 0; i <= static_cast<int>(VerdictWord::kDisabled); ++i) {
    const auto word = static_cast<VerdictWord>(i);
    EXPECT_EQ(parse_verdict_word(verdict_text(word)), word);
    EXPECT_TRUE(seen.insert(verdict_text(word)).second);
  }
}

TEST(Verdict, OtherWordsAreNone) {
  for (const std::string_view text : {"", "Loaded", "loaded ", "broken"}) {
    EXPECT_EQ(parse_verdict_word(text), std::nullopt) << text;
  }
}

TEST(Verdict, DefaultIsLoaded) {
  EXPECT_TRUE(Verdict{}.ok());
  EXPECT_EQ(verdict_text(Verdict{}.word), "loaded");
}

}  // namespace
}  // namespace onedim
