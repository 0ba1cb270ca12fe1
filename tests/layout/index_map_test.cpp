#include "core/layout/index_map.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace onedim {
namespace {

std::vector<int64_t> owned(const IndexMap& map, int dim) {
  std::vector<int64_t> indices;
  for (int64_t local = 0; local < map.local_shape()[dim]; ++local)
    indices.push_back(map.global_index(dim, local));
  return indices;
}

IndexMap map_of(const Dims& shape, std::string_view layout, std::string_view mesh_text,
                const Dims& coordinate) {
  const Mesh mesh = *Mesh::parse(mesh_text);
  return index_map(shape, *parse_layout(layout, mesh, static_cast<int>(shape.size())), mesh,
                   coordinate);
}

using Indices = std::vector<int64_t>;

TEST(IndexMap, LastRanksAreShortOrEmpty) {
  const Indices lengths = {2, 2, 1, 0};
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(map_of({5}, "S(0)", "a=4", {rank}).local_shape()[0], lengths[rank]);
  }
  const IndexMap last = map_of({5}, "S(0)", "a=4", {3});
  EXPECT_TRUE(last.dims[0].empty());
  EXPECT_EQ(last.offset(Dims{5}), (Dims{5}));
}

TEST(IndexMap, MeshDimsCutWhatIsLeft) {
  EXPECT_EQ(owned(map_of({5}, "S(0),S(0)", "a=2,b=2", {0, 0}), 0), (Indices{0, 1}));
  EXPECT_EQ(owned(map_of({5}, "S(0),S(0)", "a=2,b=2", {0, 1}), 0), (Indices{2}));
  EXPECT_EQ(owned(map_of({5}, "S(0),S(0)", "a=2,b=2", {1, 0}), 0), (Indices{3}));
  EXPECT_EQ(owned(map_of({5}, "S(0),S(0)", "a=2,b=2", {1, 1}), 0), (Indices{4}));
}

TEST(IndexMap, StridedShardsTakeAPieceOfEachChunk) {
  EXPECT_EQ(owned(map_of({5}, "SS(0,2)", "a=2", {0}), 0), (Indices{0, 1, 3}));
  EXPECT_EQ(owned(map_of({5}, "SS(0,2)", "a=2", {1}), 0), (Indices{2, 4}));
  EXPECT_EQ(map_of({5}, "SS(0,2)", "a=2", {0}).dims[0].size(), 2u)
      << "neighbours form one interval";
  EXPECT_EQ(owned(map_of({3}, "SS(0,8)", "a=2", {1}), 0), Indices{}) << "more chunks than elements";
  EXPECT_EQ(owned(map_of({0}, "SS(0,8)", "a=2", {0}), 0), Indices{});
}

TEST(IndexMap, OrderAndStridedShardDifferOnUnevenSizes) {
  EXPECT_EQ(owned(map_of({13}, "S(0)[b,a],S(0)", "a=3,b=2", {2, 0}), 0), (Indices{6}));
  EXPECT_EQ(owned(map_of({13}, "SS(0,2),S(0)", "a=3,b=2", {2, 0}), 0), (Indices{6, 11}));
}

TEST(IndexMap, OrderAndStridedShardAgreeOnEvenSizes) {
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < 2; ++b) {
      EXPECT_EQ(map_of({12}, "S(0)[b,a],S(0)", "a=3,b=2", {a, b}),
                map_of({12}, "SS(0,2),S(0)", "a=3,b=2", {a, b}));
    }
  }
}

// Splitting a dim in `factor` rows, sharding the columns and flattening again is what a strided
// shard means.
TEST(IndexMap, StridedShardIsAShardOfTheUnflattenedDim) {
  for (int64_t factor : {2, 3, 4}) {
    for (int64_t columns : {1, 4, 5, 7}) {
      for (int64_t rank = 0; rank < 3; ++rank) {
        const IndexMap flat =
            map_of({factor * columns}, fmt::format("SS(0,{})", factor), "a=3", {rank});
        const IndexMap table = map_of({factor, columns}, "S(1)", "a=3", {rank});
        Indices expected;
        for (int64_t row = 0; row < factor; ++row) {
          for (int64_t column : owned(table, 1)) expected.push_back(row * columns + column);
        }
        EXPECT_EQ(owned(flat, 0), expected);
      }
    }
  }
}

