#include "core/solve/core_network.hpp"

#include <algorithm>

namespace onedim {
namespace {

void add_links(CoreNetwork& core) {
  core.first_link.assign(core.size + 1, 0);
  core.first_forward.assign(core.size, 0);
  std::vector<int> backward(core.size, 0);
  for (const CoreEdge& edge : core.edges) {
    ++core.first_link[edge.a + 1];
    ++core.first_link[edge.b + 1];
    ++backward[edge.b];
  }
  for (int node = 0; node < core.size; ++node) {
    core.first_link[node + 1] += core.first_link[node];
    core.first_forward[node] = core.first_link[node] + backward[node];
  }
  core.links.resize(core.edges.size() * 2);
  std::vector<int> next_backward(core.first_link.begin(), core.first_link.end() - 1);
  std::vector<int> next_forward = core.first_forward;
  for (int edge = 0; edge < static_cast<int>(core.edges.size()); ++edge) {
    const CoreEdge& e = core.edges[edge];
    core.links[next_forward[e.a]++] = {edge, e.b};
    core.links[next_backward[e.b]++] = {edge, e.a};
  }
}

void add_node(const WorkNode& node, CoreNetwork& core) {
  core.unary.insert(core.unary.end(), node.costs.begin(), node.costs.end());
  core.origin.insert(core.origin.end(), node.origin.begin(), node.origin.end());
  core.first_value.push_back(static_cast<int>(core.unary.size()));
  for (const WorkUse& use : node.uses) {
    core.uses.push_back({use.begin, use.end, core.bytes.size()});
    core.bytes.insert(core.bytes.end(), use.bytes.begin(), use.bytes.end());
  }
  core.first_use.push_back(static_cast<int>(core.uses.size()));
}

// `from` is the node whose values are to be the rows.
void add_edge(const WorkNetwork& work, int edge, const CoreEdge& ends, CoreNetwork& core) {
  CoreEdge added = ends;
  added.cells = core.cells.size();
  added.shift_a = core.shift_count;
  added.shift_b = core.shift_count + core.domain(ends.a);
  core.shift_count += core.domain(ends.a) + core.domain(ends.b);
  const EdgeView view = work.view(edge, core.work_node[ends.a]);
  for (int row = 0; row < core.domain(ends.a); ++row) {
    for (int column = 0; column < core.domain(ends.b); ++column) {
      const Cost cost = view.at(row, column);
      core.cells.push_back(is_blocked(cost) ? kBlocked : cost);
    }
  }
  core.edges.push_back(added);
}

}  // namespace

CoreNetwork build_core(const WorkNetwork& work) {
  CoreNetwork core;
  core.constant = work.constant;
  core.capacity = work.capacity;
  core.point_origin = work.point_origin;
  core.first_value = {0};
  core.first_use = {0};
  std::vector<int> place(work.nodes.size(), -1);
  for (size_t node = 0; node < work.nodes.size(); ++node) {
    if (work.nodes[node].is_removed) continue;
    place[node] = core.size++;
    core.work_node.push_back(static_cast<int>(node));
    add_node(work.nodes[node], core);
  }
  struct Pair {
    int a, b, edge;
  };
  std::vector<Pair> pairs;
  for (size_t edge = 0; edge < work.edges.size(); ++edge) {
    const WorkEdge& e = work.edges[edge];
    if (e.is_removed) continue;
    const int a = place[e.a];
    const int b = place[e.b];
    pairs.push_back({std::min(a, b), std::max(a, b), static_cast<int>(edge)});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& x, const Pair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  for (const Pair& pair : pairs) add_edge(work, pair.edge, {pair.a, pair.b, 0, 0, 0}, core);
  add_links(core);
  return core;
}

}  // namespace onedim
