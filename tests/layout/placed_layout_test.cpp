#include "core/layout/placed_layout.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

std::string fault(std::string_view text) {
  return std::string(message_of(parse_placed_layout(text, Mesh::line(2), 2).status()));
}

TEST(PlacedLayout, TheMemoryOrderStandsBehindTheLayout) {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const Result<PlacedLayout> placed = parse_placed_layout(" S(0),R  outermost( 1 ) ", mesh, 2);
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(placed->layout, *parse_layout("S(0),R", mesh, 2));
  EXPECT_EQ(placed->outermost, 1);
  EXPECT_EQ(parse_placed_layout("S(0),R", mesh, 2)->outermost, 0);
  EXPECT_EQ(format_placed_layout(placed->layout, 1, mesh), "S(0),R outermost(1)");
  EXPECT_EQ(format_placed_layout(placed->layout, 0, mesh), "S(0),R");
}

TEST(PlacedLayout, FaultsSayWhere) {
  EXPECT_EQ(fault("R outermost(2)"),
            "outermost dim 2 is not a dim of a tensor of 2 at column 13 of \"R outermost(2)\"");
  for (const std::string_view text :
       {"R outermost(-1)", "R outermost", "R outermost(1", "R outermost(1) x", "outermost(1)",
        "R,R outermost(1)", "R outermost(1) outermost(1)", "R outermost(x)"}) {
    EXPECT_NE(fault(text), "") << text;
  }
}

}  // namespace
}  // namespace onedim
