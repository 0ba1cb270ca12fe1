// AutoParallel's own solution of the 2-layer Llama on 8x8 H100, with its price of every node and
// edge; and prices and strategies that it does not have, by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/input_file.hpp"
#include "core/base/text.hpp"
#include "core/cost/make_cost_model.hpp"
#include "core/graph/graph_builder.hpp"
#include "core/graph/graph_read.hpp"
#include "core/graph/node_strategy.hpp"
#include "tests/shipped_registry.hpp"
#include "tools/autoparallel_check.hpp"
#include "tools/autoparallel_report.hpp"

namespace onedim {
namespace {

constexpr const char* kGraph = ONEDIM_TEST_DATA "/llama3-8b-2layers.json.gz";
constexpr const char* kSolution = ONEDIM_TEST_DATA "/llama3-8b-2layers.8x8.json.gz";

AutoParallelPrices prices_on(const Mesh& mesh) {
  return *AutoParallelPrices::create(
      *make_cost_model(*load_cluster("h100"), mesh, "autoparallel-h100"));
}

TEST(AutoParallelGolden, EveryNodeAndEdge) {
  const Graph graph = *read_graph(kGraph);
  const ResolvedGraph resolved = *resolve_graph(graph, shipped_registry());
  const Result<AutoParallelSolution> solution = read_autoparallel_solution(kSolution, resolved);
  ASSERT_TRUE(solution.ok()) << solution.status();
  const AutoParallelPriced priced =
      *price_autoparallel(resolved, *solution, prices_on(solution->mesh));
  EXPECT_NEAR(priced.communication_us, 25432.9068218298, 1e-6);
  EXPECT_NEAR(priced.compute_us, 27619.43343563588, 1e-6);
  EXPECT_EQ(priced.transitions, 73);
  const AutoParallelCheck check = check_autoparallel(resolved, *solution, priced);
  for (const StrategyException& exception : check.exceptions)
    ADD_FAILURE() << node_text(graph.nodes[exception.node]) << ": " << exception.reason;
  EXPECT_TRUE(check.is_fine());
  EXPECT_EQ(check.compared, 570 + 712 + 2);
  EXPECT_LE(check.most_difference, 1e-12);
  // What is told, against the file itself.
  const nlohmann::json told = AutoParallelReport{resolved, *solution, priced, check}.json();
  const nlohmann::json file = nlohmann::json::parse(*read_text_file(kSolution));
  int edges = 0, nodes = 0;
  for (const nlohmann::json& node : told["nodes"]) {
    const nlohmann::json& golden = file["nodes"].at(node["name"].get<std::string>());
    const double us = golden["compute_us"];
    EXPECT_NEAR(node["compute_us"].get<double>(), us, 1e-6 * us) << node;
    nodes += us > 0;
    const nlohmann::json inputs = golden.value("inputs", nlohmann::json::array());
    ASSERT_EQ(node["inputs"].size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const double edge_us = inputs[i]["comm_us"];
      EXPECT_NEAR(node["inputs"][i]["us"].get<double>(), edge_us, 1e-6 * edge_us) << node;
      edges += edge_us > 0;
    }
  }
  EXPECT_EQ(told["nodes"].size(), file["nodes"].size());
  EXPECT_EQ(nodes, 304);
  EXPECT_EQ(edges, 69);
}

// One node of a graph, its layouts as text.
class AutoParallelNodes : public testing::Test {
 protected:
  using Inputs = std::vector<std::pair<const char*, TensorMeta>>;
  static TensorMeta meta(DType dtype, Dims shape) {
    return TensorMeta::contiguous(dtype, std::move(shape));
  }
  void make(std::string_view op, const Inputs& inputs, GraphBuilder::Attributes attributes = {}) {
    GraphBuilder builder("one", shipped_registry());
    std::vector<NodeInput> slots;
    for (const auto& [name, tensor] : inputs)
      slots.push_back({name, false, {builder.add_given(ValueKind::kInput, name, tensor)}});
    builder.add_node(op, std::move(slots), std::move(attributes));
    Result<Graph> graph = builder.finish();
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
    resolved_ = *resolve_graph(graph_, shipped_registry());
  }
  std::vector<Layout> layouts(std::span<const OptionalMeta> metas, std::string_view texts) const {
    std::vector<Layout> read;
    for (const std::string_view text : split_top_level(texts, ';')) {
      const size_t slot = read.size();
      read.push_back(*parse_layout(text, mesh_, static_cast<int>(metas[slot]->shape.size())));
    }
    return read;
  }
  void place(std::string_view inputs, std::string_view outputs) {
    const ResolvedNode& node = resolved_.nodes.back();
    std::vector<OptionalMeta> made;
    for (const OptionalOutput& output : node.outputs) made.push_back(output->meta);
    inputs_ = layouts(node.call.inputs, inputs);
    outputs_ = layouts(made, outputs);
  }
  double us(std::string_view inputs, std::string_view outputs) {
    place(inputs, outputs);
    return *prices_on(mesh_).node_us(resolved_.nodes.back(), inputs_, outputs_);
  }
  Status strategy(std::string_view inputs, std::string_view outputs,
                  Policy policy = Policy::kFits) {
    place(inputs, outputs);
    return find_node_strategy(resolved_.nodes.back(), shipped_registry(), mesh_, inputs_, outputs_,
                              policy)
        .status();
  }
  // Of 0.7 of 3.35 x 2^40 bytes a second.
  static double memory_us(double bytes) { return bytes / (0.7 * 3.35 * 1099511.627776); }

