#include "core/graph/liveness.hpp"

#include <algorithm>

namespace onedim {
namespace {

constexpr int kBefore = -1;

bool is_held_throughout(ValueKind kind) {
  return kind == ValueKind::kParam || kind == ValueKind::kBuffer || kind == ValueKind::kInput;
}

}  // namespace

std::vector<LiveRange> value_ranges(const Graph& graph) {
  std::vector<LiveRange> ranges(graph.values.size(), {kBefore, kBefore});
  for (int step = 0; step < graph.node_count(); ++step) {
    for (const NodeInput& input : graph.nodes[step].inputs) {
      for (const ValueId value : input.values) {
        if (value != kNoValue) ranges[value].last = step;
      }
    }
    for (const ValueId value : graph.nodes[step].outputs) {
      if (value != kNoValue) ranges[value] = {step, step};
    }
  }
  for (const ValueId value : graph.outputs) {
    if (value != kNoValue) ranges[value].last = graph.node_count();
  }
  for (const Gradient& pair : graph.gradients) ranges[pair.gradient].last = graph.node_count();
  return ranges;
}

std::vector<LiveRange> storage_ranges(const Graph& graph, const Storages& storages) {
  std::vector<LiveRange> ranges = value_ranges(graph);
  for (ValueId value = 0; value < graph.value_count(); ++value) {
    LiveRange& root = ranges[storages.root_of(value)];
    root.first = std::min(root.first, ranges[value].first);
    root.last = std::max(root.last, ranges[value].last);
    if (is_held_throughout(graph.values[value].kind)) root = {kBefore, graph.node_count()};
  }
  for (ValueId value = 0; value < graph.value_count(); ++value)
    ranges[value] = ranges[storages.root_of(value)];
  return ranges;
}

std::vector<int64_t> live_bytes(const Graph& graph, const Storages& storages) {
  const std::vector<LiveRange> ranges = storage_ranges(graph, storages);
  std::vector<int64_t> changes(graph.nodes.size() + 1, 0);  // at each step, from the one before
  for (ValueId value = 0; value < graph.value_count(); ++value) {
    if (!storages.is_root(value) || ranges[value].last < 0) continue;
    changes[std::max(ranges[value].first, 0)] += storages.bytes_of(value);
    const size_t end = static_cast<size_t>(ranges[value].last) + 1;
    if (end < changes.size()) changes[end] -= storages.bytes_of(value);
  }
  for (size_t step = 1; step < changes.size(); ++step) changes[step] += changes[step - 1];
  changes.pop_back();
  return changes;
}

}  // namespace onedim
