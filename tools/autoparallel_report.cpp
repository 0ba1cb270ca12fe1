#include "tools/autoparallel_report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/graph/layout_json.hpp"
#include "tools/dearest.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDifferences = 10;

// JSON has no infinity: a move that there is not costs null.
Json us_json(double us) { return std::isfinite(us) ? Json(us) : Json(); }

std::vector<Price> edge_prices(const AutoParallelPriced& priced) {
  std::vector<Price> prices;
  for (size_t node = 0; node < priced.edge_us.size(); ++node) {
    for (size_t slot = 0; slot < priced.edge_us[node].size(); ++slot) {
      const double us = priced.edge_us[node][slot];
      prices.push_back({us, static_cast<int>(node), static_cast<int>(slot)});
    }
  }
  return prices;
}

int64_t count_priced(const std::vector<Price>& prices) {
  return std::count_if(prices.begin(), prices.end(),
                       [](const Price& price) { return price.us > 0; });
}

// Writes parts of one report.
class Writer {
 public:
  explicit Writer(const AutoParallelReport& report)
      : report_(report), graph_(*report.resolved.graph), mesh_(report.solution.mesh) {}

  std::string sums_text() const {
    const AutoParallelPriced& priced = report_.priced;
    const int64_t moves = count_priced(edge_prices(priced));
    const int64_t nodes = count_priced(prices_of(priced.node_us));
    std::string text =
        fmt::format("{} on {}, priced as AutoParallel does on H100: {} nodes, {} edges\n",
                    graph_.name, mesh_.format(), graph_.nodes.size(), priced.edges);
    text += format_table(
        {{"", "us", "of"},
         {"communication", us_text(priced.communication_us), fmt::format("{} edges", moves)},
         {"compute", us_text(priced.compute_us), fmt::format("{} nodes", nodes)},
         {"sum", us_text(priced.communication_us + priced.compute_us), ""},
         {"transitions", us_text(priced.transitions), "1 us an edge whose layouts differ, apart"}});
    return text;
  }

  std::string check_text() const {
    const AutoParallelCheck& check = report_.check;
    std::string text =
        check.exceptions.empty()
            ? "the layouts of every node are one of its strategies\n"
            : fmt::format("{} layouts or moves that are none of ours or AutoParallel's:\n",
                          check.exceptions.size());
    for (const StrategyException& exception : check.exceptions)
      text += fmt::format("  {}: {}\n", node_text(graph_.nodes[exception.node]), exception.reason);
    if (check.compared == 0) return text + "the file has no prices to compare with\n";
    if (check.differences.empty() && !check.sums_differ) {
      return text + fmt::format("all {} prices of the file are ours, to {:.0e} of each\n",
                                check.compared, kSamePrice);
    }
    text += fmt::format("{} of {} prices of the file are not ours, by up to {:.2g} of each{}\n",
                        check.differences.size(), check.compared, check.most_difference,
                        check.sums_differ ? "; nor are its sums" : "");
    for (size_t i = 0; i < check.differences.size() && i < kMostDifferences; ++i) {
      const PriceDifference& difference = check.differences[i];
      text += fmt::format("  {}{}: {} us, ours {}\n", node_text(graph_.nodes[difference.node]),
                          difference.slot < 0 ? "" : fmt::format(", input {}", difference.slot),
                          difference.file_us, difference.our_us);
    }
    return text;
  }

  std::string moves_text() const {
    std::vector<TextRow> rows{{"us", "dearest moves", "from", "to", "for"}};
    for (const Price& price : dearest(edge_prices(report_.priced))) {
      const AutoParallelEdge& edge = report_.solution.nodes[price.index].inputs[price.slot];
      rows.push_back({us_text(price.us), value_name(price.index, price.slot),
                      format_layout(edge.from, mesh_), format_layout(edge.to, mesh_),
                      graph_.nodes[price.index].name});
    }
    return rows.size() == 1 ? "" : format_table(rows);
  }

  std::string nodes_text() const {
    std::vector<TextRow> rows{{"us", "dearest nodes", "op"}};
    for (const Price& price : dearest(prices_of(report_.priced.node_us)))
      rows.push_back(
          {us_text(price.us), graph_.nodes[price.index].name, graph_.nodes[price.index].op});
    return rows.size() == 1 ? "" : format_table(rows);
  }

  Json sums_json() const {
    const AutoParallelPriced& priced = report_.priced;
    return {{"graph", graph_.name},
            {"mesh", mesh_.format()},
            {"cost_model", "autoparallel-h100"},
            {"objective_us", us_json(priced.communication_us + priced.compute_us)},
            {"compute_us", us_json(priced.compute_us)},
            {"communication_us", us_json(priced.communication_us)},
            {"transition_us", priced.transitions}};
  }

  Json check_json() const {
    const AutoParallelCheck& check = report_.check;
    Json exceptions = Json::array(), differences = Json::array();
    for (const StrategyException& exception : check.exceptions) {
      exceptions.push_back(
          {{"node", graph_.nodes[exception.node].name}, {"reason", exception.reason}});
    }
    for (const PriceDifference& difference : check.differences) {
      Json json{{"node", graph_.nodes[difference.node].name}};
      if (difference.slot >= 0) json["input"] = difference.slot;
      json["us"] = us_json(difference.our_us);
      json["file_us"] = difference.file_us;
      differences.push_back(std::move(json));
    }
    return {{"exceptions", std::move(exceptions)},
            {"compared", check.compared},
            {"most_difference", check.most_difference},
            {"sums_agree", !check.sums_differ},
            {"differences", std::move(differences)}};
  }

  Json entries_json() const {
    Json list = Json::array();
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      if (!graph_.values[id].is_given()) continue;
      list.push_back({{"name", graph_.values[id].name},
                      {"compute_us", 0.0},
                      {"outputs", layouts_json({&report_.solution.given[id], 1}, mesh_)},
                      {"inputs", Json::array()}});
    }
    for (int node = 0; node < graph_.node_count(); ++node) {
      list.push_back({{"name", graph_.nodes[node].name},
                      {"op", graph_.nodes[node].op},
                      {"compute_us", us_json(report_.priced.node_us[node])},
                      {"outputs", layouts_json(report_.solution.nodes[node].outputs, mesh_)},
                      {"inputs", edges_json(node)}});
    }
    return list;
  }

 private:
  const std::string& value_name(int node, int slot) const {
    return graph_.values[report_.resolved.nodes[node].slots[slot]].name;
  }

  Json edges_json(int node) const {
    Json list = Json::array();
    const std::vector<AutoParallelEdge>& edges = report_.solution.nodes[node].inputs;
    for (size_t slot = 0; slot < edges.size(); ++slot) {
      if (edges[slot].to.placements.empty()) continue;
      list.push_back({{"from", value_name(node, static_cast<int>(slot))},
                      {"src", format_layout(edges[slot].from, mesh_)},
                      {"dst", format_layout(edges[slot].to, mesh_)},
                      {"us", us_json(report_.priced.edge_us[node][slot])}});
    }
    return list;
  }

  const AutoParallelReport& report_;
  const Graph& graph_;
  const Mesh& mesh_;
};

}  // namespace

std::string AutoParallelReport::text() const {
  const Writer writer(*this);
  return writer.sums_text() + writer.check_text() + writer.moves_text() + writer.nodes_text();
}

Json AutoParallelReport::json() const {
  const Writer writer(*this);
  Json json = writer.sums_json();
  json["check"] = writer.check_json();
  json["nodes"] = writer.entries_json();
  return json;
}

}  // namespace onedim
