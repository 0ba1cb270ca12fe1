#include "core/exec/graph_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "tests/exec/placed_graph.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

TensorMeta meta(DType dtype, Dims shape) { return TensorMeta::contiguous(dtype, std::move(shape)); }

GraphBuilder::Attributes attribute(const char* name, Value value) {
  GraphBuilder::Attributes attributes;
  attributes.emplace_back(name, std::move(value));
  return attributes;
}

// y = x w; z = relu(y); loss = sum(z).
std::unique_ptr<PlacedGraph> small_mlp(std::string_view mesh, std::string_view lines) {
  GraphBuilder builder("mlp", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {6, 8}));
  const ValueId w = builder.add_given(ValueKind::kParam, "w", meta(DType::kF64, {8, 4}));
  const ValueId y = builder.add("mm", {{"self", x}, {"mat2", w}});
  const ValueId z = builder.add("relu", {{"self", y}});
  builder.add_output(builder.add("sum", {{"self", z}}));
  return place(builder, mesh, lines);
}

void expect_equal(const PlacedGraph& placed) {
  for (const bool has_threads : {false, true}) {
    const Result<GraphRunReport> report = run(placed, {.has_threads = has_threads});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->is_equal) << report->difference;
    EXPECT_EQ(report->verdict.nodes, placed.graph.node_count());
    for (const OutputDistance& distance : report->outputs) EXPECT_TRUE(distance.is_bit_equal);
  }
}

const NodeStrategy& strategy(const PlacedGraph& placed, std::string_view node) {
  for (int i = 0; i < placed.graph.node_count(); ++i) {
    if (placed.graph.nodes[i].name == node) return placed.solution.nodes[i];
  }
  ADD_FAILURE() << node;
  return placed.solution.nodes[0];
}

TEST(GraphRun, PartialSumsMoveBeforeWhatIsNotLinear) {
  const auto placed = small_mlp("a=2,b=2", "x: S(0),S(1)\nw: R,S(0)");
  EXPECT_EQ(format_layout(strategy(*placed, "mm").outputs[0], placed->solution.mesh),
            "S(0),P(sum)");
  expect_equal(*placed);
}

TEST(GraphRun, UnevenShards) {
  expect_equal(*small_mlp("a=4", "x: S(0)\nw: R"));
  expect_equal(*small_mlp("a=5", "x: S(1)\nw: S(0)"));
}

// A line decides what select would not: the move is there, shared by both users.
TEST(GraphRun, LinesPlaceWhatNodesMake) {
  GraphBuilder builder("two", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {8, 8}));
  const ValueId y = builder.add("relu", {{"self", x}});
  builder.add_output(builder.add("neg", {{"self", y}}));
  builder.add_output(builder.add("abs", {{"self", y}}));
  const auto placed = place(builder, "a=2", "x: S(0)\nrelu: S(1)");
  ASSERT_EQ(placed->solution.moves.size(), 1u);
  EXPECT_EQ(placed->solution.moves[0].consumers, (std::vector<int>{1, 2}));
  EXPECT_EQ(format_layout(strategy(*placed, "abs").outputs[0], placed->solution.mesh), "S(1)");
  expect_equal(*placed);
}

TEST(GraphRun, LinesGiveRules) {
  const auto placed = small_mlp("a=2", "rules mm: P(sum) | S(1), S(0)");
  EXPECT_EQ(format_layout(strategy(*placed, "mm").inputs[1], placed->solution.mesh), "S(0)");
  expect_equal(*placed);
}

// What is written in place is seen through the values that share its storage.
TEST(GraphRun, InPlaceOpsWriteThroughViews) {
  GraphBuilder builder("written", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {4, 6}));
  const ValueId y = builder.add("neg", {{"self", x}});
  const ValueId view = builder.add("t", {{"self", y}});
  builder.add("relu_", {{"self", view}});
  builder.add_output(builder.add("abs", {{"self", y}}));
  builder.add_output(y);
  const auto placed = place(builder, "a=2", "x: S(0)");
  expect_equal(*placed);
}

