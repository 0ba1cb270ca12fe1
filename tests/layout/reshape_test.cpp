#include "core/layout/reshape.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/random_seed.hpp"

namespace onedim {
namespace {

std::string reshaped(const Dims& from, std::string_view layout, const Dims& to,
                     std::string_view mesh_text) {
  const Mesh mesh = *Mesh::parse(mesh_text);
  const Result<Layout> result =
      reshaped_layout(from, *parse_layout(layout, mesh, static_cast<int>(from.size())), to, mesh);
  return result.ok() ? format_layout(*result, mesh) : std::string(message_of(result.status()));
}

TEST(Reshape, ShardsKeepTheirElements) {
  EXPECT_EQ(reshaped({4, 6}, "S(0)", {24}, "a=2"), "S(0)");
  EXPECT_EQ(reshaped({4, 6}, "S(1)", {24}, "a=2"), "SS(0,4)");
  EXPECT_EQ(reshaped({4, 7}, "S(1)", {28}, "a=2"), "SS(0,4)");
  EXPECT_EQ(reshaped({24}, "SS(0,4)", {4, 6}, "a=2"), "S(1)");
  EXPECT_EQ(reshaped({24}, "S(0)", {4, 6}, "a=2"), "S(0)");
  EXPECT_EQ(reshaped({4, 6}, "S(0),S(1)", {24}, "a=2,b=3"), "S(0),SS(0,2)");
  EXPECT_EQ(reshaped({4, 6}, "P(sum),S(1)", {2, 2, 6}, "a=2,b=3"), "P(sum),S(2)");
  EXPECT_EQ(reshaped({8, 3, 5}, "S(2),S(0)", {8, 15}, "a=5,b=2"), "SS(1,3),S(0)");
  EXPECT_EQ(reshaped({2, 3}, "R", {6}, "a=2"), "R");
  EXPECT_EQ(reshaped({8}, "S(0)[b,a],S(0)", {2, 4}, "a=4,b=2"), "S(1),S(0)");
}

TEST(Reshape, WhatIsNoLayoutIsRefusedByName) {
  EXPECT_EQ(reshaped({5, 4}, "S(0)", {20}, "a=4"),
            "S(0) over mesh dim a of [5,4] as [20] is no layout: ranks would own elements that no "
            "shard, strided or not, gives");
  EXPECT_EQ(reshaped({8}, "S(0)", {2, 4}, "a=4"),
            "S(0) over mesh dim a of [8] as [2,4] is no layout: ranks would own elements that no "
            "shard, strided or not, gives");
  EXPECT_EQ(reshaped({4, 6}, "S(0)", {25}, "a=2"),
            "[4,6] cannot be reshaped to [25]: they differ in their number of elements");
}

// All elements of a tensor, by their row-major index, that a rank owns, in local order.
std::vector<int64_t> owned(const Dims& shape, const Layout& layout, const Mesh& mesh,
                           int64_t rank) {
  const IndexMap map = index_map(shape, layout, mesh, mesh.coordinate_of(rank));
  std::vector<int64_t> elements;
  for (int64_t element = 0; element < volume(shape); ++element) {
    int64_t rest = element;
    bool has = true;
    for (size_t dim = shape.size(); dim-- > 0;) {
      const int64_t index = rest % shape[dim];
      rest /= shape[dim];
      bool found = false;
      for (const Interval& interval : map.dims[dim])
        found |= interval.begin <= index && index < interval.end;
      has &= found;
    }
    if (has) elements.push_back(element);
  }
  return elements;
}

// What is given is right on every rank; what is refused, no choice of shards would have given.
TEST(Reshape, AgainstEveryElement) {
  std::mt19937_64 random(random_seed());
  const auto number = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  const std::vector<std::pair<Dims, Dims>> shapes = {
      {{4, 6}, {24}},    {{24}, {4, 6}},   {{5, 3}, {15}},       {{2, 3, 4}, {6, 4}},
      {{12, 2}, {3, 8}}, {{8}, {2, 2, 2}}, {{1, 6}, {6}},        {{2, 9}, {6, 3}},
      {{7}, {7, 1}},     {{4, 4}, {2, 8}}, {{3, 1, 5}, {15, 1}}, {{6, 4, 2}, {6, 2, 4}}};
  int given = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto& [from, to] = shapes[static_cast<size_t>(number(0, 11))];
    const Mesh mesh = *Mesh::parse(number(0, 1) == 0   ? "a=2"
                                   : number(0, 1) == 0 ? "a=2,b=3"
                                                       : "a=4,b=2");
    Layout layout = Layout::replicated(mesh.ndim());
    for (Placement& placement : layout.placements) {
      const int dim = static_cast<int>(number(0, static_cast<int64_t>(from.size()) - 1));
      const int64_t kind = number(0, 5);
      if (kind < 3) placement = Placement::shard(dim);
      if (kind == 3) placement = Placement::strided_shard(dim, number(2, 4));
    }
    const Result<Layout> result = reshaped_layout(from, layout, to, mesh);
    if (!result.ok()) {
      ++refused;
      continue;
    }
    ++given;
    for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
      ASSERT_EQ(owned(from, layout, mesh, rank), owned(to, *result, mesh, rank))
          << format_dims(from) << "@" << format_layout(layout, mesh) << " as " << format_dims(to)
          << "@" << format_layout(*result, mesh) << ", seed " << random_seed();
    }
  }
  EXPECT_GT(given, 1000);
  EXPECT_GT(refused, 100);
}

// On one mesh dim every shard of the target can be tried: a refusal is right if none fits.
TEST(Reshape, RefusesOnlyWhatNoShardGives) {
  const Mesh mesh = *Mesh::parse("a=3");
  for (const auto& [from, to] : std::vector<std::pair<Dims, Dims>>{
           {{4, 6}, {24}}, {{24}, {4, 6}}, {{12, 2}, {3, 8}}, {{5, 3}, {15}}, {{9}, {3, 3}}}) {
    for (int dim = 0; dim < static_cast<int>(from.size()); ++dim) {
      for (const int64_t factor : {1, 2, 3, 4, 6, 12}) {
        Layout layout{{factor == 1 ? Placement::shard(dim) : Placement::strided_shard(dim, factor)},
                      {}};
        const bool given = reshaped_layout(from, layout, to, mesh).ok();
        bool exists = false;
        for (int other = 0; other < static_cast<int>(to.size()); ++other) {
          for (int64_t sf = 1; sf <= 24; ++sf) {
            const Layout tried{
                {sf == 1 ? Placement::shard(other) : Placement::strided_shard(other, sf)}, {}};
            bool same = true;
            for (int64_t rank = 0; rank < 3; ++rank)
              same &= owned(from, layout, mesh, rank) == owned(to, tried, mesh, rank);
            exists |= same;
          }
        }
        EXPECT_EQ(given, exists) << format_dims(from) << "@" << format_layout(layout, mesh)
                                 << " as " << format_dims(to);
      }
    }
  }
}

}  // namespace
}  // namespace onedim
