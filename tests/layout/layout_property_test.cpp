// Random layouts (R, S, SS, P, orders, uneven sizes) on random meshes: what must hold for all of
// them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout/partition.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

constexpr int kRounds = 2000;

class Draw {
 public:
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  Mesh mesh() {
    std::vector<std::string> names;
    Dims sizes;
    for (int64_t i = number(0, 19) == 0 ? 8 : number(1, 4); i > 0; --i) {
      names.push_back(fmt::format("m{}", i));
      sizes.push_back(number(1, names.size() > 2 ? 2 : 4));
    }
    return *Mesh::create(std::move(names), std::move(sizes));
  }

  Dims shape() {
    Dims shape;
    for (int64_t i = number(0, 3); i > 0; --i)
      shape.push_back(number(0, 9) == 0 ? 0 : number(1, 9));
    return shape;
  }

  Layout layout(const Mesh& mesh, int ndim, DType dtype) {
    Layout layout = Layout::replicated(mesh.ndim());
    const std::string partial = partial_kind(dtype);
    for (Placement& placement : layout.placements) placement = this->placement(ndim, partial);
    for (int dim = 0; dim < ndim; ++dim) {
      Dims order = layout.shard_order(dim);
      std::shuffle(order.begin(), order.end(), random_);
      layout.set_shard_order(dim, order);
    }
    return layout;
  }

  // A tensor of random bytes that are legal for every dtype.
  Tensor tensor(DType dtype, Dims shape) {
    Tensor tensor = Tensor::zeros(dtype, std::move(shape));
    for (int64_t i = 0; i < tensor.element_count(); ++i)
      store_integer(dtype, tensor.element(i), number(1, 3));
    return tensor;
  }

  DType dtype() { return static_cast<DType>(number(0, kDTypeCount - 1)); }

 private:
  std::string partial_kind(DType dtype) {
    const char* const kinds[] = {"sum", "avg", "max", "min", "product"};
    while (true) {
      const char* kind = kinds[number(0, 4)];
      if (is_legal_partial(kind, dtype)) return kind;
    }
  }

  Placement placement(int ndim, const std::string& partial) {
    const int64_t choice = number(0, ndim > 0 ? 7 : 2);
    if (choice <= 1) return Placement::replicate();
    if (choice == 2) return Placement::make_partial(partial);
    const int dim = static_cast<int>(number(0, ndim - 1));
    return choice <= 5 ? Placement::shard(dim) : Placement::strided_shard(dim, number(1, 5));
  }

  std::mt19937_64 random_{random_seed()};
};

std::string describe(const Layout& layout, const Mesh& mesh, const Dims& shape) {
  return fmt::format("{}@{} on {}", format_dims(shape), format_layout(layout, mesh), mesh.format());
}

// How often each element is owned, counted over the ranks that differ in sharding mesh dims only.
std::vector<int> owner_counts(const Dims& shape, const Layout& layout, const Mesh& mesh) {
  std::vector<int> counts(static_cast<size_t>(volume(shape)), 0);
  const Dims strides = row_major_strides(shape);
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    bool is_first = true;
    for (int d = 0; d < mesh.ndim(); ++d)
      is_first &= layout.placements[d].is_shard() || coordinate[d] == 0;
    if (!is_first) continue;
    const IndexMap map = index_map(shape, layout, mesh, coordinate);
    const Dims local = map.local_shape();
    const Dims local_strides = row_major_strides(local);
    for (int64_t i = 0; i < volume(local); ++i) {
      int64_t global = 0;
      for (size_t dim = 0; dim < local.size(); ++dim) {
        global += map.global_index(static_cast<int>(dim), i / local_strides[dim] % local[dim]) *
                  strides[dim];
      }
      ++counts[static_cast<size_t>(global)];
    }
  }
  return counts;
}

TEST(LayoutProperty, EveryIndexIsOwnedOncePerShardGroup) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Mesh mesh = draw.mesh();
    const Dims shape = draw.shape();
    const Layout layout = draw.layout(mesh, static_cast<int>(shape.size()), DType::kF32);
    for (int count : owner_counts(shape, layout, mesh))
      ASSERT_EQ(count, 1) << describe(layout, mesh, shape);
  }
}

