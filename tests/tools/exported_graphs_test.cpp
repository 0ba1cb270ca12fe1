// The exported graphs, shrunk, placed by hand and run on simulated ranks.

#include <gtest/gtest.h>

#include <map>

#include "core/cost/make_cost_model.hpp"
#include "core/exec/graph_run.hpp"
#include "core/graph/graph_infer.hpp"
#include "core/graph/graph_read.hpp"
#include "core/graph/graph_rewrite.hpp"
#include "core/graph/graph_shrink.hpp"
#include "core/graph/hand_placement.hpp"
#include "tests/shipped_registry.hpp"
#include "tools/graph_values.hpp"
#include "tools/index_bounds.hpp"

namespace onedim {
namespace {

struct Exported {
  const char* file;
  const char* sizes;
};
constexpr Exported kLlama{"llama3-8b-2layers",
                          "128256=96,14336=48,8192=16,4096=64,1024=16,128=4,64=2,32=16,16=8,8=4"};
constexpr Exported kBert{"bert-base-2layers",
                         "30522=61,768=24,3072=48,512=20,128=12,64=6,12=4,8=4"};
constexpr Exported kOpt{"opt-2layers", "50272=50,768=24,3072=48,2050=18,128=16,64=6,12=4,8=4"};
constexpr Exported kQwen{"qwen3-2layers", "151936=60,1024=16,2048=32,3072=48,128=8,64=4,16=4,8=2"};

Graph exported(const Exported& model) {
  Result<Graph> graph = read_graph(std::string(ONEDIM_TEST_DATA "/") + model.file + ".json.gz");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph{};
}

Graph shrunk(const Exported& model) {
  const Result<std::vector<SizeChange>> sizes = parse_size_changes(model.sizes);
  EXPECT_TRUE(sizes.ok()) << sizes.status();
  Result<Graph> graph = shrink_graph(exported(model), shipped_registry(), *sizes);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph{};
}

struct Outcome {
  GraphRunReport report;
  int collectives = 0;
  std::map<std::string, int> by_kind;  // collectives over the mesh dim tp alone
};

void run_on(const ResolvedGraph& resolved, const Solution& solution,
            std::optional<double> most_error, Outcome& outcome) {
  const Result<GraphTask> task = make_graph_task(resolved, solution);
  ASSERT_TRUE(task.ok()) << task.status();
  const Result<GraphValues> values = draw_graph_values(resolved, solution, 1);
  ASSERT_TRUE(values.ok()) << values.status();
  GraphRunOptions options;
  options.most_error = most_error;
  Result<GraphRunReport> report = run_graph_on_sim(*task, values->whole, values->locals, options);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->is_equal) << report->difference;
  EXPECT_EQ(report->verdict.nodes, resolved.graph->node_count());
  outcome.report = *std::move(report);
}

// In the graph's own dtypes, and in f64, where outputs must agree to 1e-9.
Outcome run(const Exported& model, std::string_view mesh, std::string_view lines) {
  Outcome outcome;
  const Graph graph = shrunk(model);
  const Result<ResolvedGraph> resolved = resolve_graph(graph, shipped_registry());
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  const Result<std::vector<PlacementLine>> parsed = parse_placement_lines(lines);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  Planner planner(make_cost_model(*load_cluster("alpha_beta"), *Mesh::parse(mesh), "").value());
  Selector selector(shipped_registry(), planner);
  const Result<Solution> solution = place_graph(*resolved, *parsed, selector, {});
  EXPECT_TRUE(solution.ok()) << solution.status();
  if (!solution.ok()) return outcome;
  for (const ValueMove& move : solution->moves) {
    outcome.collectives += move.plan->collective_count;
    for (const PlanStep& step : move.plan->steps) {
      if (step.mesh_dims == MeshDimSet{1} << (planner.mesh().ndim() - 1))
        ++outcome.by_kind[std::string(step_kind_name(step.kind))];
    }
  }
  run_on(*resolved, *solution, std::nullopt, outcome);
  const Result<Graph> wide = widen_graph(graph, shipped_registry());
  EXPECT_TRUE(wide.ok()) << wide.status();
  if (!wide.ok()) return outcome;
  const Result<ResolvedGraph> resolved_wide = resolve_graph(*wide, shipped_registry());
  EXPECT_TRUE(resolved_wide.ok()) << resolved_wide.status();
  run_on(*resolved_wide, *solution, 1e-9, outcome);
  return outcome;
}

// The same nodes with the same links, and nothing that the packs would make otherwise.
TEST(ExportedGraphs, ShrinkingKeepsTheirStructure) {
  for (const Exported& model : {kLlama, kBert, kOpt, kQwen}) {
    const Graph before = exported(model), behind = shrunk(model);
    ASSERT_EQ(before.nodes.size(), behind.nodes.size());
    for (size_t node = 0; node < before.nodes.size(); ++node) {
      EXPECT_EQ(before.nodes[node].op, behind.nodes[node].op);
      EXPECT_EQ(before.nodes[node].inputs, behind.nodes[node].inputs);
      EXPECT_EQ(before.nodes[node].outputs, behind.nodes[node].outputs);
    }
    int64_t elements = 0;
    for (size_t value = 0; value < before.values.size(); ++value) {
      EXPECT_EQ(before.values[value].meta.shape.size(), behind.values[value].meta.shape.size());
      EXPECT_EQ(before.values[value].meta.dtype, behind.values[value].meta.dtype);
      elements = std::max(elements, behind.values[value].meta.element_count());
    }
    EXPECT_LE(elements, 1 << 14) << model.file;
    EXPECT_TRUE(infer_graph(behind, shipped_registry()).is_fine()) << model.file;
  }
}

TEST(ExportedGraphs, WrongSizesAreNamed) {
  const auto fault = [](std::string_view sizes) {
    return std::string(message_of(parse_size_changes(sizes).status()));
  };
  EXPECT_EQ(fault("4096"), "\"4096\" is no change of a size; expected OLD=NEW, such as 4096=64");
  EXPECT_EQ(fault("4096=0"),
            "\"4096=0\" is no change of a size; expected OLD=NEW, such as 4096=64");
  EXPECT_EQ(fault("4=2"), "4=2: sizes below 8 stand for dims and counts too and stay");
  EXPECT_EQ(fault("16=8,16=4"), "the size 16 is changed twice");
  const Graph graph = exported(kLlama);
  const auto shrink = [&](std::string_view sizes) {
    return std::string(
        message_of(shrink_graph(graph, shipped_registry(), *parse_size_changes(sizes)).status()));
  };
  EXPECT_EQ(shrink("4097=64"), "nothing in the graph has the size 4097");
  // 4096 is 32 heads of 128.
  EXPECT_TRUE(shrink("4096=64").starts_with("node \"view_6\" (view): ")) << shrink("4096=64");
}

// Tokens lie in the table of embeddings, positions in theirs, types in theirs.
TEST(ExportedGraphs, IndicesStayWithinWhatTheyIndex) {
  const auto bound = [](const Exported& model, std::string_view name) -> int64_t {
    const Graph graph = shrunk(model);
    const Result<ResolvedGraph> resolved = resolve_graph(graph, shipped_registry());
    const std::vector<int64_t> bounds = index_bounds(*resolved);
    for (size_t value = 0; value < bounds.size(); ++value) {
      if (graph.values[value].name == name) return bounds[value];
    }
    return -1;
  };
  EXPECT_EQ(bound(kLlama, "primals_23"), 96);
  EXPECT_EQ(bound(kBert, "input_ids"), 61);
  EXPECT_EQ(bound(kBert, "b_bert_embeddings_token_type_ids"), 2);
  EXPECT_EQ(bound(kQwen, "input_ids"), 60);
}

TEST(ExportedGraphs, LlamaDataParallel) {
  constexpr std::string_view kBatch = "primals_23: S(0)\ntangents_1: S(0)\n*/add.Tensor: S(0)";
  const Outcome on_4 = run(kLlama, "dp=4", kBatch);
  EXPECT_EQ(on_4.collectives, 21);  // one a gradient
  EXPECT_EQ(run(kLlama, "dp=8", kBatch).collectives, 21);
}

constexpr const char* kMegatron =
    "primals_23: S(0),R\n"
    "tangents_1: S(0),S(2)\n"
    "tok_embeddings.weight: R,S(0)\n"
    "layers.*.attention.w[qkv].weight: R,S(0)\n"
    "layers.*.attention.wo.weight: R,S(1)\n"
    "layers.*.feed_forward.w[13].weight: R,S(0)\n"
    "layers.*.feed_forward.w2.weight: R,S(1)\n"
    "output.weight: R,S(0)\n";

// Batches over dp, heads over tp: no weight is gathered, a block reduces twice a direction.
TEST(ExportedGraphs, LlamaDataAndTensorParallel) {
  const std::string lines =
      fmt::format("{}*tok_embeddings/embedding: S(0),R\nlayers.?/add.Tensor: S(0),R", kMegatron);
  for (const std::string_view mesh : {"dp=2,tp=2", "dp=2,tp=4"}) {
    const Outcome outcome = run(kLlama, mesh, lines);
    EXPECT_EQ(outcome.by_kind.count("all_gather"), 0u) << mesh;
    EXPECT_EQ(outcome.by_kind.count("all_to_all"), 0u) << mesh;
    EXPECT_LE(outcome.by_kind.at("all_reduce"), 14) << mesh;
  }
}

// The residual is cut along the sequence.
TEST(ExportedGraphs, LlamaSequenceParallel) {
  const std::string lines = fmt::format(
      "{}*tok_embeddings/embedding: S(0),S(1)\nlayers.?/add.Tensor: S(0),S(1)", kMegatron);
  const Outcome outcome = run(kLlama, "dp=2,tp=4", lines);
  EXPECT_GT(outcome.by_kind.at("reduce_scatter"), 0);
}

// What select makes of cut weights without a word on what nodes make.
TEST(ExportedGraphs, LlamaPlacedBySelect) { run(kLlama, "dp=2,tp=2", kMegatron); }

TEST(ExportedGraphs, EncoderAndDecoders) {
  run(kBert, "dp=2,tp=2",
      "input_ids: S(0),R\nattention_mask: S(0),R\n*.query.*: R,S(0)\n*.key.*: R,S(0)\n"
      "*.value.*: R,S(0)\n*intermediate.dense.*: R,S(0)\n*encoder*output.dense.weight: R,S(1)");
  run(kOpt, "dp=2,tp=2",
      "input_ids: S(0),R\n*self_attn.[qkv]_proj.*: R,S(0)\n*fc1.*: R,S(0)\n"
      "*out_proj.weight: R,S(1)\n*fc2.weight: R,S(1)\n*embed_tokens.weight: R,S(0)");
  run(kQwen, "dp=2,tp=2",
      "input_ids: S(0),R\n*self_attn.[qkv]_proj.weight: R,S(0)\n*.mlp.gate_proj.weight: R,S(0)\n"
      "*.mlp.up_proj.weight: R,S(0)\n*.o_proj.weight: R,S(1)\n*.down_proj.weight: R,S(1)");
}

}  // namespace
}  // namespace onedim
