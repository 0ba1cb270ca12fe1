#pragma once
// Core network: what a reduction leaves, laid out for passes over all of it. Nodes are numbered in
// the order of the network they come from, which for a program is the order of its ops; edges point
// from the lower to the higher number. Nothing in it changes once it is built.

#include <span>

#include "core/solve/work_network.hpp"

namespace onedim {

struct CoreUse {
  int begin = 0;
  int end = 0;
  size_t bytes = 0;  // where the figures of the node's values start in `bytes`
};

struct CoreEdge {
  int a = 0;
  int b = 0;
  size_t cells = 0;  // where the table starts in `cells`; the values of `a` are its rows
  int shift_a = 0;   // where the edge's figures for the values of `a` start, in an array of them
  int shift_b = 0;
};

struct CoreLink {
  int edge = 0;
  int other = 0;
};

struct CoreNetwork {
  int size = 0;
  std::vector<int> work_node;    // by node
  std::vector<int> first_value;  // by node, and one more; a node's values lie side by side
  std::vector<Cost> unary;       // by value
  std::vector<int> origin;       // by value: which value of the node in the cost network
  std::vector<CoreEdge> edges;
  std::vector<Cost> cells;
  int shift_count = 0;             // of one figure per edge, end and value
  std::vector<int> first_link;     // by node, and one more
  std::vector<CoreLink> links;     // of a node: first those to lower nodes
  std::vector<int> first_forward;  // by node: the first link to a higher node
  std::vector<int> first_use;      // by node, and one more
  std::vector<CoreUse> uses;
  std::vector<int64_t> bytes;
  std::vector<int64_t> capacity;  // by point in time
  std::vector<int> point_origin;  // as in the work network
  Cost constant = 0;

  int domain(int node) const { return first_value[node + 1] - first_value[node]; }
  // Of looking once at all values, uses and points in time.
  int64_t pass_effort() const {
    return static_cast<int64_t>(unary.size() + bytes.size() + capacity.size());
  }
  int value_count() const { return first_value[size]; }
  std::span<const CoreLink> links_of(int node) const {
    return {links.data() + first_link[node], links.data() + first_link[node + 1]};
  }
  std::span<const CoreLink> forward_of(int node) const {
    return {links.data() + first_forward[node], links.data() + first_link[node + 1]};
  }
  std::span<const CoreLink> backward_of(int node) const {
    return {links.data() + first_link[node], links.data() + first_forward[node]};
  }
  std::span<const CoreUse> uses_of(int node) const {
    return {uses.data() + first_use[node], uses.data() + first_use[node + 1]};
  }
  // The table seen from `node`, an end of the edge.
  EdgeView view(int edge, int node) const {
    const CoreEdge& e = edges[edge];
    const auto columns = static_cast<size_t>(domain(e.b));
    if (node == e.a) return {cells.data() + e.cells, columns, 1};
    return {cells.data() + e.cells, 1, columns};
  }
  Cost pair_cost(int edge, int value_a, int value_b) const {
    const CoreEdge& e = edges[edge];
    return cells[e.cells + static_cast<size_t>(value_a) * domain(e.b) + value_b];
  }
};

CoreNetwork build_core(const WorkNetwork& work);

}  // namespace onedim
