#include "core/redistribute/shared_part.hpp"

#include <gtest/gtest.h>

#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"

namespace onedim {
namespace {

// Against element by element membership, over random layouts.
TEST(SharedPart, IsWhatBothOwn) {
  PairDraw draw(random_seed());
  for (int round = 0; round < 500; ++round) {
    const Mesh mesh = draw.mesh(1, 3);
    const Dims shape = draw.shape(1, 1, 24);
    const Layout from = draw.layout(mesh, 1, DType::kF32, true);
    const Layout to = draw.layout(mesh, 1, DType::kF32, true);
    const Dims here = mesh.coordinate_of(draw.number(0, mesh.rank_count() - 1));
    const Dims there = mesh.coordinate_of(draw.number(0, mesh.rank_count() - 1));
    const IndexMap a = index_map(shape, from, mesh, here), b = index_map(shape, to, mesh, there);
    const auto owns = [](const IndexMap& map, int64_t index) {
      for (const Interval& interval : map.dims[0]) {
        if (interval.begin <= index && index < interval.end) return true;
      }
      return false;
    };
    const IndexMap shared = shared_map(a, b);
    int64_t count = 0;
    for (int64_t index = 0; index < shape[0]; ++index) {
      const bool both = owns(a, index) && owns(b, index);
      EXPECT_EQ(owns(shared, index), both);
      count += both ? 1 : 0;
    }
    EXPECT_EQ(count_of(shared), count);
    EXPECT_EQ(find_shared(a, {1}, b, {1}).count, count);
  }
}

TEST(SharedPart, TellsWhereItLies) {
  const Mesh mesh = *Mesh::parse("a=2");
  const IndexMap rows = index_map(Dims{4, 6}, {{Placement::shard(0)}, {}}, mesh, {1});
  const IndexMap columns = index_map(Dims{4, 6}, {{Placement::shard(1)}, {}}, mesh, {0});
  const SharedPart part = find_shared(rows, {6, 1}, columns, {3, 1});
  EXPECT_EQ(part.count, 6);
  EXPECT_EQ(part.in_from.begin, 0);
  EXPECT_EQ(part.in_from.end, 9);
  EXPECT_FALSE(part.in_from.is_filled_by(part.count));
  EXPECT_EQ(part.in_to.begin, 6);
  EXPECT_TRUE(part.in_to.is_filled_by(part.count));
}

}  // namespace
}  // namespace onedim
