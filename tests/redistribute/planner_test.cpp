#include "core/redistribute/planner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "core/redistribute/plan_check.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

constexpr AlphaBetaModel::Link kLink = {5, 50000};  // all mesh dims alike

class Plans {
 public:
  Plans(std::string_view mesh, std::string_view tensor)
      : planner(std::make_shared<AlphaBetaModel>(*Mesh::parse(mesh), kLink, kLink)),
        meta(*parse_meta(tensor)) {}

  Layout layout(std::string_view text) const {
    return *parse_layout(text, planner.mesh(), static_cast<int>(meta.shape.size()));
  }
  Result<std::shared_ptr<const Plan>> result(std::string_view from, std::string_view to) {
    return planner.plan(meta, layout(from), layout(to), options);
  }
  Plan plan(std::string_view from, std::string_view to) { return **result(from, to); }
  // `all_gather(a,b) slice(a)`.
  std::string steps(std::string_view from, std::string_view to) {
    std::string text;
    for (const PlanStep& step : plan(from, to).steps) {
      std::string names;
      for (int d = 0; d < planner.mesh().ndim(); ++d) {
        if (step.mesh_dims >> d & 1) names += (names.empty() ? "" : ",") + planner.mesh().name(d);
      }
      text += fmt::format("{}{}({})", text.empty() ? "" : " ", step_kind_name(step.kind), names);
    }
    return text;
  }
  std::string error(std::string_view from, std::string_view to) {
    return std::string(message_of(result(from, to).status()));
  }

  Planner planner;
  TensorMeta meta;
  PlanOptions options;
};

TEST(Planner, SingleSteps) {
  Plans p("a=2,b=4", "f32[1024,512]");
  EXPECT_EQ(p.steps("R,R", "R,R"), "");
  EXPECT_EQ(p.steps("R,R", "S(0),R"), "slice(a)");
  EXPECT_EQ(p.steps("R,R", "S(0),S(1)"), "slice(a,b)");
  EXPECT_EQ(p.steps("S(0),R", "R,R"), "all_gather(a)");
  EXPECT_EQ(p.steps("S(0),S(0)", "R,R"), "all_gather(a,b)");
  EXPECT_EQ(p.steps("R,S(0)", "R,S(1)"), "all_to_all(b)");
  EXPECT_EQ(p.steps("P(sum),R", "R,R"), "all_reduce(a)");
  EXPECT_EQ(p.steps("P(sum),P(sum)", "S(0),S(0)"), "reduce_scatter(a,b)");
  EXPECT_EQ(p.steps("R,R", "P(max),R"), "alias(a)");
  EXPECT_EQ(p.steps("R,R", "P(sum),R"), "fill_partial(a)");
  EXPECT_EQ(p.steps("P(sum),R", "P(avg),R"), "scale(a)");
  EXPECT_EQ(p.steps("P(avg),R", "P(sum),R"), "scale(a)");
}

// An all-to-all receives (w-1)/w of the local tensor; through R it would be w times as much.
TEST(Planner, ExchangeMovesNoMoreThanItsBound) {
  Plans p("b=4", "f32[1024,512]");
  const Plan plan = p.plan("S(0)", "S(1)");
  EXPECT_EQ(plan.bytes, 1024 * 512 * 4 / 16 * 3);
  EXPECT_EQ(plan.lower_bound_bytes, plan.bytes);
  EXPECT_EQ(plan.ratio(), 1);
  EXPECT_EQ(plan.steps[0].pack_bytes, 1024 * 512) << "rows are cut in columns";
  EXPECT_EQ(plan.steps[0].unpack_bytes, 0);
  EXPECT_EQ(p.plan("S(1)", "S(0)").steps[0].pack_bytes, 0);
  EXPECT_EQ(p.plan("S(1)", "S(0)").steps[0].unpack_bytes, 1024 * 512);
}

TEST(Planner, GatherUnpacksInnerDims) {
  Plans p("b=4", "f32[1024,512]");
  EXPECT_EQ(p.plan("S(0)", "R").steps[0].unpack_bytes, 0);
  EXPECT_EQ(p.plan("S(1)", "R").steps[0].unpack_bytes, 1024 * 512 * 4);
  EXPECT_EQ(p.plan("SS(0,2)", "R").steps[0].unpack_bytes, 1024 * 512 * 4);
  EXPECT_EQ(p.plan("P(sum)", "S(0)").steps[0].pack_bytes, 0);
  EXPECT_EQ(p.plan("P(sum)", "S(1)").steps[0].pack_bytes, 1024 * 512 * 4);
}

