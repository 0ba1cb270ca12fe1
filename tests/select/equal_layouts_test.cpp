#include "core/select/equal_layouts.hpp"

#include <gtest/gtest.h>

#include "core/layout/index_map.hpp"
#include "core/select/selector.hpp"
#include "select_case.hpp"
#include "tests/select/bench.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

// Rank by rank.
bool is_owned_alike(const Dims& shape, const Layout& a, const Layout& b, const Mesh& mesh) {
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims at = mesh.coordinate_of(rank);
    if (!(index_map(shape, a, mesh, at) == index_map(shape, b, mesh, at))) return false;
  }
  return true;
}

// Against every product of placements, on lengths from none to more than divide.
TEST(EqualLayouts, AreThoseOfTheSameIndexMap) {
  const Mesh mesh = *Mesh::parse("a=2,b=3");
  std::vector<Placement> placements{Placement::replicate()};
  for (const int dim : {0, 1}) {
    placements.push_back(Placement::shard(dim));
    for (const int64_t factor : {2, 3, 4}) {
      placements.push_back(Placement::strided_shard(dim, factor));
    }
  }
  for (const Dims& shape : {Dims{12, 2}, Dims{7, 3}, Dims{0, 3}, Dims{2, 0}, Dims{6, 4}}) {
    for (const Dims& order : {Dims{0, 1}, Dims{1, 0}}) {
      for (const Placement& one : placements) {
        for (const Placement& two : placements) {
          const Layout given = layout_in_order({one, two}, {1, 0});
          size_t count = 0;
          for (const Placement& a : placements) {
            for (const Placement& b : placements)
              count += is_owned_alike(shape, given, layout_in_order({a, b}, order), mesh);
          }
          const std::vector<Layout> found = equal_layouts(shape, given, placements, order, mesh);
          for (const Layout& layout : found)
            EXPECT_TRUE(is_owned_alike(shape, given, layout, mesh)) << format_layout(layout, mesh);
          EXPECT_EQ(found.size(), count) << format_dims(shape) << " " << format_layout(given, mesh)
                                         << " order " << format_dims(order);
        }
      }
    }
  }
}

TEST(EqualLayouts, PartialsAreToldApart) {
  const Mesh mesh = *Mesh::parse("a=2,b=2");
  const Layout given = *parse_layout("P(sum),R", mesh, 1);
  const std::vector<Placement> placements{Placement::replicate(), Placement::make_partial("avg"),
                                          Placement::make_partial("sum")};
  EXPECT_EQ(equal_layouts(Dims{4}, given, placements, {0, 1}, mesh), std::vector<Layout>{given});
}

// The input is S(0)[tp,dp],SS(0,8) by another name, and there is a rule for that.
TEST(EqualLayouts, AreNoMovesWhereMovesAreForbidden) {
  Bench bench("dp=2,tp=2");
  SelectCase c = make_case(shipped_registry(), "view", "f32[64,2]; size=[8,8,2]", bench.mesh,
                           {"S(0),SS(0,4)"});
  const auto moving = bench.selector.select(c.request());
  ASSERT_TRUE(moving.ok()) << moving.status();
  EXPECT_EQ((*moving)->cost_us, 0);
  c.options.forbid_moves = true;
  const auto staying = bench.selector.select(c.request());
  ASSERT_TRUE(staying.ok()) << staying.status();
  EXPECT_EQ((*staying)->cost_us, 0);
  EXPECT_EQ((*staying)->inputs, (*moving)->inputs);
  ASSERT_NE((*staying)->plans[0], nullptr);
  ASSERT_EQ((*staying)->plans[0]->steps.size(), 1u);
  EXPECT_EQ((*staying)->plans[0]->steps[0].kind, StepKind::kAlias);
  EXPECT_TRUE(is_owned_alike({64, 2}, c.layouts[0], (*staying)->inputs[0], bench.mesh));
}

// The name that was given wins where a rule takes it.
TEST(EqualLayouts, TheGivenOneComesFirst) {
  Bench bench("a=2,b=2");
  SelectCase c = make_case(shipped_registry(), "relu", "f32[8]", bench.mesh, {"S(0)[b,a],SS(0,2)"});
  c.options.forbid_moves = true;
  const auto decision = bench.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->inputs, c.layouts);
  EXPECT_EQ((*decision)->plans[0], nullptr);
}

}  // namespace
}  // namespace onedim
