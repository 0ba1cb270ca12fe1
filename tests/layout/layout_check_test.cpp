#include "core/layout/layout_check.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

// Texts always give a permutation; layouts that a program fills in may not.
TEST(LayoutCheck, AnOrderIsAPermutationOfTheMeshDims) {
  const Mesh mesh = *Mesh::parse("a=2,b=2,c=2");
  const TensorMeta meta = *parse_meta("f32[8]");
  Layout layout = Layout::replicated(3);
  for (Placement& placement : layout.placements) placement = Placement::shard(0);
  for (const Dims& order : {Dims{}, Dims{2, 0, 1}}) {
    layout.order = order;
    EXPECT_TRUE(check_placements(meta, layout, mesh).ok());
  }
  for (const Dims& order :
       {Dims{0}, Dims{1, 0}, Dims{0, 0, 1}, Dims{1, 2, 3}, Dims{-1, 0, 1}, Dims{0, 1, 2, 3}}) {
    layout.order = order;
    EXPECT_EQ(message_of(check_placements(meta, layout, mesh)),
              "the cutting order " + format_dims(order) +
                  " of a layout is no permutation of its 3 mesh dims");
  }
}

}  // namespace
}  // namespace onedim
