#include "tools/graph_plan_report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/redistribute/team.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

double to_us(int64_t ps) { return static_cast<double>(ps) / 1e6; }

// `layers.3.attention` as `layers.*.attention`.
std::string any_layer(std::string_view path) {
  std::string text;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, end);
    const bool is_number = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return c >= '0' && c <= '9';
    });
    text += is_number ? "*" : std::string(part);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (!path.empty()) text += ".";
  }
  return text;
}

std::string place_of(const GraphNode& node) {
  return any_layer(node.module.value_or("")) + "/" + node.op;
}

std::string value_text(const Graph& graph, ValueId value, std::span<const int> makers) {
  const GraphValue& described = graph.values[value];
  if (!described.path.empty()) return any_layer(described.path);
  if (makers[value] >= 0) return place_of(graph.nodes[makers[value]]);
  return described.name;
}

std::string cause_of(const Graph& graph, const ValueMove& move, std::span<const int> makers) {
  const std::string value = value_text(graph, move.values[0], makers);
  if (is_settling(move)) return "settles " + value;
  if (move.is_output) return "gives out " + value;
  if (move.consumers.empty()) return "goes on from " + value;
  const GraphNode& node = graph.nodes[move.consumers[0]];
  return fmt::format("{} {} takes {}", name_of(node.phase), place_of(node), value);
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1000 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

int64_t sum_of(std::span<const PlannedCollective> collectives, int64_t PlannedCollective::*what) {
  int64_t sum = 0;
  for (const PlannedCollective& one : collectives)
    sum += what == &PlannedCollective::count ? one.count : one.count * (one.*what);
  return sum;
}

}  // namespace

std::vector<PlannedCollective> planned_collectives(const Graph& graph, const Solution& solution) {
  const std::vector<int> makers = makers_of(graph);
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, int64_t>,
           PlannedCollective>
      kinds;
  for (const ValueMove& move : solution.moves) {
    for (const PlanStep& step : move.plan->steps) {
      if (!is_collective(step.kind)) continue;
      PlannedCollective one{std::string(step_kind_name(step.kind)),
                            format_mesh_dims(step.mesh_dims, solution.mesh),
                            format_layout(step.from, solution.mesh),
                            format_layout(step.to, solution.mesh),
                            cause_of(graph, move, makers),
                            step.bytes,
                            step.us,
                            0};
      const auto key = std::tuple(one.kind, one.mesh_dims, one.from, one.to, one.cause, one.bytes);
      ++kinds.try_emplace(key, std::move(one)).first->second.count;
    }
  }
  std::vector<PlannedCollective> list;
  for (auto& [key, one] : kinds) list.push_back(std::move(one));
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a.us * static_cast<double>(a.count) > b.us * static_cast<double>(b.count);
  });
  return list;
}

Json graph_plan_json(const Graph& graph, const GraphPlan& plan, const PlanSeconds& seconds) {
  Json collectives = Json::array();
  for (const PlannedCollective& one : planned_collectives(graph, plan.timed.solution)) {
    collectives.push_back({{"kind", one.kind},
                           {"mesh_dims", one.mesh_dims},
                           {"from", one.from},
                           {"to", one.to},
                           {"cause", one.cause},
                           {"bytes", one.bytes},
                           {"us", one.us},
                           {"count", one.count}});
  }
  return {
      {"graph", graph.name},
      {"mesh", plan.timed.solution.mesh.format()},
      {"objective_us", to_us(plan.objective_ps)},
      {"compute_us", to_us(plan.timed.total_compute_ps)},
      {"communication_us", to_us(plan.timed.communication_ps)},
      {"lower_bound_us", to_us(plan.lower_bound_ps)},
      {"gap", plan.gap()},
      {"optimal", plan.state == SolveState::kOptimal},
      {"parameter_bytes", plan.parameter_bytes},
      {"nodes", graph.node_count()},
      {"variables", plan.variables},
      {"edges", plan.edges},
      {"strategy_tables", plan.strategy_tables},
      {"moves", plan.timed.solution.moves.size()},
      {"collectives", std::move(collectives)},
      {"effort", plan.effort},
      {"stopped", plan.was_stopped},
      {"seconds", {{"load", seconds.load}, {"build", seconds.build}, {"solve", seconds.solve}}}};
}

std::string graph_plan_text(const Graph& graph, const GraphPlan& plan, const PlanSeconds& seconds) {
  const Mesh& mesh = plan.timed.solution.mesh;
  std::string text = fmt::format(
      "{} on {}: {} nodes, {} variables\n"
      "objective {:.2f} us: compute {:.2f}, communication {:.2f}\n"
      "lower bound {:.2f} us, gap {:.3g} %{}\n"
      "a rank holds {} of parameters at most\n",
      graph.name, mesh.format(), graph.node_count(), plan.variables, to_us(plan.objective_ps),
      to_us(plan.timed.total_compute_ps), to_us(plan.timed.communication_ps),
      to_us(plan.lower_bound_ps), 100 * plan.gap(),
      plan.state == SolveState::kOptimal ? ": optimal" : "", bytes_text(plan.parameter_bytes));
  const std::vector<PlannedCollective> collectives =
      planned_collectives(graph, plan.timed.solution);
  text +=
      fmt::format("{} moves with {} collectives, {} received by a rank\n",
                  plan.timed.solution.moves.size(), sum_of(collectives, &PlannedCollective::count),
                  bytes_text(sum_of(collectives, &PlannedCollective::bytes)));
  std::vector<TextRow> rows{{"collective", "over", "times", "bytes", "us each", "cause"}};
  for (const PlannedCollective& one : collectives) {
    rows.push_back({one.kind, one.mesh_dims, fmt::format("{}", one.count), bytes_text(one.bytes),
                    fmt::format("{:.1f}", one.us),
                    fmt::format("{}: {} -> {}", one.cause, one.from, one.to)});
  }
  if (!collectives.empty()) text += format_table(rows);
  return text + fmt::format("load {:.2f} s, build {:.2f} s, solve {:.2f} s{}\n", seconds.load,
                            seconds.build, seconds.solve,
                            plan.was_stopped ? fmt::format("; stopped by the time, the same again: "
                                                           "--effort {}",
                                                           plan.effort)
                                             : "");
}

}  // namespace onedim
