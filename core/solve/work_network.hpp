#pragma once
// Work network: a cost network as the solver changes it. Costs are whole multiples of a unit finer
// than the network's, so that a bound may give away less than one unit of cost by rounding;
// kBlocked stands for a pair that no solution uses. At most one edge joins two nodes, and every
// node knows its edges. Memory is the capacity left at each of the points in time that can matter;
// uses are intervals of these points.

#include <utility>

#include "core/solve/cost_network.hpp"

namespace onedim {

// Far above any sum of costs that are not blocked, yet several add without overflow.
inline constexpr Cost kBlocked = Cost{1} << 61;
inline constexpr Cost kCostRange = Cost{1} << 58;  // sums of costs lie below, in absolute value

inline bool is_blocked(Cost cost) { return cost >= kBlocked / 2; }
inline Cost add_costs(Cost a, Cost b) { return is_blocked(a) || is_blocked(b) ? kBlocked : a + b; }

struct WorkUse {
  int begin = 0;  // points in time, half open
  int end = 0;
  std::vector<int64_t> bytes;
};

struct WorkNode {
  std::vector<Cost> costs;
  std::vector<int> origin;  // the value of the network that each value is, ascending
  std::vector<WorkUse> uses;
  std::vector<int> edges;
  bool is_removed = false;

  int size() const { return static_cast<int>(costs.size()); }
};

struct WorkEdge {
  int a = 0;  // its values are the rows
  int b = 0;
  std::vector<Cost> cells;
  bool is_removed = false;

  int other(int node) const { return node == a ? b : a; }
};

// How many steps of `row` and of `column` to go from cell to cell, seen from one end of an edge.
struct EdgeView {
  const Cost* cells;
  size_t row;
  size_t column;
  Cost at(int mine, int theirs) const { return cells[mine * row + theirs * column]; }
};

class WorkNetwork {
 public:
  std::vector<WorkNode> nodes;
  std::vector<WorkEdge> edges;
  std::vector<int64_t> capacity;  // bytes, by point in time
  std::vector<int> point_origin;  // which point of the first of these networks each point was
  Cost constant = 0;

  // The edge of the two nodes, or -1.
  int find_edge(int a, int b) const;
  EdgeView view(int edge, int from) const;
  int degree(int node) const { return static_cast<int>(nodes[node].edges.size()); }
  // Adds a table, `a` the rows, to the edge of the two nodes, which is made if need be.
  int add_to_edge(int a, int b, std::vector<Cost> cells);
  void remove_edge(int edge);
  // Leaves only the values marked; rows and columns of the edges go with the rest.
  void keep_values(int node, const std::vector<char>& keep);
  void remove_node(int node);  // with its edges
};

}  // namespace onedim
