#include "core/solve/cost_network.hpp"

#include <utility>

namespace onedim {

int CostNetwork::add_node(std::vector<Cost> costs) {
  nodes.push_back({std::move(costs), {}});
  return static_cast<int>(nodes.size()) - 1;
}

int CostNetwork::add_table(int rows, int columns, std::vector<Cost> cells) {
  tables.push_back({rows, columns, std::move(cells)});
  return static_cast<int>(tables.size()) - 1;
}

}  // namespace onedim
