#include "core/graph/solution_file.hpp"

#include <gtest/gtest.h>

#include "tests/exec/placed_graph.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

std::unique_ptr<PlacedGraph> moved_graph() {
  GraphBuilder builder("moved", shipped_registry());
  const TensorMeta six = TensorMeta::contiguous(DType::kF32, {6, 8});
  const ValueId x = builder.add_given(ValueKind::kInput, "x", six);
  const ValueId w =
      builder.add_given(ValueKind::kParam, "w", TensorMeta::contiguous(DType::kF32, {8, 4}));
  const ValueId y = builder.add("mm", {{"self", x}, {"mat2", w}});
  builder.add_output(builder.add("relu", {{"self", y}}));
  return place(builder, "a=2,b=2", "x: S(0),S(1)\nw: R,S(0)");
}

std::string text_of(const PlacedGraph& placed) {
  return format_solution(placed.graph, placed.solution, {"alpha_beta", ""});
}

// Why the text with the first `from` replaced is refused.
std::string fault(const PlacedGraph& placed, std::string_view from, std::string_view to) {
  std::string text = text_of(placed);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return std::string(message_of(parse_solution(text, "p.json", placed.resolved).status()));
}

TEST(SolutionFile, RoundTrips) {
  const auto placed = moved_graph();
  const std::string text = text_of(*placed);
  const Result<ReadSolution> read = parse_solution(text, "p.json", placed->resolved);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->prices.cluster, "alpha_beta");
  EXPECT_EQ(format_solution(placed->graph, read->solution, read->prices), text);
  placed->solution = read->solution;
  const Result<GraphRunReport> report = run(*placed);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal) << report->difference;
  EXPECT_EQ(report->verdict.moves, static_cast<int64_t>(read->solution.moves.size()));
}

TEST(SolutionFile, FaultsAreNamed) {
  const auto placed = moved_graph();
  EXPECT_EQ(fault(*placed, "\"mesh\"", "\"mash\""),
            "\"p.json\": unknown key \"mash\", expected one of format graph_hash mesh cluster "
            "cost_model given nodes moves; did you mean \"mesh\"?");
  EXPECT_TRUE(fault(*placed, "\"graph_hash\":\"", "\"graph_hash\":\"0")
                  .starts_with("\"p.json\": it was made for another graph"));
  EXPECT_EQ(fault(*placed, "\"w\":\"R,S(0)\"", "\"v\":\"R,S(0)\""),
            "\"p.json\": given: the graph has no value \"v\"");
  EXPECT_EQ(
      fault(*placed, "\"w\":\"R,S(0)\"", "\"w\":\"R,S(2)\"").rfind("\"p.json\": given \"w\": ", 0),
      0u);
  EXPECT_EQ(fault(*placed, "P(sum) | S(1), S(0)", "P(sum) | S(0), S(0)"),
            "\"p.json\": node \"mm\" (mm): mm has no rule P(sum) | S(0), S(0) for this call; "
            "`onedim rules` lists those it has");
  EXPECT_EQ(fault(*placed, "\"inputs\":[\"S(0),S(1)\"", "\"inputs\":[\"S(0),R\""),
            "\"p.json\": node \"mm\" (mm): inputs[0] is S(0),R, but its rules give S(0),S(1)");
  EXPECT_EQ(fault(*placed, "\"consumers\":[\"relu\"]", "\"consumers\":[\"rely\"]"),
            "\"p.json\": moves[0]: the graph has no node \"rely\"");
  EXPECT_TRUE(fault(*placed, "\"kind\":\"", "\"kind\":\"x")
                  .starts_with("\"p.json\": moves[0]: steps[0]: unknown kind of step \"x"));
}

// Steps that do not lead from one layout to the other are no plan.
TEST(SolutionFile, StepsMustFollowOneAnother) {
  const auto placed = moved_graph();
  ASSERT_EQ(placed->solution.moves.size(), 1u);
  Plan plan = *placed->solution.moves[0].plan;
  plan.steps.clear();
  placed->solution.moves[0].plan = std::make_shared<Plan>(plan);
  EXPECT_TRUE(message_of(parse_solution(text_of(*placed), "p.json", placed->resolved).status())
                  .starts_with("\"p.json\": moves[0]: the steps end at "));
}

}  // namespace
}  // namespace onedim
