// Prices of solutions that were placed: moves as the planner had them, nodes by the roofline, what
// merges behind a node by its state.
#include "core/graph/solution_price.hpp"

#include <gtest/gtest.h>

#include "core/cost/make_cost_model.hpp"
#include "tests/exec/placed_graph.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

PricedSolution priced(const PlacedGraph& placed, const CostModel& model, const Cluster& cluster) {
  Result<PricedSolution> result =
      price_solution(placed.resolved, placed.solution, model, Roofline(cluster.compute));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : PricedSolution{};
}

// By the prices that place() plans by, each move costs what its plan says.
void expect_as_planned(const PlacedGraph& placed, std::string_view mesh) {
  const auto model = test_model(mesh);
  const PricedSolution result = priced(placed, *model, *load_cluster("alpha_beta"));
  ASSERT_EQ(result.step_us.size(), 1u);
  EXPECT_GT(result.move_us(0), 0);
  EXPECT_DOUBLE_EQ(result.move_us(0), placed.solution.moves[0].plan->cost_us);
  EXPECT_DOUBLE_EQ(result.communication_us, result.move_us(0));
}

TEST(PriceSolution, AMoveThatIsSharedIsPaidOnce) {
  GraphBuilder builder("two", shipped_registry());
  const ValueId x =
      builder.add_given(ValueKind::kInput, "x", TensorMeta::contiguous(DType::kF64, {512, 512}));
  const ValueId y = builder.add("relu", {{"self", x}});
  builder.add_output(builder.add("neg", {{"self", y}}));
  builder.add_output(builder.add("abs", {{"self", y}}));
  expect_as_planned(*place(builder, "a=2", "x: S(0)\nrelu: S(1)"), "a=2");
}

TEST(PriceSolution, WhatIsSettledCostsItsState) {
  GraphBuilder builder("joint", shipped_registry());
  const ValueId x =
      builder.add_given(ValueKind::kInput, "x", TensorMeta::contiguous(DType::kF64, {3, 8}));
  const ValueId y = builder.add("custom.logsumexp", {{"self", x}}, {{"dim", Value{int64_t{1}}}});
  builder.add_output(builder.add("neg", {{"self", y}}));
  const auto placed = place(builder, "a=4", "x: S(1)");
  ASSERT_EQ(placed->solution.moves.size(), 1u);
  EXPECT_TRUE(is_settling(placed->solution.moves[0]));
  expect_as_planned(*placed, "a=4");
}

// By hand: a rank's share of the product, at the cluster's peak or its memory's.
TEST(PriceSolution, NodesByTheRoofline) {
  GraphBuilder builder("product", shipped_registry());
  const TensorMeta square = TensorMeta::contiguous(DType::kBF16, {8192, 8192});
  const ValueId x = builder.add_given(ValueKind::kInput, "x", square);
  const ValueId w = builder.add_given(ValueKind::kParam, "w", square);
  builder.add_output(
      builder.add("relu", {{"self", builder.add("mm", {{"self", x}, {"mat2", w}})}}));
  const Cluster cluster = *load_cluster("h100");
  const auto model = *make_cost_model(cluster, *Mesh::parse("a=4"));
  const PricedSolution result = priced(*place(builder, "a=4", "x: S(0)\nw: R"), *model, cluster);
  const ClusterCompute& compute = cluster.compute;
  const double peak = compute.peak_tflops[static_cast<size_t>(DType::kBF16)] * compute.efficiency;
  ASSERT_EQ(result.node_us.size(), 2u);
  EXPECT_NEAR(result.node_us[0], 2.0 * 2048 * 8192 * 8192 / (peak * 1e6), 1e-3);
  EXPECT_NEAR(result.node_us[1],
              2.0 * 2 * 2048 * 8192 / (compute.memory_gbs * compute.efficiency * 1e3), 1e-3);
  EXPECT_DOUBLE_EQ(result.compute_us, result.node_us[0] + result.node_us[1]);
  EXPECT_EQ(result.communication_us, 0);
}

}  // namespace
}  // namespace onedim
