#include "tools/graph_summary.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/graph/liveness.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKinds = {ValueKind::kParam, ValueKind::kBuffer, ValueKind::kInput,
                               ValueKind::kTangent, ValueKind::kIntermediate};

struct KindTotal {
  int64_t values = 0;
  int64_t elements = 0;
  int64_t bytes = 0;
};

KindTotal total_of(const Graph& graph, ValueKind kind) {
  KindTotal total;
  for (const GraphValue& value : graph.values) {
    if (value.kind != kind) continue;
    ++total.values;
    total.elements += value.meta.element_count();
    total.bytes += value.meta.bytes();
  }
  return total;
}

int64_t count_of(const Graph& graph, Phase phase) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [phase](const GraphNode& node) { return node.phase == phase; });
}

size_t layer_count(const Graph& graph) {
  std::set<int> layers;
  for (const GraphNode& node : graph.nodes) {
    if (node.layer >= 0) layers.insert(node.layer);
  }
  return layers.size();
}

struct OpCount {
  std::string op;
  int64_t nodes = 0;
};

// The most frequent first, then by name.
std::vector<OpCount> op_counts(const Graph& graph) {
  std::map<std::string, int64_t> counts;
  for (const GraphNode& node : graph.nodes) ++counts[node.op];
  std::vector<OpCount> sorted;
  for (const auto& [op, nodes] : counts) sorted.push_back({op, nodes});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const OpCount& a, const OpCount& b) { return a.nodes > b.nodes; });
  return sorted;
}

struct Peak {
  int64_t bytes = 0;
  std::string node;
};

Peak peak_of(const Graph& graph, const Storages& storages) {
  const std::vector<int64_t> bytes = live_bytes(graph, storages);
  if (bytes.empty()) return {};
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return {*most, graph.nodes[static_cast<size_t>(most - bytes.begin())].name};
}

int64_t view_count(const Storages& storages) {
  int64_t count = 0;
  for (ValueId value = 0; value < storages.value_count(); ++value)
    count += storages.is_root(value) ? 0 : 1;
  return count;
}

Json check_json(const Graph& graph, const GraphInference& inference) {
  const Peak peak = peak_of(graph, inference.storages);
  return {{"unknown_ops", inference.unknown_ops},
          {"faults", inference.faults},
          {"views", view_count(inference.storages)},
          {"peak_bytes", peak.bytes},
          {"peak_node", peak.node}};
}

std::string check_text(const Graph& graph, const GraphInference& inference) {
  std::string text;
  if (!inference.unknown_ops.empty()) text += unknown_ops_text(inference.unknown_ops) + '\n';
  for (const std::string& fault : inference.faults) text += fault + '\n';
  if (!inference.is_fine()) return text + fmt::format("{} faults\n", inference.faults.size());
  const Peak peak = peak_of(graph, inference.storages);
  return fmt::format(
      "checked: every output is what its op makes; {} values are views; at most {} bytes are held "
      "at once, at node {}\n",
      view_count(inference.storages), peak.bytes, peak.node);
}

}  // namespace

Json graph_json(const Graph& graph, const GraphInference* inference) {
  Json kinds = Json::object();
  for (const ValueKind kind : kKinds) {
    const KindTotal total = total_of(graph, kind);
    kinds[std::string(name_of(kind))] = {
        {"values", total.values}, {"elements", total.elements}, {"bytes", total.bytes}};
  }
  Json ops = Json::array();
  for (const OpCount& count : op_counts(graph))
    ops.push_back({{"op", count.op}, {"nodes", count.nodes}});
  Json json{{"name", graph.name},
            {"nodes", graph.nodes.size()},
            {"values", graph.values.size()},
            {"outputs", graph.outputs.size()},
            {"gradients", graph.gradients.size()},
            {"layers", layer_count(graph)},
            {"phases",
             {{"forward", count_of(graph, Phase::kForward)},
              {"backward", count_of(graph, Phase::kBackward)}}},
            {"kinds", std::move(kinds)},
            {"ops", std::move(ops)}};
  if (inference != nullptr) json["check"] = check_json(graph, *inference);
  return json;
}

std::string graph_text(const Graph& graph, const GraphInference* inference) {
  std::string text = fmt::format(
      "{}: {} nodes ({} forward, {} backward), {} layers, {} outputs, {} gradients\n", graph.name,
      graph.nodes.size(), count_of(graph, Phase::kForward), count_of(graph, Phase::kBackward),
      layer_count(graph), graph.outputs.size(), graph.gradients.size());
  std::vector<TextRow> kinds = {{"kind", "values", "elements", "bytes"}};
  for (const ValueKind kind : kKinds) {
    const KindTotal total = total_of(graph, kind);
    if (total.values == 0) continue;
    kinds.push_back({std::string(name_of(kind)), fmt::to_string(total.values),
                     fmt::to_string(total.elements), fmt::to_string(total.bytes)});
  }
  std::vector<TextRow> ops = {{"op", "nodes"}};
  for (const OpCount& count : op_counts(graph))
    ops.push_back({count.op, fmt::to_string(count.nodes)});
  text += '\n' + format_table(kinds) + '\n' + format_table(ops);
  if (inference != nullptr) text += '\n' + check_text(graph, *inference);
  return text;
}

}  // namespace onedim
