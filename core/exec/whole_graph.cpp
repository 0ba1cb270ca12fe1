#include "core/exec/whole_graph.hpp"

#include <algorithm>

#include "core/graph/liveness.hpp"
#include "core/pack/variant.hpp"

namespace onedim {
namespace {

bool writes(const ResolvedGraph& resolved) {
  return std::any_of(resolved.nodes.begin(), resolved.nodes.end(), [](const ResolvedNode& node) {
    return !written_slots(*node.op, node.call).empty();
  });
}

Status run_node(const GraphNode& node, const ResolvedNode& resolved, std::vector<Tensor>& values) {
  std::vector<Tensor*> inputs(resolved.slots.size(), nullptr);
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (resolved.slots[slot] != kNoValue) inputs[slot] = &values[resolved.slots[slot]];
  }
  Result<std::vector<std::optional<Tensor>>> outputs = run_op(*resolved.op, resolved.call, inputs);
  if (!outputs.ok()) return annotate(outputs.status(), node_text(node) + " on whole tensors");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) values[node.outputs[i]] = *std::move((*outputs)[i]);
  }
  return absl::OkStatus();
}

}  // namespace

Result<std::vector<Tensor>> run_whole_graph(const ResolvedGraph& resolved,
                                            std::span<const Tensor> given) {
  const Graph& graph = *resolved.graph;
  const bool is_copied = writes(resolved);
  std::vector<Tensor> values(graph.values.size());
  for (size_t value = 0; value < values.size(); ++value) {
    if (graph.values[value].is_given())
      values[value] = is_copied ? given[value].clone() : given[value];
  }
  const Tensor none;
  const std::vector<LiveRange> ranges = value_ranges(graph);
  std::vector<std::vector<ValueId>> ends(graph.nodes.size());
  for (ValueId value = 0; value < graph.value_count(); ++value) {
    const int last = ranges[value].last;
    if (last >= 0 && last < graph.node_count()) ends[last].push_back(value);
  }
  for (int node = 0; node < graph.node_count(); ++node) {
    Status status = run_node(graph.nodes[node], resolved.nodes[node], values);
    if (!status.ok()) return status;
    for (const ValueId value : ends[node]) values[value] = none;
  }
  for (ValueId value = 0; value < graph.value_count(); ++value) {
    if (ranges[value].last < graph.node_count()) values[value] = none;
  }
  return values;
}

}  // namespace onedim