TEST(GraphRun, GivenValuesAreWrittenOncePerRank) {
  GraphBuilder builder("step", shipped_registry());
  const ValueId w = builder.add_given(ValueKind::kParam, "w", meta(DType::kF64, {4}));
  const ValueId g = builder.add_given(ValueKind::kInput, "g", meta(DType::kF64, {4}));
  builder.add_output(builder.add("add_.Tensor", {{"self", w}, {"other", g}}));
  const auto placed = place(builder, "a=3", "");
  expect_equal(*placed);
}

// Its copy would be written, and the value not.
TEST(GraphRun, WhatIsWrittenMayNotBeMoved) {
  GraphBuilder builder("moved", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {4, 6}));
  const ValueId y = builder.add("neg", {{"self", x}});
  builder.add("relu_", {{"self", y}});
  builder.add_output(y);
  const auto placed = place(builder, "a=2", "x: S(0)\nneg: S(1)");
  EXPECT_EQ(message_of(run(*placed).status()),
            "node \"relu_\" (relu_): it writes into input 0, \"neg\", which therefore may not be "
            "moved");
}

// States of joint kinds are merged and finished behind their node, then their values go on.
TEST(GraphRun, PartialsOfPacksAreSettled) {
  GraphBuilder builder("joint", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {3, 8}));
  const ValueId y =
      builder.add("custom.logsumexp", {{"self", x}}, attribute("dim", Value{int64_t{1}}));
  builder.add_output(builder.add("neg", {{"self", y}}));
  const auto placed = place(builder, "a=4", "x: S(1)");
  ASSERT_EQ(placed->solution.moves.size(), 1u);
  EXPECT_TRUE(is_settling(placed->solution.moves[0]));
  const Result<GraphRunReport> report = run(*placed);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal) << report->difference;
  EXPECT_LT(report->outputs[0].relative_error, 1e-14);
}

// A view that local strides do not allow is made of a copy, which is seen.
TEST(GraphRun, ViewsOfStridedLocalsAreCopied) {
  GraphBuilder builder("strided", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {4, 6}));
  ValueList size;
  size.push_back(Value{int64_t{24}});
  const ValueId flat =
      builder.add("view", {{"self", x}}, attribute("size", Value{std::move(size)}));
  builder.add_output(builder.add("neg", {{"self", flat}}));
  const auto placed = place(builder, "a=2", "x: S(0)");
  const Result<GraphRunReport> report = run(*placed, {.is_column_major = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal) << report->difference;
  EXPECT_EQ(report->traces[1].spans[0].name, "make_contiguous");
  EXPECT_EQ(report->traces[1].spans[0].cause, "view, input 0");
}

// A strategy that no rule allows is seen at its node, not at the end.
TEST(GraphRun, TheFirstWrongNodeIsNamed) {
  const auto placed = small_mlp("a=2", "x: S(1)\nw: S(0)");
  ASSERT_EQ(format_layout(placed->solution.nodes[0].outputs[0], placed->solution.mesh), "P(sum)");
  placed->solution.nodes[0].outputs[0] = Layout::replicated(1);
  placed->solution.nodes[1].inputs[0] = Layout::replicated(1);
  placed->solution.nodes[1].outputs[0] = Layout::replicated(1);
  placed->solution.nodes[2].inputs[0] = Layout::replicated(1);
  placed->solution.nodes[2].outputs[0] = Layout::replicated(1);
  placed->solution.moves.clear();
  const Result<GraphRunReport> report = run(*placed);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->is_equal);
  EXPECT_TRUE(report->difference.starts_with("node \"mm\" (mm), output 0 on rank 0 at [0], at ["))
      << report->difference;
}

// A move that leaves things where they are is seen as such.
TEST(GraphRun, AWrongMoveIsNamed) {
  const auto placed = small_mlp("a=2", "x: S(1)\nw: S(0)\nmm: R");
  ASSERT_EQ(placed->solution.moves.size(), 1u);
  Plan plan = *placed->solution.moves[0].plan;
  plan.steps.resize(1);
  plan.steps[0].kind = StepKind::kAlias;
  plan.steps[0].mesh_dims = 1;
  placed->solution.moves[0].plan = std::make_shared<Plan>(plan);
  const Result<GraphRunReport> report = run(*placed);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_FALSE(report->is_equal);
  EXPECT_TRUE(report->difference.starts_with("the move of relu, input 0 to R on rank 0"))
      << report->difference;
}

