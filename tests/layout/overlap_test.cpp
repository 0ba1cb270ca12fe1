#include "core/layout/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/random_seed.hpp"

namespace onedim {
namespace {

using Owned = std::vector<std::set<int64_t>>;  // per tensor dim

Owned owned(std::span<const int64_t> shape, const Layout& layout, const Mesh& mesh, int64_t rank) {
  Owned result;
  for (const Intervals& intervals : index_map(shape, layout, mesh, mesh.coordinate_of(rank)).dims) {
    std::set<int64_t> indices;
    for (const Interval& interval : intervals) {
      for (int64_t i = interval.begin; i < interval.end; ++i) indices.insert(i);
    }
    result.push_back(std::move(indices));
  }
  return result;
}

int64_t missing(const Owned& from, const Owned& to) {
  int64_t wanted = 1, kept = 1;
  for (size_t dim = 0; dim < to.size(); ++dim) {
    wanted *= static_cast<int64_t>(to[dim].size());
    kept *= std::count_if(to[dim].begin(), to[dim].end(),
                          [&](int64_t i) { return from[dim].contains(i); });
  }
  return wanted - kept;
}

struct Draw {
  explicit Draw(uint64_t seed) : random(seed) {}
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }
  Layout layout(const Mesh& mesh, int ndim) {
    Layout layout = Layout::replicated(mesh.ndim());
    for (Placement& placement : layout.placements) {
      const auto dim = static_cast<int>(number(0, ndim - 1));
      if (number(0, 3) > 0) placement = Placement::shard(dim);
      if (number(0, 5) == 0) placement = Placement::strided_shard(dim, number(2, 4));
    }
    for (int dim = 0; dim < ndim; ++dim) {
      Dims order = layout.shard_order(dim);
      std::shuffle(order.begin(), order.end(), random);
      layout.set_shard_order(dim, order);
    }
    return layout;
  }
  std::mt19937_64 random;
};

TEST(Overlap, IsThatOfTheIndexMaps) {
  Draw draw(random_seed());
  for (int round = 0; round < 2000; ++round) {
    const Mesh mesh =
        *Mesh::create({"a", "b", "c"}, {draw.number(1, 3), draw.number(1, 4), draw.number(1, 3)});
    Dims shape(draw.number(1, 3));
    for (int64_t& size : shape) size = draw.number(0, 14);
    const int ndim = static_cast<int>(shape.size());
    const Layout a = draw.layout(mesh, ndim), b = draw.layout(mesh, ndim);
    int64_t most = 0;
    bool same = true;
    for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
      const Owned from = owned(shape, a, mesh, rank), to = owned(shape, b, mesh, rank);
      most = std::max(most, missing(from, to));
      same &= missing(from, to) == 0 && missing(to, from) == 0;
    }
    const GroupMember member{shape, 3};
    const std::string text =
        fmt::format("{} {} -> {} on {}, seed {}", format_dims(shape), format_layout(a, mesh),
                    format_layout(b, mesh), mesh.format(), random_seed());
    EXPECT_EQ(most_missing_bytes({&member, 1}, cuts_of(a, mesh, ndim), cuts_of(b, mesh, ndim), 100),
              3 * most)
        << text;
    EXPECT_EQ(is_same_placement(shape, a, b, mesh), same) << text;
  }
}

TEST(Overlap, GroupsAddUpRankByRank) {
  // Rank 0 lacks 1 of the first tensor and 2 of the second, rank 1 lacks 2 and 2.
  const Mesh mesh = *Mesh::parse("a=2");
  const Layout from = *parse_layout("S(0)", mesh, 1), to = Layout::replicated(1);
  const Dims first = {3}, second = {4};
  const std::array<GroupMember, 2> group = {GroupMember{first, 1}, GroupMember{second, 1}};
  EXPECT_EQ(most_missing_bytes(group, cuts_of(from, mesh, 1), cuts_of(to, mesh, 1), 100), 4);
}

TEST(Overlap, ManyRanksGiveTheUpperBound) {
  const Mesh mesh = *Mesh::parse("a=64");
  const Dims shape = {128};
  const GroupMember member{shape, 1};
  const TensorCuts from = cuts_of(*parse_layout("S(0)", mesh, 1), mesh, 1);
  const TensorCuts to = cuts_of(*parse_layout("SS(0,2)", mesh, 1), mesh, 1);
  EXPECT_EQ(most_missing_bytes({&member, 1}, from, to, 10), 2);
  EXPECT_EQ(most_missing_bytes({&member, 1}, from, from, 10), 0) << "nothing moves";
}

TEST(Overlap, PartialsMustAgree) {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const auto same = [&](std::string_view a, std::string_view b) {
    return is_same_placement(Dims{8}, *parse_layout(a, mesh, 1), *parse_layout(b, mesh, 1), mesh);
  };
  EXPECT_TRUE(same("SS(0,2),S(0)", "S(0)[b,a],S(0)"));
  EXPECT_FALSE(same("S(0),S(0)", "S(0)[b,a],S(0)"));
  EXPECT_FALSE(same("P(sum),R", "R,R"));
  EXPECT_FALSE(same("P(sum),R", "P(avg),R"));
  EXPECT_TRUE(same("P(sum),S(0)", "P(sum),S(0)"));
}

}  // namespace
}  // namespace onedim
