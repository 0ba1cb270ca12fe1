#include "core/solve/assignment_check.hpp"

#include <map>

namespace onedim {
namespace {

Status check_values(const CostNetwork& network, const Assignment& assignment) {
  if (assignment.size() != network.nodes.size()) {
    return invalid_argument("the assignment has {} values for {} nodes", assignment.size(),
                            network.nodes.size());
  }
  for (size_t node = 0; node < assignment.size(); ++node) {
    const size_t values = network.nodes[node].costs.size();
    if (assignment[node] < 0 || assignment[node] >= static_cast<int>(values)) {
      return invalid_argument("node {} is assigned value {}; expected one of 0 to {}", node,
                              assignment[node], values - 1);
    }
  }
  return absl::OkStatus();
}

void add_cost(Cost cost, AssignmentCheck& check) {
  check.cost += cost;
  if (cost >= kForbidden) ++check.forbidden;
}

}  // namespace

Result<AssignmentCheck> check_assignment(const CostNetwork& network, const Assignment& assignment) {
  if (Status status = check_values(network, assignment); !status.ok()) return status;
  AssignmentCheck check;
  std::map<int64_t, WideCost> changes;  // of the bytes held, by time
  for (size_t node = 0; node < assignment.size(); ++node) {
    add_cost(network.nodes[node].costs[assignment[node]], check);
    for (const MemoryUse& use : network.nodes[node].uses) {
      if (use.end <= use.begin) continue;
      changes[use.begin] += use.bytes[assignment[node]];
      changes[use.end] -= use.bytes[assignment[node]];
    }
  }
  for (const CostEdge& edge : network.edges) {
    const CostTable& table = network.tables[edge.table];
    const size_t row = assignment[edge.from];
    add_cost(table.cells[row * table.columns + assignment[edge.to]], check);
  }
  WideCost held = 0;
  for (const auto& [time, change] : changes) {
    held += change;
    if (held > check.peak_bytes) check.peak_bytes = held, check.peak_time = time;
  }
  check.is_within_limit = !network.memory_limit || check.peak_bytes <= *network.memory_limit;
  return check;
}

}  // namespace onedim