  const Mesh mesh_ = *Mesh::parse("dp=8,tp=8");
  Graph graph_;
  ResolvedGraph resolved_;
  std::vector<Layout> inputs_, outputs_;
};

TEST_F(AutoParallelNodes, ArithmeticAtThePeakOfTheFirstTensor) {
  make("mm",
       {{"self", meta(DType::kBF16, {16384, 4096})}, {"mat2", meta(DType::kBF16, {4096, 4096})}});
  EXPECT_NEAR(us("R,R; R,R", "R,R"), 2.0 * 16384 * 4096 * 4096 / (0.7 * 989e6), 1e-6);
  EXPECT_NEAR(us("R,R; R,S(1)", "R,S(1)"), 2.0 * 16384 * 4096 * 512 / (0.7 * 989e6), 1e-6);
}

TEST_F(AutoParallelNodes, UnevenCutsRoundUp) {
  const TensorMeta wide = meta(DType::kF32, {100, 1000003});
  make("add.Tensor", {{"self", wide}, {"other", wide}});
  // 1000003 over 8: 125001; 100 over 8: 13, over 8 again: 2.
  EXPECT_NEAR(us("R,S(1); R,S(1)", "R,S(1)"), memory_us(3.0 * 4 * 100 * 125001), 1e-9);
  EXPECT_NEAR(us("S(0),S(0); S(0),S(0)", "S(0),S(0)"), memory_us(3.0 * 4 * 2 * 1000003), 1e-9);
}

TEST_F(AutoParallelNodes, ViewsAreFreeAndAllElseIsALaunchAtLeast) {
  const TensorMeta x = meta(DType::kF32, {64, 64});
  make("alias", {{"self", x}});
  EXPECT_EQ(us("R,R", "R,R"), 0);
  make("permute", {{"self", x}}, {{"dims", Value{ValueList{{int64_t{1}}, {int64_t{0}}}}}});
  EXPECT_EQ(us("R,R", "R,R"), 0);
  make("relu", {{"self", x}});
  EXPECT_EQ(us("R,R", "R,R"), 7);
}

// A size that stands among the arguments is not cut: the gradient counts with all its rows.
TEST_F(AutoParallelNodes, SizesToldByNumberStayWhole) {
  make("embedding_dense_backward",
       {{"grad_output", meta(DType::kF32, {16, 64, 4096})},
        {"indices", meta(DType::kI64, {16, 64})}},
       {{"num_weights", Value{int64_t{128000}}},
        {"padding_idx", Value{int64_t{-1}}},
        {"scale_grad_by_freq", Value{false}}});
  const double inputs = 4.0 * 16 * 64 * 4096 + 8.0 * 16 * 64;
  EXPECT_NEAR(us("R,R; R,R", "R,S(0)"), memory_us(inputs + 4.0 * 128000 * 4096), 1e-6);
  EXPECT_NEAR(us("R,S(2); R,R", "R,S(1)"),
              memory_us(4.0 * 16 * 64 * 512 + 8.0 * 16 * 64 + 4.0 * 128000 * 512), 1e-6);
}

TEST_F(AutoParallelNodes, LayoutsThatAreNoStrategy) {
  const TensorMeta x = meta(DType::kF32, {64, 64});
  make("relu", {{"self", x}});
  EXPECT_TRUE(strategy("S(0),S(0)", "S(0),S(0)").ok());
  EXPECT_EQ(message_of(strategy("R,P(sum)", "R,P(sum)")),
            "relu has no rule P(sum) | P(sum), as mesh dim tp would need");
  EXPECT_TRUE(absl::IsNotFound(strategy("S(0),R", "R,R")));
  make("mm", {{"self", x}, {"mat2", x}});
  EXPECT_TRUE(strategy("S(1),S(1); S(0),S(0)", "P(sum),P(sum)").ok());
  EXPECT_FALSE(strategy("S(1),R; S(0),R", "S(0),R").ok());
}

// 65 over 8 leaves 9, which 8 cuts to 2 and so leaves ranks empty; it `fits` all the same.
TEST_F(AutoParallelNodes, ThePolicyBinds) {
  make("relu", {{"self", meta(DType::kF32, {65, 7})}});
  EXPECT_TRUE(strategy("S(0),S(0)", "S(0),S(0)").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(strategy("S(0),S(0)", "S(0),S(0)", Policy::kNonempty)));
  EXPECT_TRUE(absl::IsInvalidArgument(strategy("S(1),R", "S(1),R")));
}

TEST_F(AutoParallelNodes, AMeshDimOfOneRankAsksForNoRule) {
  const TensorMeta x = meta(DType::kF32, {64, 64});
  make("relu", {{"self", x}});
  place("R,R", "R,R");
  const Mesh mesh = *Mesh::parse("dp=8,one=1");
  const Layout partial = *parse_layout("S(0),P(sum)", mesh, 2);
  EXPECT_TRUE(find_node_strategy(resolved_.nodes.back(), shipped_registry(), mesh, {&partial, 1},
                                 {&partial, 1}, Policy::kFits)
                  .ok());
}

}  // namespace
}  // namespace onedim
