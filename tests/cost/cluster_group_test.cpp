#include "core/cost/cluster_group.hpp"

#include <gtest/gtest.h>

#include <set>

namespace onedim {
namespace {

ClusterGroup group(const char* mesh, MeshDimSet dims, int64_t ranks_per_node = 8) {
  return cluster_group(*Mesh::parse(mesh), ranks_per_node, dims);
}

TEST(ClusterGroup, OneMeshDim) {
  EXPECT_EQ(group("dp=8,tp=8", 0b01), (ClusterGroup{8, 8, 1}));
  EXPECT_EQ(group("dp=8,tp=8", 0b10), (ClusterGroup{8, 1, 8}));
  EXPECT_EQ(group("x=64", 0b1), (ClusterGroup{64, 8, 8}));
  EXPECT_EQ(group("dp=8,tp=4", 0b01), (ClusterGroup{8, 4, 2}));
  EXPECT_EQ(group("x=4", 0b1), (ClusterGroup{4, 1, 4}));
}

TEST(ClusterGroup, FlattenedDimsMultiply) {
  EXPECT_EQ(group("dp=8,tp=8", 0b11), (ClusterGroup{64, 8, 8}));
  EXPECT_EQ(group("a=2,b=4,c=4", 0b101), (ClusterGroup{8, 2, 4}));
  EXPECT_EQ(group("a=2,b=4,c=4", 0), (ClusterGroup{1, 1, 1}));
}

TEST(ClusterGroup, SizesThatDoNotFill) {
  EXPECT_EQ(group("a=3,b=6", 0b10), (ClusterGroup{6, 1, 6}));
  EXPECT_EQ(group("a=3,b=6", 0b01), (ClusterGroup{3, 3, 1}));
  EXPECT_EQ(group("a=6,b=2", 0b01), (ClusterGroup{6, 2, 4}));
}

// Ranks placed one by one on nodes: the same counts where node borders fall on mesh dims.
TEST(ClusterGroup, AgreesWithRanksPlacedOnNodes) {
  for (const char* text : {"a=2,b=4,c=4", "a=4,b=2,c=2,d=8", "a=16,b=2", "a=2,b=2,c=2,d=2,e=2"}) {
    const Mesh mesh = *Mesh::parse(text);
    for (MeshDimSet dims = 0; dims < MeshDimSet{1} << mesh.ndim(); ++dims) {
      std::set<int64_t> nodes;
      int64_t ranks = 0;
      for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
        const Dims at = mesh.coordinate_of(rank);
        bool member = true;
        for (int d = 0; d < mesh.ndim(); ++d) member &= (dims >> d & 1) != 0 || at[d] == 0;
        if (!member) continue;
        ++ranks;
        nodes.insert(rank / 8);
      }
      const int64_t count = static_cast<int64_t>(nodes.size());
      EXPECT_EQ(cluster_group(mesh, 8, dims), (ClusterGroup{ranks, count, ranks / count}))
          << text << ' ' << dims;
    }
  }
}

}  // namespace
}  // namespace onedim
