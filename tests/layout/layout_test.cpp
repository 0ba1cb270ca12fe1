#include "core/layout/layout.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

Layout shards(std::vector<int> dims) {
  Layout layout;
  for (int dim : dims) layout.placements.push_back(Placement::shard(dim));
  return layout;
}

TEST(Layout, ReplicatedHasNoShards) {
  const Layout layout = Layout::replicated(3);
  EXPECT_EQ(layout.placements.size(), 3u);
  EXPECT_EQ(layout.shard_order(0), Dims{});
  EXPECT_EQ(layout.cutting_order(), (Dims{0, 1, 2}));
}

TEST(Layout, ShardOrderIsLeftToRightByDefault) {
  const Layout layout = shards({0, 1, 0});
  EXPECT_EQ(layout.shard_order(0), (Dims{0, 2}));
  EXPECT_EQ(layout.shard_order(1), (Dims{1}));
}

TEST(Layout, OrdersAreStoredOnlyWhereTheyDiffer) {
  Layout layout = shards({0, 1, 0});
  layout.set_shard_order(0, {2, 0});
  EXPECT_EQ(layout.order, (Dims{2, 1, 0}));
  EXPECT_EQ(layout.shard_order(0), (Dims{2, 0}));
  EXPECT_EQ(layout.shard_order(1), (Dims{1}));
  layout.set_shard_order(0, {0, 2});
  EXPECT_EQ(layout, shards({0, 1, 0}));
}

TEST(Layout, OrdersOfTwoTensorDimsDoNotDependOnWhichComesFirst) {
  Layout a = shards({0, 1, 0, 1}), b = a;
  a.set_shard_order(0, {2, 0});
  a.set_shard_order(1, {3, 1});
  b.set_shard_order(1, {3, 1});
  b.set_shard_order(0, {2, 0});
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.order, (Dims{2, 3, 0, 1}));
}

TEST(Layout, UnitMeshDimsDropOutOfOrders) {
  const Mesh mesh = *Mesh::parse("a=2,b=1,c=3");
  Layout layout = shards({0, 0, 0});
  layout.set_shard_order(0, {1, 2, 0});
  const Layout dropped = drop_unit_mesh_dims(layout, mesh);
  EXPECT_TRUE(dropped.placements[1].is_replicate());
  EXPECT_EQ(dropped.shard_order(0), (Dims{2, 0}));
  layout.set_shard_order(0, {1, 0, 2});
  EXPECT_EQ(drop_unit_mesh_dims(layout, mesh).order, Dims{});
}

}  // namespace
}  // namespace onedim
