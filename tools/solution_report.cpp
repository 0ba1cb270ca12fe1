#include "tools/solution_report.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/graph/layout_json.hpp"
#include "core/redistribute/team.hpp"
#include "tools/dearest.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

// Steps of one kind over the same mesh dims.
struct KindSum {
  int64_t count = 0;
  int64_t bytes = 0;
  double us = 0;
};

class Writer {
 public:
  explicit Writer(const SolutionReport& report)
      : report_(report),
        task_(report.task),
        graph_(report.task.graph()),
        mesh_(report.task.mesh()),
        moves_(report.task.solution->moves) {
    for (size_t move = 0; move < moves_.size(); ++move) {
      move_us_.push_back(report.priced.move_us(static_cast<int>(move)));
      for (size_t step = 0; step < moves_[move].plan->steps.size(); ++step) add_step(move, step);
    }
  }

  std::string text() const {
    const PricedSolution& priced = report_.priced;
    std::string text = fmt::format("{} on {}, priced by {} on {}: {} nodes, {} moves\n",
                                   graph_.name, mesh_.format(), report_.by.cost_model,
                                   report_.by.cluster, graph_.nodes.size(), moves_.size());
    text += format_table({{"", "us"},
                          {"communication", us_text(priced.communication_us)},
                          {"compute", us_text(priced.compute_us)},
                          {"sum", us_text(priced.communication_us + priced.compute_us)}});
    return text + kinds_text() + moves_text() + nodes_text();
  }

  Json json() const {
    const PricedSolution& priced = report_.priced;
    return {{"graph", graph_.name},
            {"mesh", mesh_.format()},
            {"cluster", report_.by.cluster},
            {"cost_model", report_.by.cost_model},
            {"objective_us", priced.communication_us + priced.compute_us},
            {"compute_us", priced.compute_us},
            {"communication_us", priced.communication_us},
            {"steps", kinds_json()},
            {"moves", moves_json()},
            {"nodes", nodes_json()}};
  }

 private:
  void add_step(size_t move, size_t step) {
    const PlanStep& taken = moves_[move].plan->steps[step];
    if (taken.kind == StepKind::kAlias) return;
    KindSum& sum = kinds_[{std::string(step_kind_name(taken.kind)), taken.mesh_dims}];
    ++sum.count;
    sum.bytes += taken.bytes;
    sum.us += report_.priced.step_us[move][step];
  }

  std::string kinds_text() const {
    if (kinds_.empty()) return "";
    std::vector<TextRow> rows{{"steps", "over", "count", "bytes", "us"}};
    for (const auto& [key, sum] : kinds_) {
      rows.push_back({key.first, format_mesh_dims(key.second, mesh_), fmt::format("{}", sum.count),
                      fmt::format("{}", sum.bytes), us_text(sum.us)});
    }
    return format_table(rows);
  }

  std::string moves_text() const {
    std::vector<TextRow> rows{{"us", "dearest moves", "from", "to", "for"}};
    for (const Price& price : dearest(prices_of(move_us_))) {
      const ValueMove& move = moves_[price.index];
      rows.push_back({us_text(price.us), graph_.values[move.values[0]].name,
                      format_layout(move.from, mesh_), format_layout(move.to, mesh_),
                      move_cause(task_, price.index)});
    }
    return rows.size() == 1 ? "" : format_table(rows);
  }

  std::string nodes_text() const {
    std::vector<TextRow> rows{{"us", "dearest nodes", "op"}};
    for (const Price& price : dearest(prices_of(report_.priced.node_us))) {
      const GraphNode& node = graph_.nodes[price.index];
      rows.push_back({us_text(price.us), node.name, node.op});
    }
    return rows.size() == 1 ? "" : format_table(rows);
  }

  Json kinds_json() const {
    Json list = Json::array();
    for (const auto& [key, sum] : kinds_) {
      list.push_back({{"kind", key.first},
                      {"mesh_dims", format_mesh_dims(key.second, mesh_)},
                      {"count", sum.count},
                      {"bytes", sum.bytes},
                      {"us", sum.us}});
    }
    return list;
  }

  Json moves_json() const {
    Json list = Json::array();
    for (size_t move = 0; move < moves_.size(); ++move) {
      const ValueMove& made = moves_[move];
      Json values = Json::array(), consumers = Json::array();
      for (const ValueId id : made.values) values.push_back(graph_.values[id].name);
      for (const int node : made.consumers) consumers.push_back(graph_.nodes[node].name);
      list.push_back({{"values", std::move(values)},
                      {"src", format_layout(made.from, mesh_)},
                      {"dst", format_layout(made.to, mesh_)},
                      {"consumers", std::move(consumers)},
                      {"output", made.is_output},
                      {"us", move_us_[move]}});
    }
    return list;
  }

  Json nodes_json() const {
    Json list = Json::array();
    std::vector<bool> is_paid(moves_.size(), false);
    for (int node = 0; node < graph_.node_count(); ++node) {
      list.push_back({{"name", graph_.nodes[node].name},
                      {"op", graph_.nodes[node].op},
                      {"compute_us", report_.priced.node_us[node]},
                      {"outputs", layouts_json(task_.solution->nodes[node].outputs, mesh_)},
                      {"inputs", inputs_json(node, is_paid)}});
    }
    return list;
  }

  Json inputs_json(int node, std::vector<bool>& is_paid) const {
    Json list = Json::array();
    const std::vector<ValueId>& slots = task_.resolved->nodes[node].slots;
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot] == kNoValue) continue;
      double us = 0;
      for (int move = task_.sources[node][slot]; move != kItself && !is_paid[move];
           move = task_.move_sources[move]) {
        is_paid[move] = true;
        us += move_us_[move];
      }
      list.push_back({{"from", graph_.values[slots[slot]].name},
                      {"src", format_layout(task_.resting[slots[slot]], mesh_)},
                      {"dst", format_layout(task_.solution->nodes[node].inputs[slot], mesh_)},
                      {"us", us}});
    }
    return list;
  }

  const SolutionReport& report_;
  const GraphTask& task_;
  const Graph& graph_;
  const Mesh& mesh_;
  const std::vector<ValueMove>& moves_;
  std::vector<double> move_us_;
  std::map<std::pair<std::string, MeshDimSet>, KindSum> kinds_;
};

}  // namespace

std::string SolutionReport::text() const { return Writer(*this).text(); }

Json SolutionReport::json() const { return Writer(*this).json(); }

}  // namespace onedim
