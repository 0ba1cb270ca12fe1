#include "core/redistribute/team.hpp"

#include <gtest/gtest.h>

namespace onedim {
namespace {

TEST(Team, IsTheRanksThatDifferInTheMeshDimsAlone) {
  const Mesh mesh = *Mesh::parse("a=2,b=3,c=2");
  const Team inner = team_of(mesh, 0b100, 7);
  EXPECT_EQ(inner.ranks, (std::vector<int64_t>{6, 7}));
  EXPECT_EQ(inner.place, 1);
  const Team fused = team_of(mesh, 0b101, 8);  // at [1,1,0]
  EXPECT_EQ(fused.ranks, (std::vector<int64_t>{2, 3, 8, 9}));
  EXPECT_EQ(fused.place, 2);
  EXPECT_EQ(team_of(mesh, 0b111, 11).place, 11);
}

TEST(Team, OfNoMeshDimsIsTheRankAlone) {
  const Team team = team_of(*Mesh::parse("a=2"), 0, 1);
  EXPECT_EQ(team.ranks, (std::vector<int64_t>{1}));
  EXPECT_EQ(team.place, 0);
}

TEST(Team, MeshDimsHaveNames) {
  const Mesh mesh = *Mesh::parse("dp=2,tp=3,pp=2");
  EXPECT_EQ(format_mesh_dims(0b101, mesh), "dp,pp");
  EXPECT_EQ(format_mesh_dims(0, mesh), "");
}

}  // namespace
}  // namespace onedim