// 10 rows over 4 ranks are 3, 3, 3, 1: two rows of padding.
TEST(Planner, UnevenShardsArePadded) {
  Plans p("b=4", "f32[10,8]");
  const PlanStep gather = p.plan("S(0)", "R").steps[0];
  EXPECT_EQ(gather.padding_bytes, 2 * 8 * 4);
  EXPECT_EQ(gather.bytes, 3 * 3 * 8 * 4);
  EXPECT_EQ(gather.pack_bytes, 3 * 8 * 4);
  EXPECT_EQ(gather.unpack_bytes, 12 * 8 * 4);
  EXPECT_EQ(p.plan("S(0)", "R").lower_bound_bytes, 9 * 8 * 4) << "the rank with one row";
  EXPECT_EQ(p.plan("P(sum)", "S(0)").steps[0].padding_bytes, 2 * 8 * 4);
  EXPECT_EQ(p.plan("S(0)", "S(1)").steps[0].padding_bytes, 0) << "exact parts";
}

// Inner shards are gathered before outer ones, or all at once.
TEST(Planner, NestedShardsCostMoreToKeepTheInnerOne) {
  Plans p("a=4,b=4", "f32[4096,1024]");
  EXPECT_LT(p.plan("S(0),S(0)", "S(0),R").cost_us, p.plan("S(0),S(0)", "R,S(0)").cost_us);
}

TEST(Planner, SwappedShardsStaySmall) {
  Plans p("a=2,b=3", "f32[1200,600]");
  const Plan plan = p.plan("S(0),S(1)", "S(1),S(0)");
  const int64_t local = 1200 * 600 * 4 / 6;
  EXPECT_LE(plan.bytes, 2 * local);
  EXPECT_LE(plan.peak_bytes, 4 * local);
}

TEST(Planner, EqualIndexMapsCostNothing) {
  Plans p("a=2,b=2", "f32[8]");
  const Plan plan = p.plan("SS(0,2),S(0)", "S(0)[b,a],S(0)");
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(plan.steps[0].kind, StepKind::kAlias);
  EXPECT_EQ(plan.cost_us, 0);
  EXPECT_EQ(plan.collective_count, 0);
  // The same two layouts of another length are not equal.
  Plans uneven("a=3,b=2", "f32[13]");
  EXPECT_GT(uneven.plan("SS(0,2),S(0)", "S(0)[b,a],S(0)").bytes, 0);
}

TEST(Planner, MeshDimsOfOneRankNeedNoSteps) {
  Plans p("a=1,b=4", "f32[16,8]");
  EXPECT_EQ(p.steps("S(0),R", "R,R"), "");
  EXPECT_EQ(p.steps("P(sum),S(0)", "S(1),R"), "all_gather(b)");
}

TEST(Planner, ShardBecomesPartialOnlyIfAllowed) {
  Plans p("a=4", "f32[16,8]");
  EXPECT_EQ(p.steps("S(0)", "P(sum)"), "all_gather(a) fill_partial(a)");
  // Who is to hold the sum must have received it whole, as for R.
  EXPECT_EQ(p.plan("S(0)", "P(sum)").lower_bound_bytes, 12 * 8 * 4);
  EXPECT_EQ(p.plan("S(0)", "P(sum)").ratio(), 1);
  EXPECT_EQ(p.plan("P(max)", "P(sum)").lower_bound_bytes, 2 * 12 * 8 * 4);
  EXPECT_EQ(p.plan("P(sum)", "P(avg)").lower_bound_bytes, 0);
  p.options.allow_shard_to_partial = true;
  EXPECT_EQ(p.steps("S(0)", "P(sum)"), "shard_to_partial(a)");
  EXPECT_EQ(p.plan("S(0)", "P(sum)").lower_bound_bytes, 0);
  EXPECT_EQ(p.steps("S(0)", "P(max)"), "all_gather(a) alias(a)") << "no finite fill";
}

