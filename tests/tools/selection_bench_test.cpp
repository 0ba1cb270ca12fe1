#include "tools/selection_bench.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/cost/make_cost_model.hpp"
#include "core/layout/layout_check.hpp"
#include "tests/random_seed.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

Call call_of(std::string_view op, std::string_view text) {
  return parse_call(shipped_registry().find(op)->schema, text)->call;
}

std::string text_of(const LayoutDraw& draw, const Mesh& mesh) {
  std::string text;
  for (const Layout& layout : draw) text += format_layout(layout, mesh) + ";";
  return text;
}

TEST(LayoutDraws, AreDistinctAndLegal) {
  const Mesh mesh = *Mesh::parse("a=2,b=4,c=2");
  const Call call = call_of("addmm", "f32[6]; f32[4,5]; f32[5,6]");
  const std::vector<LayoutDraw> draws = draw_layouts(call, mesh, 200, random_seed());
  EXPECT_EQ(draws.size(), 200u);
  std::set<std::string> texts;
  for (const LayoutDraw& draw : draws) {
    texts.insert(text_of(draw, mesh));
    for (size_t slot = 0; slot < draw.size(); ++slot)
      EXPECT_TRUE(check_placements(*call.inputs[slot], draw[slot], mesh).ok());
  }
  EXPECT_EQ(texts.size(), draws.size());
}

// Two inputs, each R, P, S(0) or S(1) over one mesh dim.
TEST(LayoutDraws, EndWhereThereAreNoMore) {
  const Call call = call_of("mm", "f32[4,5]; f32[5,6]");
  EXPECT_EQ(draw_layouts(call, Mesh::line(8), 1000, random_seed()).size(), 16u);
}

// So runs of few draws decide what runs of many begin with.
TEST(LayoutDraws, FewAreThePrefixOfMany) {
  const Mesh mesh = *Mesh::parse("a=2,b=4");
  const Call call = call_of("mm", "f32[4,5]; f32[5,6]");
  const uint64_t seed = random_seed();
  const std::vector<LayoutDraw> many = draw_layouts(call, mesh, 100, seed);
  const std::vector<LayoutDraw> few = draw_layouts(call, mesh, 10, seed);
  ASSERT_EQ(few.size(), 10u);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(many, draw_layouts(call, mesh, 100, seed + 1));
}

TEST(LayoutDraws, PartialsAreLegalForTheType) {
  const Call call = call_of("maximum", "bool[4]; bool[4]");
  for (const LayoutDraw& draw : draw_layouts(call, Mesh::line(4), 100, random_seed())) {
    for (size_t slot = 0; slot < draw.size(); ++slot)
      EXPECT_TRUE(check_placements(*call.inputs[slot], draw[slot], Mesh::line(4)).ok());
  }
}

TEST(SelectionBench, EveryUncachedDecisionIsMadeAnew) {
  const Op* op = shipped_registry().find("mm");
  SelectionBench bench(shipped_registry(), *op, call_of("mm", "f32[64,64]; f32[64,64]"),
                       *make_cost_model(*load_cluster("h100"), *Mesh::parse("a=2,b=4")), 8, 1);
  for (int round = 0; round < 2; ++round) {
    for (size_t draw = 0; draw < bench.draws().size(); ++draw) {
      const int64_t before = bench.selector().counters().misses;
      EXPECT_GT(bench.decide_uncached(draw)->us, 0);
      EXPECT_EQ(bench.selector().counters().misses, before + 1);
    }
  }
}

// The output of add_ is its input, which may not move.
TEST(SelectionBench, DrawsThatNoStrategyServesAreLeftOut) {
  const Op* op = shipped_registry().find("add_.Tensor");
  ASSERT_NE(op, nullptr);
  SelectionBench bench(shipped_registry(), *op, call_of("add_.Tensor", "f32[8,8]; f32[8,8]"),
                       *make_cost_model(*load_cluster("h100"), Mesh::line(2)), 100, 1);
  const size_t drawn = bench.draws().size();
  const Result<int64_t> refused = bench.drop_refused();
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(bench.draws().size() + static_cast<size_t>(*refused), drawn);
  for (size_t draw = 0; draw < bench.draws().size(); ++draw)
    EXPECT_TRUE(bench.decide_uncached(draw).ok());
}

TEST(SelectionBench, OpsWithoutAStandardCallHaveASample) {
  for (const Op* op : shipped_registry().ops()) {
    const Result<std::string> text = default_bench_call(*op);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_TRUE(parse_call(op->schema, *text).ok()) << op->name() << ": " << *text;
  }
}

}  // namespace
}  // namespace onedim
