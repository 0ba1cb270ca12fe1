#include "core/solve/work_network.hpp"

#include <algorithm>

namespace onedim {
namespace {

template <typename T>
void keep_marked(std::vector<T>& list, const std::vector<char>& keep) {
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (keep[i]) list[kept++] = list[i];
  }
  list.resize(kept);
}

void drop(std::vector<int>& list, int item) {
  const auto found = std::find(list.begin(), list.end(), item);
  *found = list.back();
  list.pop_back();
}

void keep_rows(std::vector<Cost>& cells, const std::vector<char>& keep, size_t columns) {
  size_t kept = 0;
  for (size_t row = 0; row < keep.size(); ++row) {
    if (!keep[row]) continue;
    std::copy_n(cells.begin() + row * columns, columns, cells.begin() + kept * columns);
    ++kept;
  }
  cells.resize(kept * columns);
}

void keep_columns(std::vector<Cost>& cells, const std::vector<char>& keep, size_t rows) {
  size_t kept = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < keep.size(); ++column) {
      if (keep[column]) cells[kept++] = cells[row * keep.size() + column];
    }
  }
  cells.resize(kept);
}

}  // namespace

int WorkNetwork::find_edge(int a, int b) const {
  if (degree(a) > degree(b)) std::swap(a, b);
  for (const int edge : nodes[a].edges) {
    if (edges[edge].other(a) == b) return edge;
  }
  return -1;
}

EdgeView WorkNetwork::view(int edge, int from) const {
  const WorkEdge& e = edges[edge];
  const size_t columns = nodes[e.b].costs.size();
  if (from == e.a) return {e.cells.data(), columns, 1};
  return {e.cells.data(), 1, columns};
}

int WorkNetwork::add_to_edge(int a, int b, std::vector<Cost> cells) {
  const int found = find_edge(a, b);
  if (found < 0) {
    const int edge = static_cast<int>(edges.size());
    edges.push_back({a, b, std::move(cells), false});
    nodes[a].edges.push_back(edge);
    nodes[b].edges.push_back(edge);
    return edge;
  }
  WorkEdge& edge = edges[found];
  const size_t rows = nodes[edge.a].costs.size();
  const size_t columns = nodes[edge.b].costs.size();
  const bool is_same_way = edge.a == a;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const Cost more = is_same_way ? cells[row * columns + column] : cells[column * rows + row];
      Cost& cell = edge.cells[row * columns + column];
      cell = add_costs(cell, more);
    }
  }
  return found;
}

void WorkNetwork::remove_edge(int edge) {
  WorkEdge& e = edges[edge];
  drop(nodes[e.a].edges, edge);
  drop(nodes[e.b].edges, edge);
  e.is_removed = true;
  std::vector<Cost>().swap(e.cells);
}

void WorkNetwork::keep_values(int node, const std::vector<char>& keep) {
  WorkNode& n = nodes[node];
  for (const int edge : n.edges) {
    WorkEdge& e = edges[edge];
    if (e.a == node) {
      keep_rows(e.cells, keep, nodes[e.b].costs.size());
    } else {
      keep_columns(e.cells, keep, nodes[e.a].costs.size());
    }
  }
  keep_marked(n.costs, keep);
  keep_marked(n.origin, keep);
  for (WorkUse& use : n.uses) keep_marked(use.bytes, keep);
}

void WorkNetwork::remove_node(int node) {
  const std::vector<int> list = nodes[node].edges;
  for (const int edge : list) remove_edge(edge);
  nodes[node].is_removed = true;
}

}  // namespace onedim
