#pragma once
// Dual bound: a lower bound on the cost of a core network, with what each value would cost above it
// at least. The network is kept in an equivalent form: every node and edge cost is >= 0 and a
// constant stands apart, which therefore is a bound. Sweeps move costs between nodes and edges so
// that the constant grows: a node gives what it has to the edges ahead of it, in equal parts (TRW-S
// in its sequential form), and each edge gives its far end what all pairs have in common.
//
// A memory limit is priced: bytes cost prices[t] at time t, and what the capacity would cost is
// taken off (Lagrange). Any prices >= 0 give a bound.
//
// All of it is whole-number arithmetic on the work network's fine unit, rounded so that the bound
// holds exactly.

#include "core/solve/core_network.hpp"

namespace onedim {

class DualBound {
 public:
  // `core` is borrowed.
  explicit DualBound(const CoreNetwork& core);

  // One pass over all nodes, in order or against it. Afterwards every node has a value of cost 0.
  void sweep(bool forward);
  // Prices per byte, by point in time, in work units; negative ones count as 0.
  void set_prices(const std::vector<double>& prices);

  // No solution costs less (work units, the network's constant included).
  Cost bound() const { return constant_ - capacity_price_; }
  // What a solution with this value costs above the bound, at least.
  Cost excess(int value) const { return unary_[value]; }
  // Is this value (by its place among all) still to be considered?
  bool is_alive(int value) const { return !is_blocked(unary_[value]); }
  void block(int value) { unary_[value] = kBlocked; }
  // The values that were cheapest in their node when the last sweep passed, by node.
  const std::vector<int>& cheapest() const { return cheapest_; }
  // Cost of a pair in the equivalent form.
  Cost pair_excess(int edge, int value_a, int value_b) const {
    const CoreEdge& e = core_->edges[edge];
    return core_->pair_cost(edge, value_a, value_b) - shift_[e.shift_a + value_a] -
           shift_[e.shift_b + value_b];
  }
  // A node has no value left.
  bool is_infeasible() const { return is_infeasible_; }
  int64_t effort() const { return effort_; }  // cells looked at
  void add_effort(int64_t cells) { effort_ += cells; }

 private:
  void settle(int node);
  void give(int node, std::span<const CoreLink> ahead, int parts);
  void pull(const CoreLink& link);

  const CoreNetwork* core_;
  Cost constant_;
  Cost capacity_price_ = 0;
  std::vector<Cost> unary_;
  std::vector<Cost> shift_;    // by edge end and value: what the edge has given to the node
  std::vector<Cost> penalty_;  // by value: the price of its bytes, part of unary_
  std::vector<int> cheapest_;
  std::vector<Cost> scratch_;
  bool is_infeasible_ = false;
  int64_t effort_ = 0;
};

}  // namespace onedim