TEST(GraphRun, InputsThatNoMoveBringsAreRefused) {
  const auto placed = small_mlp("a=2", "x: S(1)\nw: S(0)\nmm: R");
  placed->solution.moves.clear();
  EXPECT_EQ(message_of(run(*placed).status()),
            "node \"relu\" (relu): input 0 must lie under R, but \"mm\" lies under P(sum) and no "
            "move of it for this node leads there");
}

// Memory is given back when its last user is done, and every entry has its cause.
TEST(GraphRun, MemoryEndsWithItsLastUser) {
  GraphBuilder builder("chain", shipped_registry());
  ValueId value = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {64}));
  for (int i = 0; i < 6; ++i) value = builder.add("neg", {{"self", value}});
  builder.add_output(value);
  const auto placed = place(builder, "a=2", "x: S(0)");
  const Result<GraphRunReport> report = run(*placed);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->peak_bytes, 3 * 32 * 8);  // what is given, what is read and what is made
  const std::vector<MemoryEvent>& events = report->memories[1].events();
  ASSERT_EQ(events.size(), 1u + 6 + 5);
  EXPECT_EQ(events.back().live_bytes, 2 * 32 * 8);
  EXPECT_EQ(events[0].cause, "given: x");
  EXPECT_EQ(events[1].cause, "neg: output 0");
  EXPECT_EQ(events[3].cause, "neg_1");
  EXPECT_EQ(events[3].bytes, -32 * 8);
}

TEST(GraphRun, TracesTellNodesAndMoves) {
  const auto placed = small_mlp("a=2", "x: S(1)\nw: S(0)\nmm: S(0)");
  const Result<GraphRunReport> report = run(*placed);
  ASSERT_TRUE(report.ok()) << report.status();
  for (const RankTrace& trace : report->traces) {
    std::vector<std::string> causes;
    for (const TraceSpan& span : trace.spans) causes.push_back(span.name + " of " + span.cause);
    const std::vector<std::string> expected{"mm of mm", "reduce_scatter of relu, input 0",
                                            "relu of relu", "sum of sum"};
    ASSERT_GE(causes.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), causes.begin()))
        << fmt::format("{}", fmt::join(causes, "; "));
    EXPECT_EQ(trace.spans[1].from, "P(sum)");
    EXPECT_EQ(trace.spans[1].to, "S(0)");
    EXPECT_GT(trace.spans[1].bytes, 0);
    EXPECT_GT(trace.spans[1].predicted_us, 0);
  }
}

TEST(HandPlacement, WrongLinesAreNamed) {
  EXPECT_EQ(message_of(parse_placement_lines("x: R\ny R\n").status()),
            "line 2: \"y R\" has no `:`; expected `GLOB: LAYOUT` or `rules GLOB: RULE; RULE`");
  GraphBuilder builder("one", shipped_registry());
  const ValueId x = builder.add_given(ValueKind::kInput, "x", meta(DType::kF64, {4}));
  builder.add_output(builder.add("relu", {{"self", x}}));
  const auto placed = place(builder, "a=2", "");
  Planner planner(std::make_shared<AlphaBetaModel>(*Mesh::parse("a=2")));
  Selector selector(shipped_registry(), planner);
  const auto fault = [&](std::string_view line) {
    return std::string(message_of(
        place_graph(placed->resolved, *parse_placement_lines(line), selector, {}).status()));
  };
  EXPECT_EQ(fault("relo: R"),
            "line 1: no value has the name or path \"relo\"; did you mean \"relu\"?");
  EXPECT_EQ(fault("\nrules rely: S(0) | S(0)"),
            "line 2: no node has the name \"rely\"; did you mean \"relu\"?");
  EXPECT_EQ(fault("x: S(1)").rfind("line 1: \"x\": ", 0), 0u) << fault("x: S(1)");
  EXPECT_EQ(fault("rules relu: P(sum) | P(sum)"),
            "node \"relu\" (relu): relu has no rule P(sum) | P(sum) for this call; `onedim rules` "
            "lists those it has");
}

}  // namespace
}  // namespace onedim
