#include "core/exec/plan_program.hpp"

#include <gtest/gtest.h>

#include "core/redistribute/plan_check.hpp"
#include "tests/exec/moved.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

int plan_count() { return std::getenv("ONEDIM_TEST_LONG") != nullptr ? 10000 : 1500; }

// Uneven sizes, strided and ordered shards, all partial kinds and memory orders, on 2-D and 3-D
// meshes; some with a thread a rank.
TEST(PlanProgram, RandomPlansGiveWhatTheIndexMapSays) {
  const uint64_t seed = random_seed();
  PairDraw draw(seed);
  int planned = 0;
  for (int round = 0; planned < plan_count(); ++round) {
    ASSERT_LT(round, 20 * plan_count());
    Planner planner(std::make_shared<AlphaBetaModel>(draw.mesh(2, 3)));
    const Mesh& mesh = planner.mesh();
    const DType dtype = draw.dtype();
    const TensorMeta meta = TensorMeta::contiguous(dtype, draw.shape(0, 3, 13));
    const int ndim = static_cast<int>(meta.shape.size());
    const Layout from = draw.layout(mesh, ndim, dtype, true);
    const Layout to = draw.layout(mesh, ndim, dtype, true);
    PlanOptions options;
    options.policy = Policy::kAny;
    options.allow_shard_to_partial = draw.number(0, 3) == 0;
    if (ndim > 0 && draw.number(0, 3) == 0)
      options.from_outermost = static_cast<int>(draw.number(0, ndim - 1));
    if (ndim > 0 && draw.number(0, 3) == 0)
      options.to_outermost = static_cast<int>(draw.number(0, ndim - 1));
    const auto plan = planner.plan(meta, from, to, options);
    if (!plan.ok()) continue;
    SimOptions sim;
    sim.has_threads = ++planned % 25 == 0;
    const auto run = [&](const Plan& one, const RunSetting& setting,
                         GroupLocals locals) -> Result<GroupLocals> {
      Result<PlanRunReport> report = run_plan_on_sim(one, setting, locals, sim);
      if (!report.ok()) return report.status();
      return std::move(report->locals);
    };
    const Status status = check_plan(**plan, {&meta, 1}, mesh, draw.random()(), run);
    ASSERT_TRUE(status.ok()) << status << "\n"
                             << format_meta(meta) << " on " << mesh.format() << ", seed " << seed
                             << "\n"
                             << format_plan(**plan, mesh);
  }
}

TEST(PlanProgram, EveryDTypeMoves) {
  for (int i = 0; i < kDTypeCount; ++i) {
    MoveOptions options;
    options.dtype = static_cast<DType>(i);
    options.plan.policy = Policy::kAny;
    const Result<Moved> moved = move_ramp("a=2,b=3", {5, 7}, "S(0),R", "R,S(1)", options);
    ASSERT_TRUE(moved.ok()) << name_of(options.dtype) << moved.status();
    EXPECT_EQ(difference(*moved), "") << name_of(options.dtype);
  }
}

TEST(PlanProgram, AThousandRanks) {
  const Result<Moved> moved = move_ramp("a=32,b=32", {64, 32}, "S(0),S(1)", "R,S(1)");
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(difference(*moved), "");
}

// Memory is what the plan said, on the rank that holds most; the source is given, not made.
TEST(PlanProgram, PeaksAreThoseOfThePlan) {
  for (const char* to : {"R,R", "S(1),R", "R,S(1)", "S(0)[b,a],S(0)", "S(1),S(1)"}) {
    const Result<Moved> moved = move_ramp("a=2,b=2", {8, 12}, "S(0),S(0)", to);
    ASSERT_TRUE(moved.ok()) << moved.status();
    int64_t most = 0;
    for (const RankMemory& memory : moved->memories) most = std::max(most, memory.peak_bytes());
    const int64_t source = int64_t{8} * 12 * 4 / 4;
    if (moved->plan.steps.size() == 1) {
      EXPECT_EQ(most + source, moved->plan.peak_bytes) << to;
    }
    EXPECT_LE(most, moved->plan.peak_bytes) << to;
    EXPECT_EQ(moved->memories[0].live_bytes(), moved->locals[0].meta().bytes()) << to;
  }
}

TEST(PlanProgram, SpansSayWhatWasPredicted) {
  const Result<Moved> moved = move_ramp("a=2,b=2", {8, 12}, "S(0),R", "R,R");
  ASSERT_TRUE(moved.ok()) << moved.status();
  const TraceSpan& span = moved->traces[3].spans[0];
  EXPECT_EQ(span.name, "all_gather");
  EXPECT_EQ(span.mesh_dims, "a");
  EXPECT_EQ(span.from, "S(0),R");
  EXPECT_EQ(span.bytes, moved->plan.steps[0].bytes);
  EXPECT_EQ(span.predicted_us, moved->plan.steps[0].us);
  EXPECT_GT(span.us, 0);
}

// A rank whose tensor is not what the layout says ends the run, by name.
TEST(PlanProgram, WrongLocalTensorsAreRefused) {
  Planner planner(test_model("a=2"));
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {4});
  const Plan plan =
      **planner.plan(meta, *parse_layout("S(0)", planner.mesh(), 1), Layout::replicated(1));
  RunSetting setting{planner.mesh(), {{4}}, {}};
  setting.subject = "relu, input 0";
  std::vector<Tensor> locals = {Tensor::zeros(DType::kF32, {2}), Tensor::zeros(DType::kF32, {3})};
  for (const bool has_threads : {false, true}) {
    SimOptions options;
    options.has_threads = has_threads;
    EXPECT_EQ(message_of(run_plan_on_sim(plan, setting, {locals}, options).status()),
              "relu, input 0: step all_gather over a S(0) -> R at coordinate [1]: the local tensor "
              "is f32[3], expected [2] by its layout");
  }
}

}  // namespace
}  // namespace onedim
