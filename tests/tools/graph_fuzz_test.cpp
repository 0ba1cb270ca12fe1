// What a graph file may say, against the packs that are shipped: nodes of exported graphs with a
// few things wrong. Whatever stands there, the graph's checks or the op's infer answer, in one
// line.

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "core/graph/graph_check.hpp"
#include "core/graph/graph_infer.hpp"
#include "core/graph/graph_read.hpp"
#include "core/graph/graph_write.hpp"
#include "tests/random_seed.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

// A graph of this node alone, to which all else is given.
Graph alone(const Graph& graph, const GraphNode& node) {
  Graph result;
  std::map<ValueId, ValueId> ids;
  const auto keep = [&](ValueId& id, bool is_given) {
    if (id == kNoValue) return;
    const auto [found, is_new] = ids.try_emplace(id, result.value_count());
    if (is_new) {
      result.values.push_back(graph.values[id]);
      result.values.back().kind = is_given ? ValueKind::kInput : ValueKind::kIntermediate;
    }
    id = found->second;
  };
  result.nodes = {node};
  for (NodeInput& input : result.nodes[0].inputs) {
    for (ValueId& id : input.values) keep(id, true);
  }
  for (ValueId& id : result.nodes[0].outputs) keep(id, false);
  return result;
}

// One graph per op and attributes of the exported graphs.
std::vector<Graph> exported_nodes() {
  std::map<std::string, Graph> nodes;
  for (const char* name : {"bert-base-2layers", "opt-2layers", "llama3-8b-2layers"}) {
    const Result<Graph> graph = read_graph(fmt::format("{}/{}.json.gz", ONEDIM_TEST_DATA, name));
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) continue;
    for (const GraphNode& node : graph->nodes) {
      std::string key = node.op;
      for (const auto& [attribute, value] : node.attributes) key += ' ' + attribute;
      nodes.try_emplace(key, alone(*graph, node));
    }
  }
  std::vector<Graph> list;
  for (auto& [key, graph] : nodes) list.push_back(std::move(graph));
  return list;
}

class Mutation {
 public:
  Mutation(Graph& graph, std::mt19937_64& random) : graph_(graph), random_(random) {}

  void apply() {
    GraphNode& node = graph_.nodes[0];
    switch (random_() % 7) {
      case 0:
        if (!node.attributes.empty()) pick(node.attributes).second = random_value(0);
        break;
      case 1:
        if (!node.attributes.empty()) node.attributes.erase(node.attributes.begin());
        break;
      case 2:
        node.attributes.emplace_back(random_name(), random_value(0));
        break;
      case 3:
        if (!node.inputs.empty()) change_input(pick(node.inputs));
        break;
      case 4:
        if (!node.inputs.empty()) node.inputs.pop_back();
        break;
      default:
        change_meta(pick(graph_.values).meta);
    }
  }

 private:
  template <typename T>
  T& pick(std::vector<T>& list) {
    return list[random_() % list.size()];
  }
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[random_() % list.size()];
  }
  int64_t& pick(Dims& dims) { return dims[random_() % dims.size()]; }

  int64_t random_size() {
    const std::vector<int64_t> sizes = {0, 1, 2, 3, 7, 4096, int64_t{1} << 31, int64_t{1} << 61};
    return pick(sizes);
  }

  void change_input(NodeInput& input) {
    const uint64_t what = random_() % 4;
    if (what == 0) input.is_list = !input.is_list;
    if (what == 1) input.values.push_back(kNoValue);
    if (what == 2 && !input.values.empty()) input.values.pop_back();
    if (what == 3 && !input.values.empty()) {
      const ValueId other = static_cast<ValueId>(random_() % graph_.values.size());
      pick(input.values) = random_() % 3 == 0 ? kNoValue : other;
    }
  }

  void change_meta(TensorMeta& meta) {
    const uint64_t what = random_() % 4;
    if (what == 0) meta.dtype = static_cast<DType>(random_() % kDTypeCount);
    if (what == 1 && !meta.shape.empty()) pick(meta.shape) = random_size();
    if (what == 2 && !meta.strides.empty()) pick(meta.strides) = random_size();
    if (what == 3) {
      Dims shape(random_() % 7);
      for (int64_t& size : shape) size = random_size();
      if (checked_volume(shape) >= 0) meta = TensorMeta::contiguous(meta.dtype, std::move(shape));
    }
  }

  Value random_value(int depth) {
    const std::vector<int64_t> numbers = {-9,
                                          -1,
                                          0,
                                          1,
                                          3,
                                          64,
                                          int64_t{1} << 40,
                                          std::numeric_limits<int64_t>::max(),
                                          std::numeric_limits<int64_t>::min()};
    const std::vector<std::string> words = {"",     "nan",
                                            "-inf", "bf16",
                                            "sum",  "abk,kn->abn",
                                            "a,->", "...i,i",
                                            ",,,",  "contiguous_format"};
    switch (random_() % (depth < 2 ? 6 : 5)) {
      case 0:
        return {pick(numbers)};
      case 1:
        return {static_cast<double>(pick(numbers)) / 3};
      case 2:
        return {pick(words)};
      case 3:
        return {random_() % 2 == 0};
      case 4:
        return {};
      default:
        ValueList list(random_() % 5);
        for (Value& item : list) item = random_value(depth + 1);
        return {std::move(list)};
    }
  }

  std::string random_name() {
    const std::vector<std::string> names = {"dim",   "dims",  "size",    "other",
                                            "self",  "dtype", "keepdim", "equation",
                                            "scale", "index", "weight"};
    return pick(names);
  }

  Graph& graph_;
  std::mt19937_64& random_;
};

TEST(GraphFuzz, WhateverANodeSaysIsAnswered) {
  std::mt19937_64 random(random_seed());
  const std::vector<Graph> nodes = exported_nodes();
  ASSERT_GT(nodes.size(), 30u);
  int refused = 0, at_fault = 0, fine = 0;
  for (const Graph& node : nodes) {
    EXPECT_TRUE(infer_graph(node, shipped_registry()).is_fine()) << format_graph(node);
    for (int round = 0; round < 200; ++round) {
      Graph graph = node;
      for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) Mutation(graph, random).apply();
      const Status status = check_graph(graph);
      if (!status.ok()) {
        ++refused;
        EXPECT_EQ(message_of(status).find('\n'), std::string_view::npos) << status;
        continue;
      }
      const GraphInference inference = infer_graph(graph, shipped_registry());
      EXPECT_TRUE(inference.unknown_ops.empty());
      ++(inference.faults.empty() ? fine : at_fault);
      for (const std::string& fault : inference.faults)
        EXPECT_EQ(fault.find('\n'), std::string::npos) << fault << '\n' << format_graph(graph);
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(at_fault, 100);
  EXPECT_GT(fine, 100);
}

}  // namespace
}  // namespace onedim
