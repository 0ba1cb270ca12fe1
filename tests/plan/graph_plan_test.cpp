#include "core/plan/graph_plan.hpp"

#include <gtest/gtest.h>

#include "core/graph/solution_file.hpp"
#include "tests/exec/placed_graph.hpp"
#include "tests/plan/brute_force_plan.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

TensorMeta meta(DType dtype, Dims shape) { return TensorMeta::contiguous(dtype, std::move(shape)); }

// Slow enough that what is computed counts beside what is moved in tensors of a few elements.
Roofline slow_roofline() {
  ClusterCompute compute;
  compute.memory_gbs = 0.01;
  compute.efficiency = 1;
  compute.launch_us = 0.5;
  return Roofline(compute);
}

struct PlannedGraph {
  Graph graph;
  ResolvedGraph resolved;
  std::unique_ptr<Planner> planner;
  NamedPlacements named;
  Roofline roofline = slow_roofline();
  GraphPlan plan;
};

std::unique_ptr<PlannedGraph> make(GraphBuilder& builder, std::string_view mesh,
                                   std::string_view lines) {
  auto made = std::make_unique<PlannedGraph>();
  Result<Graph> graph = builder.finish();
  EXPECT_TRUE(graph.ok()) << graph.status();
  made->graph = *std::move(graph);
  made->resolved = *resolve_graph(made->graph, shipped_registry());
  made->planner = std::make_unique<Planner>(std::make_shared<AlphaBetaModel>(*Mesh::parse(mesh)));
  made->named = *find_placements(made->graph, made->planner->mesh(), *parse_placement_lines(lines));
  return made;
}

std::unique_ptr<PlannedGraph> plan(GraphBuilder& builder, std::string_view mesh,
                                   std::string_view lines, const GraphPlanOptions& options = {}) {
  auto made = make(builder, mesh, lines);
  Result<GraphPlan> planned =
      plan_graph(made->resolved, made->named, *made->planner, made->roofline, options);
  EXPECT_TRUE(planned.ok()) << planned.status();
  if (planned.ok()) made->plan = *std::move(planned);
  return made;
}

void expect_runs(const PlannedGraph& made) {
  PlacedGraph placed{made.graph, {}, made.plan.timed.solution};
  placed.resolved = *resolve_graph(placed.graph, shipped_registry());
  const Result<GraphRunReport> report = run(placed);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal) << report->difference;
}

// The plan is right in itself: proved, priced as it is run, and run with the right result.
void expect_sound(const PlannedGraph& made) {
  const GraphPlan& plan = made.plan;
  EXPECT_EQ(plan.state, SolveState::kOptimal);
  EXPECT_EQ(plan.lower_bound_ps, plan.objective_ps);
  EXPECT_EQ(plan.objective_ps, solution_ps(made.resolved, plan.timed.solution, made.roofline));
  expect_runs(made);
}

void expect_least(PlannedGraph& made) {
  expect_sound(made);
  const std::optional<int64_t> least =
      least_plan_ps(made.resolved, made.named, *made.planner, made.roofline);
  ASSERT_TRUE(least);
  EXPECT_EQ(made.plan.objective_ps, *least);
}

std::string given_text(const PlannedGraph& made, std::string_view name) {
  for (ValueId value = 0; value < made.graph.value_count(); ++value) {
    if (made.graph.values[value].name == name)
      return format_layout(made.plan.timed.solution.given[value], made.planner->mesh());
  }
  return "";
}

// y = x w; z = relu(y).
GraphBuilder one_layer(int64_t rows, int64_t inner, int64_t columns) {
  GraphBuilder builder("layer", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {rows, inner}));
  const ValueId w = builder.add_given(ValueKind::kParam, "w", meta(DType::kF64, {inner, columns}));
  const ValueId y = builder.add("mm", {{"self", x}, {"mat2", w}});
  builder.add_output(builder.add("relu", {{"self", y}}));
  return builder;
}

