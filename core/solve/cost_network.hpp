#pragma once
// Cost network: variables that each take one of a few values, what each value costs, what each pair
// of neighbours' values costs together, and, where memory is limited, the bytes a value holds over
// time. An assignment is one value per node; it costs the sum over nodes and edges, and is feasible
// if at every point in time the bytes of all nodes are within the limit.
//
// For a planner: a node is an op or a moved copy of a tensor, its values are strategies or layouts;
// an edge is a redistribution. A move that a group of consumers shares is a node of its own (the
// layout of the copy): the edge from the producer holds the price of the move, the edges to the
// consumers forbid what does not fit. A table is held once however many edges use it, so repeated
// layers share theirs. Nodes, tables and edges may be added in any order that names what is there.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace onedim {

using Cost = int64_t;

// Costs from here up stand for "forbidden". They are still numbers: where no assignment avoids
// them, the cheapest is one with the least sum.
inline constexpr Cost kForbidden = 1'000'000'000'000'000'000;

// Bytes that a node holds from `begin` up to, not including, `end`: one figure per value, none
// negative. Nothing is held if end <= begin.
struct MemoryUse {
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<int64_t> bytes;
};

struct CostNode {
  std::vector<Cost> costs;  // one per value, at least one
  std::vector<MemoryUse> uses;
};

// cells[row * columns + column]
struct CostTable {
  int rows = 0;
  int columns = 0;
  std::vector<Cost> cells;
};

// Rows of the table are the values of `from`, columns those of `to`. Several edges may join the
// same two nodes: their costs add.
struct CostEdge {
  int from = 0;
  int to = 0;
  int table = 0;
};

using Assignment = std::vector<int>;

struct CostNetwork {
  std::string name;
  std::vector<CostNode> nodes;
  std::vector<CostTable> tables;
  std::vector<CostEdge> edges;
  std::optional<int64_t> memory_limit;  // bytes at any time

  // Each returns the index of what was added.
  int add_node(std::vector<Cost> costs);
  int add_table(int rows, int columns, std::vector<Cost> cells);
  void add_edge(int from, int to, int table) { edges.push_back({from, to, table}); }
};

}  // namespace onedim
