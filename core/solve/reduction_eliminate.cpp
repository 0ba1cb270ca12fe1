#include <algorithm>

#include "core/solve/reduction.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostCells = 1 << 16;    // of an edge that an elimination makes
constexpr int64_t kMostWork = 10'000'000;  // cells times values

}  // namespace

bool Reduction::eliminate(int node) {
  WorkNode& n = network_.nodes[node];
  if (n.size() == 1) {
    if (is_blocked(n.costs[0])) return false;  // a merge can do that; the next look finds it
    eliminate_fixed(node);
    return true;
  }
  switch (network_.degree(node)) {
    case 0:
      return eliminate_isolated(node);
    case 1:
      return eliminate_leaf(node);
    case 2:
      return eliminate_between(node);
    default:
      return false;
  }
}

void Reduction::eliminate_fixed(int node) {
  WorkNode& n = network_.nodes[node];
  network_.constant += n.costs[0];
  for (const int edge : n.edges) {
    const int other = network_.edges[edge].other(node);
    const EdgeView view = network_.view(edge, node);
    std::vector<Cost>& costs = network_.nodes[other].costs;
    for (size_t value = 0; value < costs.size(); ++value)
      costs[value] = add_costs(costs[value], view.at(0, static_cast<int>(value)));
    touch(other);
  }
  for (const WorkUse& use : n.uses) {
    for (int point = use.begin; point < use.end; ++point) network_.capacity[point] -= use.bytes[0];
  }
  record(node, {}, {n.origin[0]});
  network_.remove_node(node);
}

Reduction::Best Reduction::best_value(int node, std::span<const Cost> costs) {
  const WorkNode& n = network_.nodes[node];
  const auto holds_more = [&](int value, int than) {
    return std::any_of(n.uses.begin(), n.uses.end(),
                       [&](const WorkUse& use) { return use.bytes[value] > use.bytes[than]; });
  };
  Best best{-1, kBlocked};
  for (int value = 0; value < n.size(); ++value) {
    if (is_blocked(costs[value])) continue;
    const bool is_better = best.value < 0 || costs[value] < best.cost ||
                           (costs[value] == best.cost && holds_more(best.value, value));
    if (is_better) best = {value, costs[value]};
  }
  for (int value = 0; best.value >= 0 && !n.uses.empty() && value < n.size(); ++value) {
    if (!is_blocked(costs[value]) && holds_more(best.value, value)) best.value = -1;
  }
  return best;
}

bool Reduction::eliminate_isolated(int node) {
  const Best best = best_value(node, network_.nodes[node].costs);
  if (best.value < 0) return false;
  std::vector<char> keep(network_.nodes[node].costs.size(), 0);
  keep[best.value] = 1;
  network_.keep_values(node, keep);
  eliminate_fixed(node);
  return true;
}

bool Reduction::eliminate_leaf(int node) {
  WorkNode& n = network_.nodes[node];
  const int edge = n.edges[0];
  const int other = network_.edges[edge].other(node);
  WorkNode& parent = network_.nodes[other];
  const EdgeView view = network_.view(edge, node);
  std::vector<Best> best(parent.costs.size());
  std::vector<Cost> costs(n.costs.size());
  effort_ += int64_t{n.size()} * parent.size();
  for (int theirs = 0; theirs < parent.size(); ++theirs) {
    for (int mine = 0; mine < n.size(); ++mine)
      costs[mine] = add_costs(n.costs[mine], view.at(mine, theirs));
    best[theirs] = best_value(node, costs);
    if (best[theirs].value < 0 && best[theirs].cost < kBlocked) return false;
  }
  std::vector<int> choice;
  for (int theirs = 0; theirs < parent.size(); ++theirs) {
    parent.costs[theirs] = add_costs(parent.costs[theirs], best[theirs].cost);
    best[theirs].value = std::max(best[theirs].value, 0);
    choice.push_back(n.origin[best[theirs].value]);
  }
  for (const WorkUse& use : n.uses) {
    WorkUse moved{use.begin, use.end, {}};
    for (const Best& b : best) moved.bytes.push_back(use.bytes[b.value]);
    parent.uses.push_back(std::move(moved));
  }
  record(node, {other}, std::move(choice));
  network_.remove_node(node);
  return true;
}