TEST(Planner, PolicyBindsTheTargetAndNotTheSource) {
  Plans p("x=8", "f32[10,16]");
  EXPECT_EQ(p.error("R", "S(0)"),
            "layout S(0) of f32[10,16]: S(0) over mesh dim x=8 cuts a length of 10, which leaves "
            "some ranks empty; policy nonempty refuses that, policy any allows it");
  EXPECT_EQ(p.steps("S(0)", "S(1)"), "all_to_all(x)");
  EXPECT_EQ(p.steps("S(0)", "S(0)"), "");
  p.options.policy = Policy::kAny;
  EXPECT_EQ(p.steps("R", "S(0)"), "slice(x)");
}

TEST(Planner, MemoryCap) {
  Plans p("a=4", "f32[1024,64]");
  const int64_t bytes = p.meta.bytes();
  EXPECT_EQ(p.plan("P(sum)", "R").peak_bytes, 2 * bytes);
  p.options.memory_bytes = bytes + bytes / 4;
  EXPECT_EQ(p.steps("P(sum)", "R"), "reduce_scatter(a) all_gather(a)");
  p.options.memory_bytes = bytes;
  EXPECT_EQ(p.error("P(sum)", "R"),
            "no plan from P(sum) to R stays within 262144 bytes a rank; the least that would do is "
            "327680")
      << "a quarter more, for reduce_scatter and all_gather";
  EXPECT_EQ(p.result("P(sum)", "R").status().code(), absl::StatusCode::kNotFound);
}

TEST(Planner, EmptyAndScalarTensors) {
  Plans empty("a=2,b=2", "f32[0,4]");
  EXPECT_EQ(empty.plan("S(0),P(sum)", "R,S(1)").cost_us, 0);
  EXPECT_EQ(empty.plan("S(0),P(sum)", "R,S(1)").collective_count, 0);
  Plans scalar("a=2,b=2", "f32[]");
  EXPECT_EQ(scalar.steps("P(sum),P(sum)", "R,R"), "all_reduce(a,b)");
  EXPECT_EQ(scalar.plan("P(sum),P(sum)", "R,R").bytes, 6) << "4 bytes over 4 ranks";
}

TEST(Planner, HugeTensors) {
  Plans p("a=2,b=4", "f32[1048576,1048576]");
  EXPECT_EQ(p.plan("S(0),S(1)", "R,R").bytes, (int64_t{1} << 42) / 8 * 7);
  Plans too_large("a=2,b=4", "f64[1048576,1048576,1024]");
  EXPECT_EQ(too_large.error("S(0),S(1)", "R,R"),
            "tensor f64[1048576,1048576,1024] has more than 2^50 bytes or a negative size");
}

TEST(Planner, WrongUseIsRefused) {
  Plans p("a=2,b=2", "i32[4,4]");
  const auto error = [&](std::vector<Placement> from) {
    Layout layout;
    layout.placements = std::move(from);
    const Layout target = Layout::replicated(2);
    return std::string(message_of(p.planner.plan(p.meta, layout, target).status()));
  };
  const Placement r = Placement::replicate();
  EXPECT_EQ(error({r}),
            "a layout needs one placement for each dim of the mesh a=2,b=2 (2), but has 1");
  EXPECT_EQ(error({Placement::shard(2), r}),
            "S(2) shards a dim that the tensor i32[4,4] does not have");
  EXPECT_EQ(error({Placement::make_partial("avg"), r}),
            "P(avg) is not a built-in partial of i32 tensors, which have P(sum) P(max) P(min) "
            "P(product)");
  EXPECT_EQ(error({Placement::make_partial("sum"), Placement::make_partial("max")}),
            "P(max) stands beside P(sum), only sum and avg may mix");
  EXPECT_EQ(error({Placement::any_shard(0), r}),
            "S*(0) does not place a tensor i32[4,4], expected R, S, SS or P");
  EXPECT_EQ(
      error({Placement::make_partial("pack.kind", 1), r}),
      "P(pack.kind#1) is one tensor of a group; a group's layout is written with component 0");
  EXPECT_FALSE(
      p.planner.plan(std::span<const TensorMeta>(), p.layout("R,R"), p.layout("R,R")).ok());
  TensorMeta negative = p.meta;
  negative.shape[0] = -1;
  EXPECT_FALSE(p.planner.plan(negative, p.layout("R,R"), p.layout("S(0),R")).ok());
}

