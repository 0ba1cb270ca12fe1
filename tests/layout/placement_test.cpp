#include "core/layout/placement.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

std::string error_of(std::string_view text) {
  return std::string(message_of(parse_placement(text).status()));
}

TEST(Placement, RoundTrip) {
  for (const char* text : {"-", "R", "S(0)", "S(12)", "S*(1)", "SS(0,2)", "P(sum)", "P(avg)",
                           "P(max)", "P(min)", "P(product)", "P(pack.kind#0)", "P(pack.kind#1)"}) {
    const Result<Placement> placement = parse_placement(text);
    ASSERT_TRUE(placement.ok()) << placement.status();
    EXPECT_EQ(format_placement(*placement), text);
  }
}

TEST(Placement, BlanksAndTheFirstComponentMayBeLeftOut) {
  EXPECT_EQ(format_placement(*parse_placement(" S(  1 ) ")), "S(1)");
  EXPECT_EQ(format_placement(*parse_placement("SS(0, 2)")), "SS(0,2)");
  EXPECT_EQ(*parse_placement("P(pack.kind)"), Placement::make_partial("pack.kind", 0));
}

TEST(Placement, KindsAreDistinct) {
  EXPECT_EQ(*parse_placement("S(1)"), Placement::shard(1));
  EXPECT_EQ(*parse_placement("S*(1)"), Placement::any_shard(1));
  EXPECT_EQ(*parse_placement("SS(1,3)"), Placement::strided_shard(1, 3));
  EXPECT_NE(Placement::shard(1), Placement::any_shard(1));
  EXPECT_TRUE(Placement::any_shard(1).is_shard());
  EXPECT_TRUE(Placement::make_partial("sum").is_partial("sum"));
  EXPECT_FALSE(Placement::make_partial("sum").is_partial("avg"));
}

TEST(Placement, ErrorsPointAtTheCharacter) {
  const std::string expected = "expected a placement, one of R S(0) SS(0,2) P(sum) at column 1 of ";
  for (const char* text : {"", "Q", "RR", "s(0)", "S", "P", "(0)"}) {
    EXPECT_EQ(error_of(text), expected + '"' + text + '"');
  }
  EXPECT_EQ(error_of("S()"), "expected an integer at column 3 of \"S()\"");
  EXPECT_EQ(error_of("S(-1)"), "shard dim -1 is not in 0 to 65536 at column 3 of \"S(-1)\"");
  EXPECT_EQ(error_of("S(0"), "expected \")\" at column 4 of \"S(0\"");
  EXPECT_EQ(error_of("S(0)x"), "unexpected text behind the placement at column 5 of \"S(0)x\"");
  EXPECT_EQ(error_of("SS(0)"), "expected \",\" at column 5 of \"SS(0)\"");
  EXPECT_EQ(error_of("SS(0,0)"),
            "split factor 0 is not in 1 to 1048576 at column 6 of \"SS(0,0)\"");
  EXPECT_EQ(error_of("P()"), "expected a partial kind, such as P(sum) at column 3 of \"P()\"");
  EXPECT_EQ(error_of("P(summ)"),
            "unknown partial kind \"summ\", expected one of sum avg max min product or pack.kind "
            "at column 3 of \"P(summ)\"; did you mean \"sum\"?");
  EXPECT_EQ(error_of("P(pack.)"),
            "expected the kind's name behind \".\" at column 8 of \"P(pack.)\"");
  EXPECT_EQ(error_of("P(sum#1)"), "expected \")\" at column 6 of \"P(sum#1)\"");
  EXPECT_EQ(error_of("P(pack.kind#-1)"),
            "component -1 is not in 0 to 65536 at column 13 of \"P(pack.kind#-1)\"");
}

TEST(Placement, LegalPartialsByDType) {
  const auto legal = [](DType dtype) {
    std::string kinds;
    for (const char* kind : {"sum", "avg", "max", "min", "product"}) {
      if (is_legal_partial(kind, dtype)) kinds += std::string(kind) + ' ';
    }
    return kinds;
  };
  EXPECT_EQ(legal(DType::kF32), "sum avg max min product ");
  EXPECT_EQ(legal(DType::kF8E4M3FN), "sum avg max min product ");
  EXPECT_EQ(legal(DType::kF8E8M0), "max min product ");
  EXPECT_EQ(legal(DType::kI64), "sum max min product ");
  EXPECT_EQ(legal(DType::kU8), "sum max min product ");
  EXPECT_EQ(legal(DType::kBool), "max min ");
  EXPECT_EQ(legal(DType::kC64), "sum avg product ");
  EXPECT_TRUE(is_legal_partial("pack.kind", DType::kBool));
}

TEST(Placement, PartialsThatMayMix) {
  const auto together = [](const char* a, const char* b) {
    return can_stand_together(*parse_placement(a), *parse_placement(b));
  };
  EXPECT_TRUE(together("P(sum)", "P(avg)"));
  EXPECT_TRUE(together("P(max)", "P(max)"));
  EXPECT_FALSE(together("P(max)", "P(min)"));
  EXPECT_FALSE(together("P(product)", "P(sum)"));
  EXPECT_FALSE(together("P(pack.kind#0)", "P(pack.kind#1)"));
  EXPECT_TRUE(is_idempotent_partial("avg") && is_idempotent_partial("max") &&
              is_idempotent_partial("min"));
  EXPECT_FALSE(is_idempotent_partial("sum") || is_idempotent_partial("product"));
}

}  // namespace
}  // namespace onedim
