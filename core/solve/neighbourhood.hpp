#pragma once
// Neighbourhood search: makes a solution better by solving, to the end where it can, the part of
// the network that a few nodes make up while all others keep their values. The nodes are near each
// other by edges, or hold memory at the same time. The part grows while it is solved easily and
// shrinks when it is not. Where nothing helps any more, one node is forced off its value at a small
// loss, and the search goes on from there, and back to the best solution if that leads nowhere.

#include <optional>
#include <random>

#include "core/solve/core_network.hpp"
#include "core/solve/stop_time.hpp"

namespace onedim {

class NeighbourhoodSearch {
 public:
  // `core` is borrowed; `values` must be a solution of it. `unit` is the least by which costs
  // differ.
  NeighbourhoodSearch(const CoreNetwork& core, std::vector<int> values, Cost unit, uint64_t seed);

  // Until `effort` more cells were looked at. `prices` of memory, by point in time.
  void run(const std::vector<double>& prices, int64_t effort, const StopTime& stop = {});
  // A better solution from elsewhere.
  void restart(std::vector<int> values);

  // The best so far.
  const std::vector<int>& values() const { return best_values_; }
  Cost cost() const { return best_cost_; }
  int64_t effort() const { return effort_; }

 private:
  std::vector<int> pick_nodes();
  std::vector<int> window(size_t count);
  int pick_beside(int node);
  // Solves the part for less than it costs now plus `loss`; node `barred` must change its value
  // (-1: none must).
  bool improve(const std::vector<int>& nodes, const std::vector<double>& prices, Cost loss,
               int barred);
  void kick(const std::vector<double>& prices);
  // A solution of the part's core that is cheaper than `cutoff`, if there is one to be found.
  std::optional<std::vector<int>> solve_part(const CoreNetwork& part, Cost cutoff,
                                             const std::vector<double>& prices);
  uint64_t below(uint64_t limit) { return random_() % limit; }

  const CoreNetwork* core_;
  std::vector<int> values_;
  Cost unit_;
  Cost cost_;
  std::vector<int> best_values_;
  Cost best_cost_;
  std::mt19937_64 random_;
  std::vector<std::vector<int>> users_;  // nodes with a use that covers it, by block of time
  double size_ = 12;
  int64_t part_effort_;
  int idle_ = 0;  // parts since the last gain
  int kicks_ = 0;
  StopTime stop_;  // of the present run
  int64_t effort_ = 0;
};

}  // namespace onedim
