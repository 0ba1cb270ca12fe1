#include "core/graph/liveness.hpp"

#include <gtest/gtest.h>

#include "core/graph/graph_check.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

GraphValue value_of(std::string name, ValueKind kind, int64_t size) {
  return {std::move(name), TensorMeta::contiguous(DType::kF32, {size}), kind, ""};
}

GraphNode node_of(std::string name, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  GraphNode node;
  node.name = std::move(name);
  node.op = "tiny.op";
  node.inputs = {{"x", true, std::move(inputs)}};
  node.outputs = std::move(outputs);
  return node;
}

// The example of the header, with b and c of 2 elements, d of 4.
Graph chain() {
  Graph graph;
  graph.values = {value_of("a", ValueKind::kInput, 2), value_of("b", ValueKind::kIntermediate, 2),
                  value_of("c", ValueKind::kIntermediate, 2),
                  value_of("d", ValueKind::kIntermediate, 4)};
  graph.nodes = {node_of("b", {0}, {1}), node_of("c", {1}, {2}), node_of("d", {2, 2}, {3})};
  graph.outputs = {3};
  return graph;
}

TEST(Liveness, ValuesLiveFromMakerToLastUser) {
  EXPECT_EQ(value_ranges(chain()), (std::vector<LiveRange>{{-1, 0}, {0, 1}, {1, 2}, {2, 3}}));
}

TEST(Liveness, AStorageLivesAsLongAsItsViews) {
  const Graph graph = chain();
  Storages storages(graph);
  storages.add_view(2, 1, 0);
  EXPECT_EQ(storage_ranges(graph, storages),
            (std::vector<LiveRange>{{-1, 3}, {0, 2}, {0, 2}, {2, 3}}));
  EXPECT_EQ(live_bytes(graph, storages), (std::vector<int64_t>{16, 16, 32}));
}

TEST(Liveness, WhatNobodyUsesLivesWhereItIsMade) {
  Graph graph = chain();
  graph.outputs.clear();
  EXPECT_EQ(value_ranges(graph)[3], (LiveRange{2, 2}));
  graph.values[0].kind = ValueKind::kTangent;
  graph.nodes[0].inputs[0].values = {kNoValue};
  EXPECT_EQ(value_ranges(graph)[0], (LiveRange{-1, -1}));
  EXPECT_EQ(live_bytes(graph, Storages(graph)), (std::vector<int64_t>{8, 16, 24}));
}

TEST(Liveness, GradientsLiveToTheEnd) {
  Graph graph = chain();
  graph.values[0].kind = ValueKind::kParam;
  graph.gradients = {{0, 1}};
  EXPECT_EQ(value_ranges(graph)[1], (LiveRange{0, 3}));
}

TEST(Liveness, AGraphWithoutNodes) {
  Graph graph;
  EXPECT_TRUE(live_bytes(graph, Storages(graph)).empty());
  graph.values = {value_of("a", ValueKind::kInput, 2)};
  graph.outputs = {0};
  EXPECT_EQ(value_ranges(graph)[0], (LiveRange{-1, 0}));
  EXPECT_TRUE(live_bytes(graph, Storages(graph)).empty());
}

struct RandomGraph {
  Graph graph;
  std::vector<ValueId> sources;  // per value: what it is a view of, kNoValue if nothing
};

