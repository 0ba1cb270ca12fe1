#include "core/solve/reduction.hpp"

#include <algorithm>

namespace onedim {
namespace {

// Work on one node's dominance that is worth its while: pairs of values times neighbours' values.
constexpr int64_t kMostDominanceWork = 20'000'000;

}  // namespace

Reduction::Reduction(WorkNetwork& network)
    : network_(network), is_queued_(network.nodes.size(), 0) {
  for (int node = static_cast<int>(network.nodes.size()) - 1; node >= 0; --node) touch(node);
}

void Reduction::touch(int node) {
  if (is_queued_[node] || network_.nodes[node].is_removed) return;
  is_queued_[node] = 1;
  queue_.push_back(node);
}

bool Reduction::run() {
  do {
    while (!queue_.empty()) {
      const int node = queue_.back();
      queue_.pop_back();
      is_queued_[node] = 0;
      if (!network_.nodes[node].is_removed && !process(node)) return false;
    }
    if (!reduce_memory()) return false;
  } while (!queue_.empty());
  return true;
}

bool Reduction::keep_values(int node, const std::vector<char>& keep) {
  const auto kept = std::count(keep.begin(), keep.end(), 1);
  if (kept == 0) return false;
  if (kept == network_.nodes[node].size()) return true;
  network_.keep_values(node, keep);
  touch(node);
  for (const int edge : network_.nodes[node].edges) touch(network_.edges[edge].other(node));
  return true;
}

bool Reduction::process(int node) {
  if (!prune_unsupported(node)) return false;
  if (eliminate(node)) return true;
  drop_separable_edges(node);
  if (eliminate(node)) return true;
  if (merge_determined(node)) return true;
  prune_dominated(node);
  eliminate(node);
  return true;
}

bool Reduction::prune_unsupported(int node) {
  const WorkNode& n = network_.nodes[node];
  std::vector<char> keep(n.costs.size(), 1);
  for (int value = 0; value < n.size(); ++value) keep[value] = !is_blocked(n.costs[value]);
  for (const int edge : n.edges) {
    const EdgeView view = network_.view(edge, node);
    const int others = network_.nodes[network_.edges[edge].other(node)].size();
    effort_ += int64_t{n.size()} * others;
    for (int value = 0; value < n.size(); ++value) {
      int other = 0;
      while (other < others && is_blocked(view.at(value, other))) ++other;
      if (other == others) keep[value] = 0;
    }
  }
  return keep_values(node, keep);
}

// cell(row, column) = cell(row, 0) + cell(0, column) - cell(0, 0), without a blocked one.
void Reduction::drop_separable_edges(int node) {
  const std::vector<int> list = network_.nodes[node].edges;
  for (const int edge : list) {
    const WorkEdge& e = network_.edges[edge];
    WorkNode& a = network_.nodes[e.a];
    WorkNode& b = network_.nodes[e.b];
    const int columns = b.size();
    bool is_sum = !is_blocked(e.cells[0]);
    for (int row = 0; is_sum && row < a.size(); ++row) {
      const Cost* cells = &e.cells[static_cast<size_t>(row) * columns];
      effort_ += columns;
      for (int column = 0; is_sum && column < columns; ++column) {
        is_sum =
            !is_blocked(cells[column]) && cells[column] - cells[0] == e.cells[column] - e.cells[0];
      }
    }
    if (!is_sum) continue;
    for (int row = 0; row < a.size(); ++row)
      a.costs[row] += e.cells[static_cast<size_t>(row) * columns];
    for (int column = 0; column < columns; ++column)
      b.costs[column] += e.cells[column] - e.cells[0];
    touch(e.other(node));
    network_.remove_edge(edge);
  }
}

bool Reduction::dominates(int node, int better, int worse) {
  const WorkNode& n = network_.nodes[node];
  for (const WorkUse& use : n.uses) {
    if (use.bytes[better] > use.bytes[worse]) return false;
  }
  Cost more = n.costs[better] - n.costs[worse];
  for (const int edge : n.edges) {
    const EdgeView view = network_.view(edge, node);
    const int others = network_.nodes[network_.edges[edge].other(node)].size();
    Cost most = -kBlocked;
    for (int other = 0; other < others; ++other) {
      const Cost theirs = view.at(worse, other);
      if (is_blocked(theirs)) continue;
      ++effort_;
      const Cost mine = view.at(better, other);
      if (is_blocked(mine)) return false;
      most = std::max(most, mine - theirs);
    }
    more += most;
  }
  return more <= 0;
}

void Reduction::prune_dominated(int node) {
  const WorkNode& n = network_.nodes[node];
  const int size = n.size();
  int64_t work = int64_t{size} * size;
  for (const int edge : n.edges)
    work += int64_t{size} * network_.nodes[network_.edges[edge].other(node)].size();
  if (work > kMostDominanceWork) return;
  std::vector<char> keep(size, 1);
  int64_t left = kMostDominanceWork + effort_;
  for (int worse = 0; worse < size; ++worse) {
    for (int better = 0; keep[worse] && better < size && effort_ < left; ++better) {
      if (better == worse || !keep[better]) continue;
      if (dominates(node, better, worse)) keep[worse] = 0;
    }
  }
  keep_values(node, keep);
}

void Reduction::record(int node, std::vector<int> neighbours, std::vector<int> choice) {
  Elimination elimination{node, std::move(neighbours), {}, std::move(choice)};
  for (const int neighbour : elimination.neighbours) {
    elimination.origins.push_back(network_.nodes[neighbour].origin);
    touch(neighbour);
  }
  eliminations_.push_back(std::move(elimination));
}

void Reduction::extend(Assignment& assignment, size_t steps) const {
  while (steps-- > 0) {
    const Elimination* step = &eliminations_[steps];
    size_t place = 0;
    for (size_t i = 0; i < step->neighbours.size(); ++i) {
      const std::vector<int>& origin = step->origins[i];
      const int value = assignment[step->neighbours[i]];
      const auto found = std::lower_bound(origin.begin(), origin.end(), value);
      place = place * origin.size() + static_cast<size_t>(found - origin.begin());
    }
    assignment[step->node] = step->choice[place];
  }
}

}  // namespace onedim
