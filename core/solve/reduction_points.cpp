#include <algorithm>
#include <functional>
#include <limits>

#include "core/solve/reduction.hpp"

namespace onedim {
namespace {

constexpr size_t kBlocks = 64;

// What every value of every node holds at one point in time, as time goes on.
class Load {
 public:
  explicit Load(const WorkNetwork& network) {
    const size_t points = network.capacity.size();
    begins_.resize(points + 1);
    ends_.resize(points + 1);
    first_.reserve(network.nodes.size());
    for (size_t node = 0; node < network.nodes.size(); ++node) {
      const WorkNode& n = network.nodes[node];
      first_.push_back(bytes_.size());
      if (n.is_removed || n.uses.empty()) continue;
      for (const WorkUse& use : n.uses) {
        begins_[use.begin].emplace_back(first_.back(), &use);
        ends_[use.end].emplace_back(first_.back(), &use);
      }
      bytes_.resize(bytes_.size() + n.costs.size(), 0);
    }
  }

  void enter(size_t point) {
    for (const auto& [first, use] : ends_[point]) add(first, *use, -1);
    for (const auto& [first, use] : begins_[point]) add(first, *use, 1);
  }

  const std::vector<int64_t>& bytes() const { return bytes_; }

 private:
  void add(size_t first, const WorkUse& use, int64_t sign) {
    for (size_t v = 0; v < use.bytes.size(); ++v) bytes_[first + v] += sign * use.bytes[v];
  }

  std::vector<size_t> first_;
  std::vector<std::vector<std::pair<size_t, const WorkUse*>>> begins_;
  std::vector<std::vector<std::pair<size_t, const WorkUse*>>> ends_;
  std::vector<int64_t> bytes_;
};

// In each block of time, the point at which the limit may be exceeded by most.
std::vector<int> tightest_points(const WorkNetwork& network) {
  const size_t points = network.capacity.size();
  std::vector<int64_t> change(points + 1, 0);
  for (const WorkNode& node : network.nodes) {
    if (node.is_removed) continue;
    for (const WorkUse& use : node.uses) {
      const int64_t most = *std::max_element(use.bytes.begin(), use.bytes.end());
      change[use.begin] += most;
      change[use.end] -= most;
    }
  }
  std::vector<int> tightest(kBlocks, -1);
  std::vector<int64_t> excess(kBlocks, std::numeric_limits<int64_t>::min());
  int64_t most = 0;
  for (size_t point = 0; point < points; ++point) {
    most += change[point];
    const size_t block = point * kBlocks / points;
    if (most - network.capacity[point] <= excess[block]) continue;
    excess[block] = most - network.capacity[point];
    tightest[block] = static_cast<int>(point);
  }
  return tightest;
}

struct Sample {
  int point;
  int64_t capacity;
  std::vector<int64_t> bytes;
};

}  // namespace

// A point goes if at one of some tight points every value holds as much and more, with no more
// room. Returns how many went.
int64_t Reduction::drop_implied_points() {
  const size_t points = network_.capacity.size();
  if (points < 2) return 0;
  std::vector<Sample> samples;
  const std::vector<int> tightest = tightest_points(network_);
  Load first_pass(network_);
  for (size_t point = 0; point < points; ++point) {
    first_pass.enter(point);
    if (tightest[point * kBlocks / points] == static_cast<int>(point))
      samples.push_back({static_cast<int>(point), network_.capacity[point], first_pass.bytes()});
  }
  std::vector<char> needed(points, 1);
  Load load(network_);
  for (size_t point = 0; point < points; ++point) {
    load.enter(point);
    const std::vector<int64_t>& bytes = load.bytes();
    for (const Sample& sample : samples) {
      if (sample.point == static_cast<int>(point) || !needed[sample.point] ||
          sample.capacity > network_.capacity[point])
        continue;
      const auto [theirs, mine] = std::mismatch(sample.bytes.begin(), sample.bytes.end(),
                                                bytes.begin(), std::greater_equal<>());
      effort_ += theirs - sample.bytes.begin();
      if (theirs != sample.bytes.end()) continue;
      needed[point] = 0;
      break;
    }
  }
  const auto gone = std::count(needed.begin(), needed.end(), 0);
  if (gone > 0) renumber_points(needed);
  return gone;
}

}  // namespace onedim
