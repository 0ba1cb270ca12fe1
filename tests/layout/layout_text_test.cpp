#include <gtest/gtest.h>

#include "core/layout/layout.hpp"

namespace onedim {
namespace {

const Mesh& mesh() {
  static const Mesh mesh = *Mesh::parse("a=3,b=2");
  return mesh;
}

std::string reprint(std::string_view text, const Mesh& on = mesh(), int ndim = 2) {
  const Result<Layout> layout = parse_layout(text, on, ndim);
  return layout.ok() ? format_layout(*layout, on)
                     : "error: " + std::string(message_of(layout.status()));
}

TEST(LayoutText, RoundTrip) {
  for (const char* text :
       {"S(0),R", "R,R", "S(0),S(1)", "S(0),S(0)", "S(0)[b,a],S(0)", "SS(0,2),S(0)",
        "SS(0,2)[b,a],S(0)", "P(sum),P(avg)", "P(max),S(1)", "P(pack.kind#1),R"}) {
    EXPECT_EQ(reprint(text), text);
  }
}

TEST(LayoutText, OrdersAreReadByNameOrIndexAndAtAnyPlace) {
  EXPECT_EQ(reprint("S(0)[1,0],S(0)"), "S(0)[b,a],S(0)");
  EXPECT_EQ(reprint("S(0),S(0)[b,a]"), "S(0)[b,a],S(0)");
  EXPECT_EQ(reprint(" S(0) [ b , a ] , S(0)[b,a]"), "S(0)[b,a],S(0)");
  EXPECT_EQ(reprint("S(0)[a,b],S(0)"), "S(0),S(0)") << "the default order is not stored";
  EXPECT_EQ(reprint("S(1)[a],R"), "S(1),R");
}

TEST(LayoutText, TheShortFormStandsForAllMeshDimsOfItsOrder) {
  EXPECT_EQ(reprint("S(0)[b,a]"), "S(0)[b,a],S(0)");
  const Mesh large = *Mesh::parse("a=2,b=2,c=2,d=2");
  EXPECT_EQ(reprint("R,S(0)[c,a],P(sum)", large), "S(0)[c,a],R,S(0),P(sum)");
  EXPECT_EQ(reprint("S(0)[c,a],S(1)[d,b]", large), "S(0)[c,a],S(1)[d,b],S(0),S(1)");
  EXPECT_EQ(reprint("S(0)[c,a],S(1)[a,b]", large),
            "error: layout \"S(0)[c,a],S(1)[a,b]\": expected one placement for each dim "
            "of the mesh "
            "a=2,b=2,c=2,d=2 (4), found 2");
}

TEST(LayoutText, ShardsOverUnitMeshDimsArePrintedAsR) {
  const Mesh unit = *Mesh::parse("a=1,b=2,c=3");
  EXPECT_EQ(reprint("S(0),S(0),R", unit), "R,S(0),R");
  EXPECT_EQ(reprint("S(0)[c,a,b],S(0),S(0)", unit), "R,S(0)[c,b],S(0)");
}

TEST(LayoutText, WrongLayoutsAreRefused) {
  EXPECT_EQ(reprint("S(0)"),
            "error: layout \"S(0)\": expected one placement for each dim of the mesh a=3,b=2 (2), "
            "found 1");
  EXPECT_EQ(reprint("R,R,R"),
            "error: layout \"R,R,R\": expected one placement for each dim of the mesh a=3,b=2 (2), "
            "found 3");
  EXPECT_EQ(reprint("S(2),R"),
            "error: S(2) shards dim 2 of a tensor with 2 dims, expected a dim below 2 at column 1 "
            "of \"S(2),R\"");
  EXPECT_EQ(reprint("R,SS(5,2)"),
            "error: SS(5,2) shards dim 5 of a tensor with 2 dims, expected a dim below 2 at column "
            "3 of \"R,SS(5,2)\"");
  EXPECT_EQ(reprint("S(-1),R"),
            "error: shard dim -1 is not in 0 to 65536 at column 3 of \"S(-1),R\"");
  EXPECT_EQ(reprint("S*(0),R"),
            "error: S* stands only in rules, expected S(d) or SS(d,sf) at column 1 of \"S*(0),R\"");
  EXPECT_EQ(reprint("R,-"),
            "error: a present tensor has no placement \"-\" at column 3 of \"R,-\"");
  EXPECT_EQ(reprint("R R"),
            "error: expected \",\" or the end of the layout at column 3 of \"R R\"");
  EXPECT_EQ(reprint("R,"),
            "error: expected a placement, one of R S(0) SS(0,2) P(sum) at column 3 of \"R,\"");
  EXPECT_EQ(reprint(""),
            "error: expected a placement, one of R S(0) SS(0,2) P(sum) at column 1 of \"\"");
}

TEST(LayoutText, MixedPartialsAreRefused) {
  EXPECT_EQ(reprint("P(sum),P(max)"),
            "error: P(max) stands beside P(sum), only sum and avg may mix at column 8 of "
            "\"P(sum),P(max)\"");
  EXPECT_EQ(
      reprint("P(pack.a),P(pack.b)"),
      "error: P(pack.b#0) stands beside P(pack.a#0), only sum and avg may mix at column 11 of "
      "\"P(pack.a),P(pack.b)\"");
}

TEST(LayoutText, WrongOrdersAreRefused) {
  EXPECT_EQ(reprint("S(0)[b,b],S(0)"),
            "error: mesh dim b occurs twice in a shard order at column 8 of \"S(0)[b,b],S(0)\"");
  EXPECT_EQ(reprint("S(0)[c,a],S(0)"),
            "error: the mesh a=3,b=2 has no dim \"c\" at column 6 of \"S(0)[c,a],S(0)\"");
  EXPECT_EQ(reprint("S(0)[2,0],S(0)"),
            "error: the mesh a=3,b=2 has no dim 2 at column 6 of \"S(0)[2,0],S(0)\"");
  EXPECT_EQ(reprint("S(0)[],S(0)"),
            "error: expected a mesh dim's name or index at column 6 of \"S(0)[],S(0)\"");
  EXPECT_EQ(reprint("S(0)[b,a,S(0)").rfind("error: the mesh a=3,b=2 has no dim \"S\"", 0), 0u);
  EXPECT_EQ(
      reprint("S(0)[b,a],S(1)"),
      "error: the order of S(0) must name the mesh dims that shard dim 0 (a), and no others at "
      "column 1 of \"S(0)[b,a],S(1)\"");
  EXPECT_EQ(
      reprint("S(0)[b,a],S(0)[a,b]"),
      "error: two different orders are given for dim 0 at column 1 of \"S(0)[b,a],S(0)[a,b]\"");
  EXPECT_EQ(reprint("R[a],R"), "error: only a shard has an order at column 1 of \"R[a],R\"");
}

}  // namespace
}  // namespace onedim