TEST(GraphPlan, IsTheLeastOfAllOnOneMeshDim) {
  for (const std::string_view lines :
       {"", "x: S(1)\nw: S(0)", "x: S(0)\nw: S(1)", "x: R\nw: R", "x: S(1)\nw: S(1)"}) {
    SCOPED_TRACE(lines);
    GraphBuilder builder = one_layer(8, 12, 4);
    expect_least(*plan(builder, "a=4", lines));
  }
}

TEST(GraphPlan, IsTheLeastOfAllOnTwoMeshDims) {
  for (const std::string_view lines :
       {"x: S(1),S(0)\nw: S(0),R", "x: S(0)[b,a],S(0)\nw: S(1),S(1)"}) {
    SCOPED_TRACE(lines);
    GraphBuilder builder = one_layer(8, 12, 16);
    expect_least(*plan(builder, "a=2,b=2", lines));
  }
}

TEST(GraphPlan, UnevenShardsCount) {
  GraphBuilder builder = one_layer(7, 9, 5);
  expect_least(*plan(builder, "a=3", "x: S(1)"));
}

// A copy that several take is paid once, and what it goes on to from there is counted from there.
TEST(GraphPlan, CopiesAreShared) {
  for (const std::string_view lines :
       {"x: S(0)\nw: S(0)\nv: S(0)", "x: P(sum)\nw: R\nv: S(1)", "x: S(1)\nw: S(1)\nv: R"}) {
    SCOPED_TRACE(lines);
    GraphBuilder builder("shared", shipped_registry());
    const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {8, 8}));
    const ValueId w = builder.add_given(ValueKind::kParam, "w", meta(DType::kF64, {8, 4}));
    const ValueId v = builder.add_given(ValueKind::kParam, "v", meta(DType::kF64, {8, 4}));
    builder.add_output(builder.add("mm", {{"self", x}, {"mat2", w}}));
    builder.add_output(builder.add("mm", {{"self", x}, {"mat2", v}}));
    builder.add_output(builder.add("exp", {{"self", x}}));
    expect_least(*plan(builder, "a=2", lines));
  }
}

// One value in two slots of a node lies in one way only.
TEST(GraphPlan, RepeatedArgumentsAreTied) {
  GraphBuilder builder("square", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {8, 8}));
  const ValueId y = builder.add("mm", {{"self", x}, {"mat2", x}});
  builder.add_output(builder.add("mul.Tensor", {{"self", y}, {"other", y}}));
  expect_least(*plan(builder, "a=2", "x: S(0)"));
}

// Forward, and the gradient of a weight.
GraphBuilder step(int64_t batch, int64_t width) {
  GraphBuilder builder("step", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {batch, width}));
  const ValueId w = builder.add_given(ValueKind::kParam, "w", meta(DType::kF64, {width, width}));
  const ValueId g = builder.add_given(ValueKind::kTangent, "g", meta(DType::kF64, {batch, width}));
  builder.add_output(builder.add("mm", {{"self", x}, {"mat2", w}}));
  builder.set_phase(Phase::kBackward);
  const ValueId turned = builder.add("t", {{"self", x}});
  const ValueId gradient = builder.add("mm", {{"self", turned}, {"mat2", g}});
  builder.add_output(gradient);
  builder.add_gradient(w, gradient);
  builder.set_forward_outputs(1);
  return builder;
}

TEST(GraphPlan, GradientsLieAsTheirParameters) {
  GraphBuilder builder = step(8, 4);
  expect_least(*plan(builder, "a=2", "x: S(0)\ng: S(0)"));
}

// With room for the weights: every rank has them all, and only gradients are reduced.
TEST(GraphPlan, LargeBatchesGiveDataParallel) {
  GraphBuilder builder = step(4096, 8);
  const auto made = plan(builder, "a=4", "x: S(0)\ng: S(0)");
  expect_sound(*made);
  EXPECT_EQ(given_text(*made, "w"), "R");
  ASSERT_EQ(made->plan.timed.solution.moves.size(), 1u);
  EXPECT_EQ(made->plan.timed.solution.moves[0].plan->steps[0].kind, StepKind::kAllReduce);
}