TEST(IndexMap, StridedShardsCompose) {
  // a keeps [0,1,4,5,8,9] of 12; b cuts these six in three chunks of two and keeps one of each.
  EXPECT_EQ(owned(map_of({12}, "SS(0,3),SS(0,3)", "a=2,b=2", {0, 1}), 0), (Indices{1, 5, 9}));
}

TEST(IndexMap, PartialsOwnEverything) {
  EXPECT_EQ(owned(map_of({5}, "P(sum),R", "a=2,b=2", {1, 1}), 0), (Indices{0, 1, 2, 3, 4}));
}

TEST(IndexMap, ScalarsHaveNoDims) {
  const IndexMap map = map_of({}, "R", "a=2", {1});
  EXPECT_EQ(map.local_shape(), Dims{});
  EXPECT_EQ(map.offset(Dims{}), Dims{});
}

TEST(IndexMap, HugeDimsAreOnlyDescribed) {
  const int64_t huge = int64_t{1} << 40;
  const IndexMap map = map_of({huge, 3}, "S(0)", "a=7", {6});
  EXPECT_EQ(map.local_shape(), (Dims{huge - 6 * ((huge + 6) / 7), 3}));
  EXPECT_EQ(map.offset(Dims{huge, 3})[0], 6 * ((huge + 6) / 7));
}

TEST(IndexMap, IndicesBeyondTheShardAreMinusOne) {
  EXPECT_EQ(map_of({5}, "S(0)", "a=2", {1}).global_index(0, 2), -1);
}

// Local shapes and offsets of every rank as PyTorch computes them.
TEST(IndexMap, AgreesWithPyTorch) {
  std::ifstream file(ONEDIM_TEST_DATA "/local_shapes.json");
  ASSERT_TRUE(file) << "no test data";
  const nlohmann::json data = nlohmann::json::parse(file);
  int ranks = 0;
  for (const auto& test : data["cases"]) {
    const auto shape = test["shape"].get<std::vector<int64_t>>();
    const auto sizes = test["mesh"].get<std::vector<int64_t>>();
    const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
    const Mesh mesh =
        *Mesh::create({names.begin(), names.begin() + static_cast<int64_t>(sizes.size())},
                      Dims(sizes.begin(), sizes.end()));
    const std::string text = test["layout"].get<std::string>();
    const Result<Layout> layout = parse_layout(text, mesh, static_cast<int>(shape.size()));
    ASSERT_TRUE(layout.ok()) << layout.status();
    bool is_even_there = true, has_empty_there = false;
    const auto first_shape = test["ranks"][0]["shape"];
    for (const auto& rank : test["ranks"]) {
      const auto coordinate = rank["coordinate"].get<std::vector<int64_t>>();
      const IndexMap map =
          index_map(shape, *layout, mesh, Dims(coordinate.begin(), coordinate.end()));
      const Dims local = map.local_shape(), offset = map.offset(shape);
      ASSERT_EQ(std::vector<int64_t>(local.begin(), local.end()),
                rank["shape"].get<std::vector<int64_t>>())
          << test;
      ASSERT_EQ(std::vector<int64_t>(offset.begin(), offset.end()),
                rank["offset"].get<std::vector<int64_t>>())
          << test;
      is_even_there = is_even_there && rank["shape"] == first_shape;
      has_empty_there = has_empty_there || (volume(local) == 0 && volume(shape) > 0);
      ++ranks;
    }
    EXPECT_EQ(is_even(shape, *layout, mesh), is_even_there) << test["layout"] << test["shape"];
    EXPECT_EQ(has_empty_shard(shape, *layout, mesh), has_empty_there)
        << test["layout"] << test["shape"];
  }
  EXPECT_EQ(data["cases"].size(), 150u);
  EXPECT_GT(ranks, 150);
}

}  // namespace
}  // namespace onedim
