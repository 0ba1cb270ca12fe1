#include "tools/models/llama.hpp"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/graph/graph_infer.hpp"
#include "core/graph/graph_read.hpp"
#include "core/graph/value_json.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

using Build = Result<Graph>(const LlamaConfig&, const LlamaShape&, const Registry&);

Graph build(Build* builder, std::string_view name, const LlamaShape& shape) {
  Result<Graph> graph = builder(*find_llama(name), shape, shipped_registry());
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph{};
}

Graph exported_graph() {
  Result<Graph> graph = read_graph(ONEDIM_TEST_DATA "/llama3-8b-2layers.json.gz");
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph{};
}

// The graph without its `alias` nodes, whose values are what they are made of, and without the
// exporter's word for the model itself.
Graph plain(Graph graph) {
  std::vector<ValueId> sources(graph.values.size());
  for (ValueId id = 0; id < graph.value_count(); ++id) sources[id] = id;
  const auto replace = [&](ValueId& id) { id = id == kNoValue ? id : sources[id]; };
  std::vector<GraphNode> nodes;
  for (GraphNode& node : graph.nodes) {
    for (NodeInput& input : node.inputs) {
      for (ValueId& id : input.values) replace(id);
    }
    if (node.op == "alias") {
      sources[node.outputs[0]] = node.inputs[0].values[0];
      continue;
    }
    const std::string self = "L['self'].";
    if (node.module && node.module->rfind(self, 0) == 0) node.module->erase(0, self.size());
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  for (ValueId& id : graph.outputs) replace(id);
  for (Gradient& pair : graph.gradients) replace(pair.gradient);
  return graph;
}

// The names of `ours` by the values of `theirs`, those made by the same node of the order, and
// given ones by path or kind.
std::vector<std::string> names_in(const Graph& ours, const Graph& theirs) {
  std::vector<std::string> names(theirs.values.size());
  std::map<std::pair<ValueKind, std::string>, std::string> given;
  for (const GraphValue& value : ours.values) given[{value.kind, value.path}] = value.name;
  for (ValueId id = 0; id < theirs.value_count(); ++id) {
    const GraphValue& value = theirs.values[id];
    if (value.is_given()) names[id] = given[{value.kind, value.path}];
  }
  for (int i = 0; i < std::min(ours.node_count(), theirs.node_count()); ++i) {
    const std::vector<ValueId>&from = theirs.nodes[i].outputs, &to = ours.nodes[i].outputs;
    for (size_t slot = 0; slot < std::min(from.size(), to.size()); ++slot)
      names[from[slot]] = ours.values[to[slot]].name;
  }
  return names;
}

std::vector<std::string> own_names(const Graph& graph) { return names_in(graph, graph); }

std::string place_text(const GraphNode& node) {
  return fmt::format("{} {}", node.module.value_or("-"), node.layer);
}

// What a node does, to what, and what comes of it.
std::string text_of(const Graph& graph, const GraphNode& node,
                    const std::vector<std::string>& names) {
  std::string text = fmt::format("{} [{}] {}", node.op, node.role, name_of(node.phase));
  for (const NodeInput& input : node.inputs) {
    text += fmt::format(" {}{}", input.name, input.is_list ? "[]" : "");
    for (const ValueId id : input.values) text += fmt::format(" {}", names[id]);
  }
  for (const auto& [name, value] : node.attributes)
    text += fmt::format(" {}={}", name, value_to_json(value).dump());
  for (const ValueId id : node.outputs) {
    const TensorMeta& meta = graph.values[id].meta;
    text += fmt::format(" -> {} {}", format_meta(meta), format_dims(meta.strides));
  }
  return text;
}

void expect_same_values(const Graph& built, const Graph& exported) {
  using Given = std::tuple<ValueKind, std::string, TensorMeta>;
  std::vector<Given> ours, theirs;
  const auto meta_less = [](const Given& a, const Given& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  };
  for (const GraphValue& value : built.values)
    if (value.is_given()) ours.emplace_back(value.kind, value.path, value.meta);
  for (const GraphValue& value : exported.values)
    if (value.is_given()) theirs.emplace_back(value.kind, value.path, value.meta);
  EXPECT_EQ(ours.size(), theirs.size());
  std::sort(ours.begin(), ours.end(), meta_less);
  std::sort(theirs.begin(), theirs.end(), meta_less);
  EXPECT_EQ(ours, theirs);
}

std::vector<std::string> output_names(const Graph& graph, const std::vector<std::string>& names) {
  std::vector<std::string> list;
  for (const ValueId id : graph.outputs) list.push_back(id == kNoValue ? "-" : names[id]);
  return list;
}

// By the parameter's path, since names are the graph's own.
std::map<std::string, std::string> gradient_names(const Graph& graph,
                                                  const std::vector<std::string>& names) {
  std::map<std::string, std::string> list;
  for (const Gradient& pair : graph.gradients)
    list[graph.values[pair.param].path] = names[pair.gradient];
  return list;
}

int64_t param_elements(const Graph& graph) {
  int64_t elements = 0;
  for (const GraphValue& value : graph.values) {
    if (value.kind == ValueKind::kParam) elements += value.meta.element_count();
  }
  return elements;
}

TEST(Llama, TheJointGraphIsTheExportedOneNodeByNode) {
  const Graph exported = plain(exported_graph());
  const Graph built = build(build_llama_joint, "llama3-8b", {.layers = 2});
  expect_same_values(built, exported);
  ASSERT_EQ(built.node_count(), exported.node_count());
  const std::vector<std::string> ours = own_names(built), theirs = names_in(built, exported);
  int without_place = 0;
  for (int i = 0; i < built.node_count(); ++i) {
    const GraphNode &a = built.nodes[i], &b = exported.nodes[i];
    ASSERT_EQ(text_of(built, a, ours), text_of(exported, b, theirs)) << a.name << ", " << b.name;
    EXPECT_EQ(a.recompute, b.recompute) << a.name;
    if (b.module) {
      EXPECT_EQ(place_text(a), place_text(b)) << a.name;
      continue;
    }
    // Sums on the residual path behind the last layer's and before the first layer's norm: autograd
    // makes them where it has just left a layer, and exports them without a place.
    ++without_place;
    EXPECT_EQ(a.op, "add.Tensor");
    EXPECT_EQ(place_text(a),
              without_place == 1 ? "layers.1.ffn_norm 1" : "layers.0.attention_norm 0");
  }
  EXPECT_EQ(without_place, 2);
  EXPECT_EQ(output_names(built, ours), output_names(exported, theirs));
  EXPECT_EQ(gradient_names(built, ours), gradient_names(exported, theirs));
  EXPECT_EQ(built.forward_outputs, exported.forward_outputs);
}

TEST(Llama, TheForwardIsThatOfTheJointGraph) {
  const Graph joint = build(build_llama_joint, "llama3-8b", {.layers = 2});
  const Graph forward = build(build_llama_forward, "llama3-8b", {.layers = 2});
  ASSERT_LT(forward.node_count(), joint.node_count());
  EXPECT_EQ(joint.nodes[forward.node_count()].phase, Phase::kBackward);
  const std::vector<std::string> ours = own_names(forward), theirs = own_names(joint);
  for (int i = 0; i < forward.node_count(); ++i) {
    EXPECT_EQ(text_of(forward, forward.nodes[i], ours), text_of(joint, joint.nodes[i], theirs));
    EXPECT_EQ(place_text(forward.nodes[i]), place_text(joint.nodes[i]));
    EXPECT_EQ(forward.nodes[i].recompute, Recompute::kNone);
  }
  EXPECT_EQ(output_names(forward, ours),
            std::vector<std::string>{ours[forward.nodes.back().outputs[0]]});
  EXPECT_TRUE(forward.gradients.empty());
  EXPECT_EQ(forward.forward_outputs, 1);
}

// Nodes per layer and phase.
std::map<std::pair<int, Phase>, int> layer_counts(const Graph& graph) {
  std::map<std::pair<int, Phase>, int> counts;
  for (const GraphNode& node : graph.nodes) ++counts[{node.layer, node.phase}];
  return counts;
}

TEST(Llama, AllLayersAreAlike) {
  const Graph graph = build(build_llama_joint, "llama3-8b", {});
  const std::map<std::pair<int, Phase>, int> counts = layer_counts(graph);
  EXPECT_EQ(counts.size(), 66u);
  for (const auto& [key, count] : counts) {
    const bool is_layer = key.first >= 0, is_forward = key.second == Phase::kForward;
    EXPECT_EQ(count, is_forward ? (is_layer ? 80 : 14) : (is_layer ? 124 : 27)) << key.first;
  }
}

TEST(Llama, SizesAreThoseOfTheModels) {
  const std::map<std::string, int64_t> elements = {{"llama3-8b", 8030261248},
                                                   {"llama3-70b", 70553706496},
                                                   {"llama3-405b", 405853388800},
                                                   {"llama3-1b", 1235814400}};
  for (const auto& [name, count] : elements) {
    const Graph graph = build(build_llama_joint, name, {.batch = 2, .sequence = 128});
    EXPECT_EQ(param_elements(graph), count) << name;
    EXPECT_TRUE(infer_graph(graph, shipped_registry()).is_fine()) << name;
    EXPECT_EQ(graph.gradients.size() + 3, graph.outputs.size()) << name;
  }
}

TEST(Llama, AWeightUsedTwiceHasOneGradient) {
  const Graph graph =
      build(build_llama_joint, "llama3-1b", {.batch = 2, .sequence = 8, .layers = 1});
  ASSERT_FALSE(graph.gradients.empty());
  const GraphValue& embedding = graph.values[graph.gradients[0].param];
  EXPECT_EQ(embedding.path, "tok_embeddings.weight");
  const GraphNode& last = graph.nodes.back();
  EXPECT_EQ(last.op, "add.Tensor");
  EXPECT_EQ(last.outputs, std::vector<ValueId>{graph.gradients[0].gradient});
  EXPECT_EQ(graph.values[last.outputs[0]].meta, embedding.meta);
  int uses = 0;
  for (const GraphNode& node : graph.nodes)
    uses += node.role == "dtype_cast" && node.inputs[0].values[0] == graph.gradients[0].param;
  EXPECT_EQ(uses, 2);
}

TEST(Llama, OneDTypeNeedsNoCasts) {
  const Graph graph = build(build_llama_joint, "llama3-debug",
                            {.batch = 1, .stored = DType::kF32, .computed = DType::kF32});
  for (const GraphNode& node : graph.nodes) {
    EXPECT_NE(node.op, "prims.convert_element_type") << node.name;
    EXPECT_EQ(node.role, "");
  }
  EXPECT_EQ(graph.values[graph.outputs[0]].meta,
            TensorMeta::contiguous(DType::kF32, {1, 2048, 2048}));
}

TEST(Llama, GradientsAreStoredAsTheirWeights) {
  for (const DType stored : {DType::kF32, DType::kBF16, DType::kF16}) {
    const LlamaShape shape = {.batch = 1, .sequence = 8, .layers = 1, .stored = stored};
    const Graph graph = build(build_llama_joint, "llama3-debug", shape);
    EXPECT_EQ(graph.gradients.size(), 12u);
    for (const Gradient& pair : graph.gradients)
      EXPECT_EQ(graph.values[pair.param].meta, graph.values[pair.gradient].meta);
  }
}

TEST(Llama, UnknownModelsAndOpsAreRefused) {
  EXPECT_EQ(message_of(find_llama("llama3-8B").status()),
            "no model \"llama3-8B\"; there are llama3-debug, llama3-1b, llama3-8b, llama3-70b, "
            "llama3-405b; did you mean \"llama3-8b\"?");
  const Registry nothing;
  for (Build* builder : {build_llama_forward, build_llama_joint}) {
    const Result<Graph> graph = builder(*find_llama("llama3-debug"), {}, nothing);
    EXPECT_EQ(message_of(graph.status()),
              "node \"prims_convert_element_type\" (prims.convert_element_type): no pack offers "
              "the op");
  }
}

}  // namespace
}  // namespace onedim
