#include <algorithm>
#include <map>

#include "core/solve/range_least.hpp"
#include "core/solve/reduction.hpp"

namespace onedim {
namespace {

// Uses of one interval become one; those that never differ from nothing go.
void join_uses(std::vector<WorkUse>& uses) {
  std::map<std::pair<int, int>, std::vector<int64_t>> joined;
  for (WorkUse& use : uses) {
    if (use.begin >= use.end) continue;
    std::vector<int64_t>& bytes = joined[{use.begin, use.end}];
    if (bytes.empty()) {
      bytes = std::move(use.bytes);
    } else {
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] += use.bytes[i];
    }
  }
  uses.clear();
  for (auto& [interval, bytes] : joined) {
    if (std::any_of(bytes.begin(), bytes.end(), [](int64_t b) { return b != 0; }))
      uses.push_back({interval.first, interval.second, std::move(bytes)});
  }
}

constexpr int64_t kMostPairWork = 200'000;

bool block_above(int64_t most, const WorkUse& mine, const WorkUse& theirs,
                 std::vector<Cost>& cells) {
  bool is_changed = false;
  size_t place = 0;
  for (const int64_t row : mine.bytes) {
    for (const int64_t column : theirs.bytes) {
      Cost& cell = cells[place++];
      if (row + column <= most || is_blocked(cell)) continue;
      cell = kBlocked;
      is_changed = true;
    }
  }
  return is_changed;
}

}  // namespace

bool Reduction::reduce_memory() {
  if (network_.capacity.empty()) return true;
  take_least_bytes();
  const std::vector<int64_t>& capacity = network_.capacity;
  if (std::any_of(capacity.begin(), capacity.end(), [](int64_t c) { return c < 0; })) return false;
  const std::vector<char> needed = needed_points();
  if (std::count(needed.begin(), needed.end(), 1) < static_cast<int64_t>(needed.size()))
    renumber_points(needed);
  while (drop_implied_points() > static_cast<int64_t>(network_.capacity.size()) / 16) {
  }
  if (!prune_heavy_values()) return false;
  block_heavy_pairs();
  return true;
}

// What a node holds at least is no matter of choice.
void Reduction::take_least_bytes() {
  std::vector<int64_t> change(network_.capacity.size() + 1, 0);
  for (int index = 0; index < static_cast<int>(network_.nodes.size()); ++index) {
    WorkNode& node = network_.nodes[index];
    if (node.is_removed || node.uses.empty()) continue;
    for (WorkUse& use : node.uses) {
      const int64_t least = *std::min_element(use.bytes.begin(), use.bytes.end());
      if (least == 0) continue;
      for (int64_t& bytes : use.bytes) bytes -= least;
      change[use.begin] += least;
      change[use.end] -= least;
    }
    join_uses(node.uses);
    if (node.uses.empty()) touch(index);
  }
  int64_t taken = 0;
  for (size_t point = 0; point < network_.capacity.size(); ++point) {
    taken += change[point];
    network_.capacity[point] -= taken;
  }
}

// A point is needed if the most that all may hold exceeds what is there, and no point before or
// after it with no more room sees all the uses that it sees.
std::vector<char> Reduction::needed_points() const {
  const size_t points = network_.capacity.size();
  std::vector<int64_t> change(points + 1, 0);
  std::vector<char> begins(points + 1, 0);
  std::vector<char> ends(points + 1, 0);
  for (const WorkNode& node : network_.nodes) {
    if (node.is_removed) continue;
    for (const WorkUse& use : node.uses) {
      const int64_t most = *std::max_element(use.bytes.begin(), use.bytes.end());
      change[use.begin] += most;
      change[use.end] -= most;
      begins[use.begin] = 1;
      ends[use.end] = 1;
    }
  }
  const std::vector<int64_t>& room = network_.capacity;
  std::vector<char> needed(points, 0);
  int64_t most = 0;
  int last = -1;  // the last point needed, and whether uses have begun or ended since
  bool has_begun = false;
  bool has_ended = false;
  for (size_t point = 0; point < points; ++point) {
    most += change[point];
    has_begun = has_begun || begins[point];
    has_ended = has_ended || ends[point];
    if (most <= room[point]) continue;
    if (last >= 0 && !has_begun && room[point] >= room[last]) continue;
    if (last >= 0 && !has_ended && room[point] <= room[last]) needed[last] = 0;
    needed[point] = 1;
    last = static_cast<int>(point);
    has_begun = has_ended = false;
  }
  return needed;
}

void Reduction::renumber_points(const std::vector<char>& needed) {
  std::vector<int> place(needed.size() + 1, 0);
  std::vector<int64_t> capacity;
  std::vector<int> origin;
  for (size_t point = 0; point < needed.size(); ++point) {
    place[point] = static_cast<int>(capacity.size());
    if (!needed[point]) continue;
    capacity.push_back(network_.capacity[point]);
    origin.push_back(network_.point_origin[point]);
  }
  place[needed.size()] = static_cast<int>(capacity.size());
  network_.capacity = std::move(capacity);
  network_.point_origin = std::move(origin);
  for (int index = 0; index < static_cast<int>(network_.nodes.size()); ++index) {
    WorkNode& node = network_.nodes[index];
    if (node.is_removed || node.uses.empty()) continue;
    for (WorkUse& use : node.uses) use = {place[use.begin], place[use.end], std::move(use.bytes)};
    join_uses(node.uses);
    touch(index);
  }
}

bool Reduction::prune_heavy_values() {
  if (network_.capacity.empty()) return true;
  const RangeLeast room(network_.capacity);
  for (int index = 0; index < static_cast<int>(network_.nodes.size()); ++index) {
    const WorkNode& node = network_.nodes[index];
    if (node.is_removed || node.uses.empty()) continue;
    std::vector<char> keep(node.costs.size(), 1);
    for (const WorkUse& use : node.uses) {
      const int64_t most = room.least(use.begin, use.end);
      for (size_t value = 0; value < keep.size(); ++value) {
        if (use.bytes[value] > most) keep[value] = 0;
      }
    }
    if (!keep_values(index, keep)) return false;
  }
  return true;
}

// Pairs of neighbours' values that together hold more than there is at some time.
void Reduction::block_heavy_pairs() {
  if (network_.capacity.empty()) return;
  const RangeLeast room(network_.capacity);
  for (WorkEdge& edge : network_.edges) {
    if (edge.is_removed) continue;
    const WorkNode& a = network_.nodes[edge.a];
    const WorkNode& b = network_.nodes[edge.b];
    const auto cells = static_cast<int64_t>(edge.cells.size());
    if (cells * static_cast<int64_t>(a.uses.size() * b.uses.size()) > kMostPairWork) continue;
    bool is_changed = false;
    for (const WorkUse& mine : a.uses) {
      for (const WorkUse& theirs : b.uses) {
        const int begin = std::max(mine.begin, theirs.begin);
        const int end = std::min(mine.end, theirs.end);
        if (begin >= end) continue;
        effort_ += cells;
        is_changed |= block_above(room.least(begin, end), mine, theirs, edge.cells);
      }
    }
    if (!is_changed) continue;
    touch(edge.a);
    touch(edge.b);
  }
}

}  // namespace onedim
