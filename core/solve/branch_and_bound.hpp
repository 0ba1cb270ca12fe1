#pragma once
// Branch and bound: the cheapest assignment of a core network below a cutoff, depth first. At every
// node a few sweeps raise the dual bound and values are pruned; the node to branch on is the one
// whose choice has caused most failures for its number of values, and the branches are its cheapest
// value, and all the others. Counted work ends it early; the open branches then say how low a
// solution may still be.

#include <algorithm>
#include <optional>

#include "core/solve/price_ascent.hpp"

namespace onedim {

struct SearchOutcome {
  std::optional<std::vector<int>> values;  // the best found below the cutoff, if any was since
  Cost cost = 0;                           // of these
  Cost bound = 0;  // nothing below the cutoff costs less; at least the cutoff if complete
  bool is_complete = false;
};

class BranchAndBound {
 public:
  // `core` is borrowed. Looks for assignments that cost less than `cutoff`, at least `unit` less
  // with each found.
  BranchAndBound(const CoreNetwork& core, Cost cutoff, Cost unit);

  // Where to start: a dual bound and its prices.
  void open(DualBound root, std::vector<double> prices);
  // Until so much more was looked at, or nothing is open; may be called again.
  SearchOutcome run(int64_t most_effort, const StopTime& stop = {});
  // Something cheaper is known from elsewhere.
  void lower_cutoff(Cost cutoff) { cutoff_ = std::min(cutoff_, cutoff); }

  int64_t effort() const { return effort_; }

 private:
  struct Branch {
    DualBound dual;
    std::vector<double> prices;
    int node = -1;  // the branching that made it
    int depth = 0;
  };

  bool tighten(Branch& branch);
  void expand(Branch branch);
  int choose_node(const DualBound& dual) const;
  void take_if_solved(const DualBound& dual);
  void fail(int node);

  const CoreNetwork* core_;
  Cost cutoff_;
  Cost unit_;
  std::vector<double> weight_;  // of a node: how often branching on it failed
  std::vector<Branch> open_;
  SearchOutcome outcome_;
  int64_t effort_ = 0;
};

}  // namespace onedim
