#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/graph/layout_json.hpp"
#include "core/graph/solution_file.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Json strategy_json(const NodeStrategy& strategy, const Mesh& mesh) {
  Json rules = Json::array();
  for (const Rule& rule : strategy.rules) rules.push_back(format_conditional_rule(rule));
  Json json{{"rules", std::move(rules)}};
  if (!std::is_sorted(strategy.order.begin(), strategy.order.end())) {
    Json order = Json::array();
    for (const int64_t mesh_dim : strategy.order)
      order.push_back(mesh.name(static_cast<int>(mesh_dim)));
    json["order"] = std::move(order);
  }
  json["inputs"] = layouts_json(strategy.inputs, mesh);
  json["outputs"] = layouts_json(strategy.outputs, mesh);
  return json;
}

Json move_json(const Graph& graph, const ValueMove& move, const Mesh& mesh) {
  Json json{{"value", graph.values[move.values[0]].name}};
  if (move.values.size() > 1) {
    for (const ValueId value : move.values) json["values"].push_back(graph.values[value].name);
  }
  json["from"] = format_layout(move.from, mesh);
  json["to"] = format_layout(move.to, mesh);
  json["consumers"] = Json::array();
  for (const int node : move.consumers) json["consumers"].push_back(graph.nodes[node].name);
  json["output"] = move.is_output;
  json.update(plan_to_json(*move.plan, mesh));
  return json;
}

}  // namespace

std::string format_solution(const Graph& graph, const Solution& solution,
                            const SolutionPrices& prices) {
  const Mesh& mesh = solution.mesh;
  Json json{
      {"format", "onedim.plan/1"},       {"graph_hash", fmt::format("{:016x}", graph_hash(graph))},
      {"mesh", mesh.format()},           {"cluster", prices.cluster},
      {"cost_model", prices.cost_model}, {"given", Json::object()},
      {"nodes", Json::object()},         {"moves", Json::array()}};
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    if (graph.values[id].is_given())
      json["given"][graph.values[id].name] = layout_json(solution.given[id], mesh);
  }
  for (size_t node = 0; node < graph.nodes.size(); ++node)
    json["nodes"][graph.nodes[node].name] = strategy_json(solution.nodes[node], mesh);
  for (const ValueMove& move : solution.moves)
    json["moves"].push_back(move_json(graph, move, mesh));
  return json.dump() + "\n";
}

}  // namespace onedim