bool Reduction::eliminate_between(int node) {
  const WorkNode& n = network_.nodes[node];
  if (!n.uses.empty()) return false;
  const int first = network_.edges[n.edges[0]].other(node);
  const int second = network_.edges[n.edges[1]].other(node);
  const int rows = network_.nodes[first].size();
  const int columns = network_.nodes[second].size();
  const int64_t cells = int64_t{rows} * columns;
  const bool grows = cells > int64_t{n.size()} * (rows + columns);
  if (network_.find_edge(first, second) < 0 && grows && cells > kMostCells) return false;
  if (cells * n.size() > kMostWork) return false;
  effort_ += cells * n.size();
  const EdgeView to_first = network_.view(n.edges[0], node);
  const EdgeView to_second = network_.view(n.edges[1], node);
  std::vector<Cost> table(static_cast<size_t>(cells), kBlocked);
  std::vector<int> choice(static_cast<size_t>(cells), n.origin[0]);
  for (int value = 0; value < n.size(); ++value) {
    for (int row = 0; row < rows; ++row) {
      const Cost base = add_costs(n.costs[value], to_first.at(value, row));
      if (is_blocked(base)) continue;
      for (int column = 0; column < columns; ++column) {
        const Cost cost = add_costs(base, to_second.at(value, column));
        const size_t place = static_cast<size_t>(row) * columns + column;
        if (cost >= table[place]) continue;
        table[place] = cost;
        choice[place] = n.origin[value];
      }
    }
  }
  record(node, {first, second}, std::move(choice));
  network_.remove_node(node);
  network_.add_to_edge(first, second, std::move(table));
  return true;
}

// For each value of `kept` the only one of `gone` beside it, or nothing if there are several.
std::vector<int> Reduction::partners(int edge, int gone, int kept) {
  const EdgeView view = network_.view(edge, kept);
  const int size = network_.nodes[kept].size();
  const int others = network_.nodes[gone].size();
  effort_ += int64_t{size} * others;
  std::vector<int> partner(size, -1);
  for (int value = 0; value < size; ++value) {
    for (int other = 0; other < others; ++other) {
      if (is_blocked(view.at(value, other))) continue;
      if (partner[value] >= 0) return {};
      partner[value] = other;
    }
    if (partner[value] < 0) return {};
  }
  return partner;
}

bool Reduction::merge_determined(int node) {
  const std::vector<int> list = network_.nodes[node].edges;
  for (const int edge : list) {
    const int other = network_.edges[edge].other(node);
    if (try_merge(edge, node, other)) return true;
    if (!network_.edges[edge].is_removed && try_merge(edge, other, node)) touch(node);
  }
  return false;
}

bool Reduction::try_merge(int edge, int gone, int kept) {
  WorkNode& from = network_.nodes[gone];
  WorkNode& to = network_.nodes[kept];
  if (to.size() < from.size()) return false;
  int64_t growth = 0;
  for (const int e : from.edges)
    growth +=
        int64_t{to.size() - from.size()} * network_.nodes[network_.edges[e].other(gone)].size();
  if (growth > 2 * int64_t{to.size()} * from.size()) return false;
  const std::vector<int> partner = partners(edge, gone, kept);
  if (partner.empty()) return false;
  const EdgeView view = network_.view(edge, kept);
  std::vector<int> choice(partner.size());
  for (int value = 0; value < to.size(); ++value) {
    const int theirs = partner[value];
    choice[value] = from.origin[theirs];
    to.costs[value] =
        add_costs(to.costs[value], add_costs(from.costs[theirs], view.at(value, theirs)));
  }
  for (const WorkUse& use : from.uses) {
    WorkUse moved{use.begin, use.end, {}};
    for (const int theirs : partner) moved.bytes.push_back(use.bytes[theirs]);
    to.uses.push_back(std::move(moved));
  }
  std::vector<std::pair<int, std::vector<Cost>>> tables;
  for (const int e : from.edges) {
    if (e == edge) continue;
    const int third = network_.edges[e].other(gone);
    const EdgeView old = network_.view(e, gone);
    const int columns = network_.nodes[third].size();
    std::vector<Cost> cells;
    cells.reserve(partner.size() * columns);
    for (const int theirs : partner) {
      for (int column = 0; column < columns; ++column) cells.push_back(old.at(theirs, column));
    }
    effort_ += static_cast<int64_t>(cells.size());
    tables.emplace_back(third, std::move(cells));
  }
  record(gone, {kept}, std::move(choice));
  network_.remove_node(gone);
  for (auto& [third, cells] : tables) {
    network_.add_to_edge(kept, third, std::move(cells));
    touch(third);
  }
  return true;
}

}  // namespace onedim