TEST(LayoutProperty, SplitThenJoinIsIdentity) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Mesh mesh = draw.mesh();
    const DType dtype = draw.dtype();
    const Tensor global = draw.tensor(dtype, draw.shape());
    const Layout layout = draw.layout(mesh, global.ndim(), dtype);
    const Result<std::vector<Tensor>> locals = split(global, layout, mesh);
    ASSERT_TRUE(locals.ok()) << locals.status() << ' ' << describe(layout, mesh, global.shape());
    const Result<Tensor> joined = join(*locals, global.shape(), layout, mesh);
    ASSERT_TRUE(joined.ok()) << joined.status();
    ASSERT_TRUE(bit_equal(*joined, global))
        << name_of(dtype) << ' ' << describe(layout, mesh, global.shape());
  }
}

TEST(LayoutProperty, TextRoundTrips) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Mesh mesh = draw.mesh();
    const Dims shape = draw.shape();
    const Layout layout = draw.layout(mesh, static_cast<int>(shape.size()), DType::kF32);
    const std::string text = format_layout(layout, mesh);
    const Result<Layout> parsed = parse_layout(text, mesh, static_cast<int>(shape.size()));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    ASSERT_EQ(*parsed, drop_unit_mesh_dims(layout, mesh)) << text;
    ASSERT_EQ(format_layout(*parsed, mesh), text);
    for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
      const Dims coordinate = mesh.coordinate_of(rank);
      ASSERT_EQ(index_map(shape, *parsed, mesh, coordinate),
                index_map(shape, layout, mesh, coordinate))
          << text;
    }
    ASSERT_EQ(*Mesh::parse(mesh.format()), mesh);
  }
}

TEST(LayoutProperty, EvenAndEmptyAgreeWithTheRanks) {
  Draw draw;
  for (int round = 0; round < kRounds; ++round) {
    const Mesh mesh = draw.mesh();
    const Dims shape = draw.shape();
    const Layout layout = draw.layout(mesh, static_cast<int>(shape.size()), DType::kF32);
    const Dims first = index_map(shape, layout, mesh, Dims(mesh.ndim(), 0)).local_shape();
    bool even = true, empty = false;
    for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
      const Dims local = index_map(shape, layout, mesh, mesh.coordinate_of(rank)).local_shape();
      even = even && local == first;
      empty = empty || (volume(local) == 0 && volume(shape) > 0);
    }
    ASSERT_EQ(is_even(shape, layout, mesh), even) << describe(layout, mesh, shape);
    ASSERT_EQ(has_empty_shard(shape, layout, mesh), empty) << describe(layout, mesh, shape);
  }
}

// Two elements on 8 ranks: offsets once went wrong on 2-D meshes only.
TEST(LayoutProperty, FewElementsOnManyRanks) {
  for (const char* text : {"a=8", "a=2,b=4", "a=4,b=2"}) {
    const Mesh mesh = *Mesh::parse(text);
    Layout layout = Layout::replicated(mesh.ndim());
    for (Placement& placement : layout.placements) placement = Placement::shard(0);
    EXPECT_EQ(owner_counts({2}, layout, mesh), (std::vector<int>{1, 1})) << text;
  }
}

// [5,7] from S(0),S(1) to R,S(0) on 2x2, by way of the global tensor.
TEST(LayoutProperty, UnevenLayoutsChangeIntoEachOther) {
  Draw draw;
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const Tensor global = draw.tensor(DType::kF32, {5, 7});
  const Layout from = *parse_layout("S(0),S(1)", mesh, 2), to = *parse_layout("R,S(0)", mesh, 2);
  const Tensor joined = *join(*split(global, from, mesh), global.shape(), from, mesh);
  EXPECT_TRUE(bit_equal(*join(*split(joined, to, mesh), global.shape(), to, mesh), global));
}

}  // namespace
}  // namespace onedim