// The states of a pack's kind are one value: one plan, bytes summed, merged by the kind.
TEST(Planner, GroupsMoveAsOne) {
  const Mesh mesh = *Mesh::parse("a=4");
  Planner planner(test_model("a=4"));
  const std::vector<TensorMeta> group = {*parse_meta("f32[8,4]"), *parse_meta("f32[8]")};
  const Layout partial = *parse_layout("P(attention.merge)", mesh, 1);
  const Layout rows = *parse_layout("S(0)", mesh, 1);
  const Plan reduced = **planner.plan(group, partial, Layout::replicated(1));
  ASSERT_EQ(reduced.steps.size(), 1u);
  EXPECT_EQ(reduced.steps[0].kind, StepKind::kAllReduce);
  EXPECT_EQ(reduced.bytes, 3 * 160) << "the states of all other ranks";
  const Plan scattered = **planner.plan(group, partial, rows);
  EXPECT_EQ(scattered.steps[0].kind, StepKind::kReduceScatter);
  EXPECT_EQ(scattered.bytes, 3 * 40);
  EXPECT_LT(scattered.cost_us, reduced.cost_us);
  EXPECT_EQ((**planner.plan(group, rows, Layout::replicated(1))).bytes, 3 * 40);
}

// Parts of a state are merged together, so what its tensors do not share stays whole.
TEST(Planner, StatesAreCutWhereTheyShareDims) {
  const Mesh mesh = *Mesh::parse("a=4");
  Planner planner(test_model("a=4"));
  const std::vector<TensorMeta> group = {*parse_meta("f32[8,4]"), *parse_meta("f64[4]")};
  const Layout partial = *parse_layout("P(pack.kind)", mesh, 1);
  const auto cut = planner.plan(group, partial, *parse_layout("S(0)", mesh, 1));
  EXPECT_EQ(message_of(cut.status()),
            "S(0) shards a dim that the tensors of the state do not share: f32[8,4], f64[4]");
  const Plan whole = **planner.plan(group, partial, Layout::replicated(1));
  ASSERT_EQ(whole.steps.size(), 1u);
  EXPECT_EQ(whole.bytes, 3 * (8 * 4 * 4 + 4 * 8));
  EXPECT_TRUE(planner.plan(group, *parse_layout("S(0)", mesh, 1), Layout::replicated(1)).ok())
      << "no state";
}

TEST(Planner, MemoKeepsApartWhatDiffers) {
  Plans p("a=2,b=4", "f32[64,64]");
  const auto misses_of = [&](auto&& change) {
    const int64_t before = p.planner.counters().misses;
    change();
    EXPECT_TRUE(p.result("S(0),R", "R,S(1)").ok());
    return p.planner.counters().misses - before;
  };
  EXPECT_EQ(misses_of([] {}), 1);
  EXPECT_EQ(misses_of([] {}), 0);
  EXPECT_EQ(misses_of([&] { p.options.policy = Policy::kEven; }), 1);
  EXPECT_EQ(misses_of([&] { p.options.memory_bytes = 1 << 20; }), 1);
  EXPECT_EQ(misses_of([&] { p.options.allow_shard_to_partial = true; }), 1);
  EXPECT_EQ(misses_of([&] { p.meta = *parse_meta("f32[64,128]"); }), 1);
  EXPECT_EQ(misses_of([&] { p.meta = *parse_meta("f64[64,128]"); }), 1);
  EXPECT_EQ(misses_of([&] { p.meta.strides = {1, 64}; }), 0) << "memory is row-major at step ends";
  EXPECT_TRUE(p.result("S(0),S(0)", "R,R").ok());
  const int64_t before = p.planner.counters().misses;
  EXPECT_TRUE(p.result("S(0)[b,a],S(0)", "R,R").ok());
  EXPECT_EQ(p.planner.counters().misses, before + 1) << "orders differ";
}

TEST(Planner, MemoIsBounded) {
  Planner planner(test_model("a=2"), 64);
  const Layout from = *parse_layout("S(0)", planner.mesh(), 1), to = Layout::replicated(1);
  for (int64_t size = 2; size < 2002; ++size)
    ASSERT_TRUE(planner.plan(TensorMeta::contiguous(DType::kF32, {size}), from, to).ok());
  EXPECT_LE(planner.memo_size(), 64u);
  EXPECT_GT(planner.counters().evictions, 1500);
}

