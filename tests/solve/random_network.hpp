#pragma once
// Random network: small cost networks to try the solver on, and their optimum by trying every
// assignment.

#include <algorithm>
#include <optional>
#include <random>

#include "core/solve/assignment_check.hpp"

namespace onedim {

class RandomNetworks {
 public:
  explicit RandomNetworks(uint64_t seed) : random_(seed) {}

  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  CostNetwork draw() {
    CostNetwork network;
    const int64_t nodes = 1 + below(7);
    forbidden_of_ten_ = below(3) * below(3);
    greatest_ = below(2) == 0 ? 10 : 1'000'000;
    for (int64_t i = 0; i < nodes; ++i) network.add_node(costs(1 + below(4)));
    const int64_t edges = below(3 * nodes);
    for (int64_t i = 0; i < edges && nodes > 1; ++i) add_edge(network);
    if (below(3) != 0) add_memory(network);
    return network;
  }

 private:
  std::vector<Cost> costs(int64_t count) {
    std::vector<Cost> list;
    for (int64_t i = 0; i < count; ++i) {
      list.push_back(below(10) < forbidden_of_ten_ ? kForbidden : below(greatest_) - greatest_ / 5);
    }
    return list;
  }

  void add_edge(CostNetwork& network) {
    const auto nodes = static_cast<int64_t>(network.nodes.size());
    const int from = static_cast<int>(below(nodes));
    const int to = static_cast<int>((from + 1 + below(nodes - 1)) % nodes);
    const auto rows = static_cast<int>(network.nodes[from].costs.size());
    const auto columns = static_cast<int>(network.nodes[to].costs.size());
    std::vector<Cost> cells = costs(rows * columns);
    if (rows == columns && below(3) == 0) {  // each value goes with one other
      const auto shift = below(rows);
      for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
          if (column != (row + shift) % rows) cells[row * columns + column] = kForbidden;
        }
      }
    }
    network.add_edge(from, to, network.add_table(rows, columns, std::move(cells)));
  }

  void add_memory(CostNetwork& network) {
    network.memory_limit = below(20 * static_cast<int64_t>(network.nodes.size()));
    for (CostNode& node : network.nodes) {
      for (int64_t uses = below(3); uses > 0; --uses) {
        MemoryUse use{below(10), below(14), {}};
        for (size_t value = 0; value < node.costs.size(); ++value) use.bytes.push_back(below(30));
        node.uses.push_back(std::move(use));
      }
    }
  }

  std::mt19937_64 random_;
  int64_t forbidden_of_ten_ = 0;
  int64_t greatest_ = 10;
};

// The least cost within the memory limit; nothing if no assignment is.
inline std::optional<WideCost> least_cost(const CostNetwork& network) {
  std::optional<WideCost> least;
  Assignment assignment(network.nodes.size(), 0);
  while (true) {
    const AssignmentCheck check = *check_assignment(network, assignment);
    if (check.is_within_limit && (!least || check.cost < *least)) least = check.cost;
    size_t node = 0;
    while (node < assignment.size() &&
           ++assignment[node] == static_cast<int>(network.nodes[node].costs.size()))
      assignment[node++] = 0;
    if (node == assignment.size()) return least;
  }
}

}  // namespace onedim
