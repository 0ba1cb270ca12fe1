#include "core/solve/network_check.hpp"

namespace onedim {
namespace {

Status check_node(const CostNode& node, size_t index) {
  if (node.costs.empty())
    return invalid_argument("node {} has no value; expected at least one cost", index);
  for (const MemoryUse& use : node.uses) {
    if (use.bytes.size() != node.costs.size()) {
      return invalid_argument("node {} has {} usages for {} costs; expected one for each", index,
                              use.bytes.size(), node.costs.size());
    }
    for (const int64_t bytes : use.bytes) {
      if (bytes < 0)
        return invalid_argument("node {} has usage {}; expected none below 0", index, bytes);
    }
  }
  return absl::OkStatus();
}

Status check_edge(const CostNetwork& network, size_t index) {
  const CostEdge& edge = network.edges[index];
  const auto count = static_cast<int>(network.nodes.size());
  for (const int node : {edge.from, edge.to}) {
    if (node < 0 || node >= count)
      return invalid_argument("edge {} joins node {}; expected one of 0 to {}", index, node,
                              count - 1);
  }
  if (edge.from == edge.to)
    return invalid_argument("edge {} joins node {} to itself; expected two nodes", index,
                            edge.from);
  if (edge.table < 0 || edge.table >= static_cast<int>(network.tables.size()))
    return invalid_argument("edge {} uses table {}, of which there are {}", index, edge.table,
                            network.tables.size());
  const CostTable& table = network.tables[edge.table];
  const size_t rows = network.nodes[edge.from].costs.size();
  const size_t columns = network.nodes[edge.to].costs.size();
  if (table.rows != static_cast<int>(rows) || table.columns != static_cast<int>(columns) ||
      table.cells.size() != rows * columns) {
    return invalid_argument(
        "edge {} has {} costs for nodes {} and {} of {} and {} values; expected {}", index,
        table.cells.size(), edge.from, edge.to, rows, columns, rows * columns);
  }
  return absl::OkStatus();
}

}  // namespace

Status check_network(const CostNetwork& network) {
  for (size_t node = 0; node < network.nodes.size(); ++node) {
    if (Status status = check_node(network.nodes[node], node); !status.ok()) return status;
  }
  for (size_t edge = 0; edge < network.edges.size(); ++edge) {
    if (Status status = check_edge(network, edge); !status.ok()) return status;
  }
  if (network.memory_limit && *network.memory_limit < 0)
    return invalid_argument("the memory limit is {}; expected none below 0", *network.memory_limit);
  return absl::OkStatus();
}

}  // namespace onedim