TEST(Planner, ThreadsAgree) {
  PairDraw draw(random_seed());
  const Mesh mesh = *Mesh::parse("a=2,b=2,c=3");
  Planner shared(test_model("a=2,b=2,c=3"), 128), alone(test_model("a=2,b=2,c=3"));
  struct Case {
    TensorMeta meta;
    Layout from, to;
    std::optional<Plan> plan;
  };
  std::vector<Case> cases;
  PlanOptions any;
  any.policy = Policy::kAny;
  for (int i = 0; i < 300; ++i) {
    const TensorMeta meta = TensorMeta::contiguous(DType::kF32, draw.shape(1, 3, 20));
    const int ndim = static_cast<int>(meta.shape.size());
    const bool with_strided = i % 8 == 0;  // these take longest
    Case c{meta,
           draw.layout(mesh, ndim, DType::kF32, with_strided),
           draw.layout(mesh, ndim, DType::kF32, with_strided),
           {}};
    const auto plan = alone.plan(c.meta, c.from, c.to, any);
    ASSERT_TRUE(plan.ok()) << plan.status();
    c.plan = **plan;
    cases.push_back(std::move(c));
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 3 * cases.size(); ++i) {
        const Case& c = cases[(i * 7 + static_cast<size_t>(t) * 75) % cases.size()];
        const auto plan = shared.plan(c.meta, c.from, c.to, any);
        if (!plan.ok() || !(**plan == *c.plan)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Prices that tests choose.
class PricedModel : public CostModel {
 public:
  PricedModel(Mesh mesh, std::function<double(Collective, MeshDimSet)> price)
      : mesh_(std::move(mesh)), price_(std::move(price)) {}
  double collective_us(Collective collective, MeshDimSet mesh_dims, int64_t) const override {
    return price_(collective, mesh_dims);
  }
  double copy_us(int64_t) const override { return 0; }
  const Mesh& mesh() const override { return mesh_; }
  uint64_t fingerprint() const override { return 1; }

 private:
  Mesh mesh_;
  std::function<double(Collective, MeshDimSet)> price_;
};

// Where nothing costs anything: fewest collectives, then fewest bytes, then fewest steps.
TEST(Planner, TiesGoToFewerCollectivesAndBytes) {
  const Mesh mesh = *Mesh::parse("a=2,b=4");
  Planner planner(std::make_shared<PricedModel>(mesh, [](Collective, MeshDimSet) { return 0.0; }));
  const TensorMeta meta = *parse_meta("f32[64,64]");
  const auto plan = [&](std::string_view from, std::string_view to) {
    return **planner.plan(meta, *parse_layout(from, mesh, 2), *parse_layout(to, mesh, 2));
  };
  EXPECT_TRUE(plan("S(0),R", "S(0),R").steps.empty());
  EXPECT_EQ(plan("R,R", "S(0),S(1)").collective_count, 0);
  EXPECT_EQ(plan("R,R", "S(0),S(1)").steps.size(), 1u);
  EXPECT_EQ(plan("R,S(0)", "R,S(1)").steps[0].kind, StepKind::kAllToAll);
  EXPECT_EQ(plan("S(0),S(1)", "R,R").collective_count, 1);
  EXPECT_EQ(plan("P(sum),P(sum)", "S(0),S(1)").collective_count, 1);
  EXPECT_EQ(plan("S(0),R", "R,S(0)").bytes, 64 * 64 * 4 / 2) << "any other way takes two";
}

TEST(Planner, PricesWithoutEndForbid) {
  const Mesh mesh = *Mesh::parse("a=4");
  const double never = std::numeric_limits<double>::infinity();
  Planner planner(std::make_shared<PricedModel>(mesh, [&](Collective collective, MeshDimSet) {
    return collective == Collective::kAllGather ? 1.0 : never;
  }));
  const TensorMeta meta = *parse_meta("f32[64,64]");
  const auto plan =
      planner.plan(meta, *parse_layout("S(0)", mesh, 2), *parse_layout("S(1)", mesh, 2));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->steps[0].kind, StepKind::kAllGather);
  EXPECT_EQ(
      message_of(
          planner.plan(meta, *parse_layout("P(sum)", mesh, 2), Layout::replicated(1)).status()),
      "no plan from P(sum) to R: the cost model gives no finite price");
}

// More than five mesh dims: the smaller state space, whose plans are as right.
TEST(Planner, LargeMeshes) {
  const Mesh mesh = *Mesh::parse("a=2,b=2,c=2,d=2,e=2,f=2");
  Planner planner(std::make_shared<AlphaBetaModel>(mesh, kLink, kLink));
  const TensorMeta meta = *parse_meta("i32[19,7]");
  PlanOptions any;
  any.policy = Policy::kAny;
  PairDraw draw(random_seed());
  for (int round = 0; round < 20; ++round) {
    const Layout from = draw.layout(mesh, 2, DType::kI32, round % 4 == 0);
    const Layout to = draw.layout(mesh, 2, DType::kI32, false);
    const auto plan = planner.plan(meta, from, to, any);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const Status status = check_plan(**plan, {&meta, 1}, mesh, 1);
    EXPECT_TRUE(status.ok()) << status << "\n" << format_plan(**plan, mesh) << random_seed();
  }
}

// Nothing is kept per rank, so a mesh of a million ranks costs no more.
TEST(Planner, AMillionRanks) {
  const Mesh mesh = *Mesh::parse("a=16,b=8,c=8,d=4,e=8,f=2,g=2,h=8");
  ASSERT_EQ(mesh.rank_count(), int64_t{1} << 20);
  Planner planner(std::make_shared<AlphaBetaModel>(mesh, kLink, kLink));
  const TensorMeta meta = *parse_meta("bf16[32768,32768]");
  PairDraw draw(random_seed());
  for (int round = 0; round < 20; ++round) {
    const Layout from = draw.layout(mesh, 2, DType::kBF16, false);
    const Layout to = draw.layout(mesh, 2, DType::kBF16, false);
    const auto plan = planner.plan(meta, from, to);
    if (!plan.ok()) {
      EXPECT_FALSE(check_policy(meta, to, mesh, Policy::kNonempty).ok()) << plan.status();
      continue;
    }
    EXPECT_GE((*plan)->bytes, (*plan)->lower_bound_bytes);
    EXPECT_EQ((*plan)->steps.empty(), from == to);
  }
}

// What any planner must give, whatever the model: chains join, costs add up, no detour pays.
TEST(Planner, CostsHaveTheirProperties) {
  PairDraw draw(random_seed());
  for (int round = 0; round < 300; ++round) {
    const Mesh mesh = draw.mesh(1, 3);
    Planner planner(std::make_shared<AlphaBetaModel>(mesh));
    const TensorMeta meta = TensorMeta::contiguous(DType::kF64, draw.shape(1, 3, 40));
    const int ndim = static_cast<int>(meta.shape.size());
    PlanOptions any;
    any.policy = Policy::kAny;
    const Layout a = draw.layout(mesh, ndim, DType::kF64, false);
    const Layout b = draw.layout(mesh, ndim, DType::kF64, false);
    const Layout r = Layout::replicated(mesh.ndim());
    const Plan direct = **planner.plan(meta, a, b, any);
    const double detour =
        (**planner.plan(meta, a, r, any)).cost_us + (**planner.plan(meta, r, b, any)).cost_us;
    EXPECT_LE(direct.cost_us, detour + 1e-6) << format_plan(direct, mesh) << random_seed();
    double us = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < direct.steps.size(); ++i) {
      us += direct.steps[i].us;
      bytes += direct.steps[i].bytes;
      EXPECT_TRUE(i == 0 || direct.steps[i].from == direct.steps[i - 1].to);
    }
    EXPECT_NEAR(us, direct.cost_us, 1e-9);
    EXPECT_EQ(bytes, direct.bytes);
    EXPECT_LE(direct.lower_bound_bytes, direct.bytes);
  }
}

TEST(Planner, TablesNumberAllLayouts) {
  Planner planner(test_model("a=2,b=1,c=2"));
  const LayoutTable table = *planner.table(2, {"sum", "max"});
  // 5 placements squared, less the 2 mixed partials, more the 2 orders where both cut one dim.
  EXPECT_EQ(table.size(), 25);
  for (int i = 0; i < table.size(); ++i) EXPECT_EQ(table.find(table.layout(i)), i);
  EXPECT_EQ(table.find(*parse_layout("P(min),R,R", planner.mesh(), 2)), -1);
  EXPECT_EQ(table.find(*parse_layout("R,S(0),R", planner.mesh(), 2)),
            table.find(Layout::replicated(3)));
  std::vector<double> costs(table.size());
  const TensorMeta meta = *parse_meta("f32[8,8]");
  EXPECT_FALSE(planner
                   .costs_to_all({&meta, 1}, *parse_layout("P(min),R,R", planner.mesh(), 2), table,
                                 {}, costs)
                   .ok());
}

}  // namespace
}  // namespace onedim