RandomGraph random_graph(std::mt19937_64& random) {
  RandomGraph result;
  Graph& graph = result.graph;
  const auto add_value = [&](ValueKind kind) {
    graph.values.push_back(value_of(fmt::format("v{}", graph.value_count()), kind,
                                    static_cast<int64_t>(random() % 5)));
    result.sources.push_back(kNoValue);
    return graph.value_count() - 1;
  };
  const auto any_value = [&] { return static_cast<ValueId>(random() % graph.values.size()); };
  for (uint64_t i = 0; i < 1 + random() % 4; ++i) add_value(static_cast<ValueKind>(random() % 4));
  const uint64_t node_count = random() % 12;
  for (uint64_t i = 0; i < node_count; ++i) {
    std::vector<ValueId> inputs;
    for (uint64_t k = 0; k < random() % 4; ++k)
      inputs.push_back(random() % 6 == 0 ? kNoValue : any_value());
    std::vector<ValueId> outputs;
    for (uint64_t k = 0; k < random() % 3; ++k) {
      const ValueId source = inputs.empty() ? kNoValue : inputs[random() % inputs.size()];
      outputs.push_back(random() % 6 == 0 ? kNoValue : add_value(ValueKind::kIntermediate));
      if (outputs.back() != kNoValue && random() % 2 == 0) result.sources.back() = source;
    }
    graph.nodes.push_back(node_of(fmt::format("n{}", i), std::move(inputs), std::move(outputs)));
  }
  for (uint64_t i = 0; i < random() % 3; ++i)
    graph.outputs.push_back(random() % 4 == 0 ? kNoValue : any_value());
  return result;
}

// By definition: a value is held at a step if it is there by then and something needs it from then
// on.
struct BruteForce {
  const Graph& graph;
  const std::vector<ValueId>& sources;

  bool uses(int step, ValueId value) const {
    for (const NodeInput& input : graph.nodes[step].inputs) {
      if (std::count(input.values.begin(), input.values.end(), value) > 0) return true;
    }
    return false;
  }
  int maker(ValueId value) const {
    for (int step = 0; step < graph.node_count(); ++step) {
      const std::vector<ValueId>& outputs = graph.nodes[step].outputs;
      if (std::count(outputs.begin(), outputs.end(), value) > 0) return step;
    }
    return -1;
  }
  bool is_held(ValueId value, int step) const {
    const int made = maker(value);
    if (step < made) return false;
    if (step == made) return true;
    for (int later = std::max(step, 0); later < graph.node_count(); ++later) {
      if (uses(later, value)) return true;
    }
    return std::count(graph.outputs.begin(), graph.outputs.end(), value) > 0;
  }
  ValueId root(ValueId value) const {
    return sources[value] == kNoValue ? value : root(sources[value]);
  }
  bool is_storage_held(ValueId value, int step) const {
    const ValueKind kind = graph.values[root(value)].kind;
    if (kind != ValueKind::kIntermediate && kind != ValueKind::kTangent) return true;
    for (ValueId other = 0; other < graph.value_count(); ++other) {
      // Also between two values that hold it: what lies in it is read later.
      if (root(other) != root(value)) continue;
      for (int later = step; later <= graph.node_count(); ++later) {
        if (maker(root(value)) <= step && is_held(other, later)) return true;
      }
    }
    return false;
  }
};

TEST(Liveness, RandomGraphsAgreeWithBruteForce) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 500; ++round) {
    const RandomGraph drawn = random_graph(random);
    const Graph& graph = drawn.graph;
    ASSERT_TRUE(check_graph(graph).ok()) << check_graph(graph);
    const BruteForce brute{graph, drawn.sources};
    Storages storages(graph);
    for (ValueId value = 0; value < graph.value_count(); ++value) {
      if (drawn.sources[value] != kNoValue) storages.add_view(value, drawn.sources[value], 0);
    }
    const std::vector<LiveRange> values = value_ranges(graph);
    const std::vector<LiveRange> stored = storage_ranges(graph, storages);
    const std::vector<int64_t> bytes = live_bytes(graph, storages);
    for (int step = -1; step <= graph.node_count(); ++step) {
      int64_t held = 0;
      for (ValueId value = 0; value < graph.value_count(); ++value) {
        EXPECT_EQ(values[value].holds(step), brute.is_held(value, step)) << value << ' ' << step;
        const bool is_stored = brute.is_storage_held(value, step);
        EXPECT_EQ(stored[value].holds(step), is_stored) << value << ' ' << step;
        if (is_stored && brute.root(value) == value) held += graph.values[value].meta.bytes();
      }
      if (step >= 0 && step < graph.node_count()) {
        EXPECT_EQ(bytes[step], held) << step;
      }
    }
  }
}

}  // namespace
}  // namespace onedim
