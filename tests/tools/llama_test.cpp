#include "tools/models/llama.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/graph/graph_infer.hpp"
#include "core/graph/graph_read.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

Result<Graph> build(std::string_view name, LlamaShape shape) {
  return build_llama_forward(*find_llama(name), shape, shipped_registry());
}

int64_t param_elements(const Graph& graph) {
  int64_t elements = 0;
  for (const GraphValue& value : graph.values) {
    if (value.kind == ValueKind::kParam) elements += value.meta.element_count();
  }
  return elements;
}

// Per layer, op, role and description of the first output: how many nodes. The exported graph has
// an `alias` for each value with several users, which the built one does without.
std::map<std::string, int> forward_counts(const Graph& graph) {
  std::map<std::string, int> counts;
  for (const GraphNode& node : graph.nodes) {
    if (node.phase != Phase::kForward || node.op == "alias") continue;
    const TensorMeta& meta = graph.values[node.outputs[0]].meta;
    ++counts[fmt::format("{} {} {} {} {}", node.layer, node.op, node.role, format_meta(meta),
                         format_dims(meta.strides))];
  }
  return counts;
}

TEST(Llama, TheForwardIsTheExportedOne) {
  const Result<Graph> exported = read_graph(ONEDIM_TEST_DATA "/llama3-8b-2layers.json.gz");
  ASSERT_TRUE(exported.ok()) << exported.status();
  const Result<Graph> built = build("llama3-8b", {.layers = 2});
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(forward_counts(*built), forward_counts(*exported));
  EXPECT_EQ(param_elements(*built), param_elements(*exported));
  EXPECT_EQ(built->values[built->outputs[0]].meta, exported->values[exported->outputs[0]].meta);
}

TEST(Llama, SizesAreThoseOfTheModels) {
  const std::map<std::string, int64_t> elements = {{"llama3-8b", 8030261248},
                                                   {"llama3-70b", 70553706496},
                                                   {"llama3-405b", 405853388800},
                                                   {"llama3-1b", 1235814400}};
  for (const auto& [name, count] : elements) {
    const Result<Graph> graph = build(name, {.batch = 2, .sequence = 128});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(param_elements(*graph), count) << name;
    EXPECT_TRUE(infer_graph(*graph, shipped_registry()).is_fine()) << name;
  }
}

TEST(Llama, OneDTypeNeedsNoCastOfWeights) {
  const Result<Graph> graph =
      build("llama3-debug", {.batch = 1, .stored = DType::kF32, .computed = DType::kF32});
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const GraphNode& node : graph->nodes) {
    EXPECT_NE(node.op, "prims.convert_element_type") << node.name;
    EXPECT_EQ(node.role, "");
  }
  EXPECT_EQ(graph->values[graph->outputs[0]].meta,
            TensorMeta::contiguous(DType::kF32, {1, 2048, 2048}));
}

TEST(Llama, UnknownModelsAndOpsAreRefused) {
  EXPECT_EQ(message_of(find_llama("llama3-8B").status()),
            "no model \"llama3-8B\"; did you mean \"llama3-8b\"?; there are llama3-debug, "
            "llama3-1b, llama3-8b, llama3-70b, llama3-405b");
  const Registry nothing;
  const Result<Graph> graph = build_llama_forward(*find_llama("llama3-debug"), {}, nothing);
  EXPECT_EQ(message_of(graph.status()),
            "node \"prims_convert_element_type\" (prims.convert_element_type): no pack offers the "
            "op");
}

}  // namespace
}  // namespace onedim