// Without: weights are gathered, gradients scattered.
TEST(GraphPlan, LittleRoomForParametersShardsThem) {
  GraphBuilder builder = step(4096, 8);
  GraphPlanOptions options;
  options.network.parameter_bytes = 8 * 8 * 8 / 4;
  const auto made = plan(builder, "a=4", "x: S(0)\ng: S(0)", options);
  expect_sound(*made);
  EXPECT_EQ(made->plan.parameter_bytes, 8 * 8 * 8 / 4);
  std::vector<StepKind> kinds;
  for (const ValueMove& move : made->plan.timed.solution.moves) {
    for (const PlanStep& step : move.plan->steps) {
      if (is_collective(step.kind)) kinds.push_back(step.kind);
    }
  }
  EXPECT_EQ(kinds, (std::vector{StepKind::kAllGather, StepKind::kReduceScatter}));
}

TEST(GraphPlan, PartialsOfPacksAreSettled) {
  GraphBuilder builder("joint", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {3, 800}));
  GraphBuilder::Attributes dim;
  dim.emplace_back("dim", Value{int64_t{1}});
  const ValueId y = builder.add("custom.logsumexp", {{"self", x}}, dim);
  builder.add_output(builder.add("neg", {{"self", y}}));
  const auto made = plan(builder, "a=4", "x: S(1)");
  expect_sound(*made);
  ASSERT_EQ(made->plan.timed.solution.moves.size(), 1u);
  EXPECT_TRUE(is_settling(made->plan.timed.solution.moves[0]));
}

TEST(GraphPlan, WhatIsWrittenStaysWhereItIs) {
  GraphBuilder builder("written", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {4, 6}));
  const ValueId y = builder.add("neg", {{"self", x}});
  const ValueId view = builder.add("t", {{"self", y}});
  builder.add("relu_", {{"self", view}});
  builder.add_output(builder.add("abs", {{"self", y}}));
  builder.add_output(y);
  expect_sound(*plan(builder, "a=2", "x: S(0)"));
}

// What a line says of a value that a node makes holds for all who take it.
TEST(GraphPlan, LinesBindValuesAndNodes) {
  GraphBuilder builder = one_layer(8, 12, 4);
  const auto made = plan(builder, "a=2", "x: R\nmm: S(1)\nrules mm: P(sum) | S(1), S(0)");
  expect_sound(*made);
  const Solution& solution = made->plan.timed.solution;
  EXPECT_EQ(format_layout(solution.nodes[0].outputs[0], solution.mesh), "P(sum)");
  EXPECT_EQ(format_layout(solution.nodes[1].inputs[0], solution.mesh), "S(1)");
}

TEST(GraphPlan, WhatCannotBeIsSaid) {
  GraphBuilder builder = step(8, 4);
  auto made = make(builder, "a=2", "");
  GraphPlanOptions options;
  options.network.parameter_bytes = 8;
  const auto fault = [&] {
    return plan_graph(made->resolved, made->named, *made->planner, made->roofline, options)
        .status();
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(fault()));
  EXPECT_EQ(message_of(fault()),
            "step on a=2: no rank can hold the parameters in 8 bytes; the layouts that they may "
            "have take 64 at least");
  options.network.parameter_bytes.reset();
  options.network.select.policy = Policy::kEven;
  GraphBuilder written("written", shipped_registry());
  const ValueId x = written.add_given(ValueKind::kInput, "x", meta(DType::kF64, {4, 6}));
  const ValueId y = written.add("neg", {{"self", x}});
  written.add("relu_", {{"self", y}});
  written.add_output(y);
  made = make(written, "a=2", "rules neg: S(0) | S(0)\nrules relu_: S(1) | S(1)");
  EXPECT_EQ(message_of(fault()),
            "written on a=2: no move leads from node \"neg\" (neg) to node \"relu_\" (relu_)");
}

TEST(GraphPlan, IsTheSameEachTime) {
  GraphBuilder first = step(8, 4), second = step(8, 4);
  const auto a = plan(first, "a=2,b=2", ""), b = plan(second, "a=2,b=2", "");
  EXPECT_EQ(format_solution(a->graph, a->plan.timed.solution, {}),
            format_solution(b->graph, b->plan.timed.solution, {}));
  expect_sound(*a);
}

}  // namespace
}  // namespace onedim
