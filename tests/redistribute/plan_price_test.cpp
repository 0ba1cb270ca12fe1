#include "core/redistribute/plan_price.hpp"

#include <gtest/gtest.h>

#include "core/cost/make_cost_model.hpp"
#include "core/redistribute/planner.hpp"
#include "tests/redistribute/random_pairs.hpp"

namespace onedim {
namespace {

std::shared_ptr<const CostModel> model_of(const char* cluster, const Mesh& mesh) {
  return *make_cost_model(*load_cluster(cluster), mesh);
}

// What the planner found costs what it says, step by step.
TEST(PriceSteps, OfPlansThatThePlannerFound) {
  PairDraw draw(7);
  int steps = 0;
  for (int round = 0; round < 60; ++round) {
    const Mesh mesh = draw.mesh(1, 3);
    Planner planner(model_of(round % 2 == 0 ? "h100" : "alpha_beta", mesh));
    for (int pair = 0; pair < 5; ++pair) {
      const DType dtype = draw.dtype();
      const TensorMeta meta = TensorMeta::contiguous(dtype, draw.shape(1, 3, 20));
      const int ndim = static_cast<int>(meta.shape.size());
      const Layout from = draw.layout(mesh, ndim, dtype, true),
                   to = draw.layout(mesh, ndim, dtype, false);
      const auto plan = planner.plan(meta, from, to, {Policy::kAny});
      if (!plan.ok()) continue;
      const Result<std::vector<double>> us =
          price_steps(**plan, meta, planner.model(), planner.graphs());
      ASSERT_TRUE(us.ok()) << us.status() << format_plan(**plan, mesh);
      for (size_t i = 0; i < us->size(); ++i)
        EXPECT_EQ((*us)[i], (*plan)->steps[i].us) << format_plan(**plan, mesh);
      steps += static_cast<int>(us->size());
    }
  }
  EXPECT_GT(steps, 200);
}

// Two gathers, though one over both mesh dims would be cheaper: what stands there is priced.
TEST(PriceSteps, StepsAsTheyStand) {
  const Mesh mesh = *Mesh::parse("a=4,b=2");
  const std::shared_ptr<const CostModel> model = model_of("alpha_beta", mesh);
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {1024, 64});
  const auto layout = [&](const char* text) { return *parse_layout(text, mesh, 2); };
  Plan plan;
  plan.from = layout("S(0),S(0)");
  plan.to = layout("R,R");
  PlanStep step;
  step.kind = StepKind::kAllGather;
  step.mesh_dims = 2;
  step.from = plan.from;
  step.to = layout("S(0),R");
  plan.steps.push_back(step);
  step.mesh_dims = 1;
  step.from = step.to;
  step.to = plan.to;
  plan.steps.push_back(step);
  GraphStore graphs(mesh);
  const Result<std::vector<double>> us = price_steps(plan, meta, *model, graphs);
  ASSERT_TRUE(us.ok()) << us.status();
  EXPECT_NEAR((*us)[0], model->collective_us(Collective::kAllGather, 2, meta.bytes() / 4), 1e-6);
  EXPECT_NEAR((*us)[1], model->collective_us(Collective::kAllGather, 1, meta.bytes()), 1e-6);
  EXPECT_GT((*us)[0] + (*us)[1], (*Planner(model).plan(meta, plan.from, plan.to))->cost_us);
}

TEST(PriceSteps, AStepThatLeadsElsewhere) {
  const Mesh mesh = *Mesh::parse("a=4,b=2");
  const std::shared_ptr<const CostModel> model = model_of("alpha_beta", mesh);
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {1024, 64});
  Plan plan;
  plan.from = *parse_layout("S(0),S(1)", mesh, 2);
  plan.to = *parse_layout("R,R", mesh, 2);
  PlanStep step;
  step.kind = StepKind::kAllReduce;
  step.mesh_dims = 3;
  step.from = plan.from;
  step.to = plan.to;
  plan.steps.push_back(step);
  GraphStore graphs(mesh);
  const Status status = price_steps(plan, meta, *model, graphs).status();
  EXPECT_EQ(message_of(status), "steps[0]: no all_reduce leads from S(0),S(1) to R,R");
}

}  // namespace
}  // namespace onedim
