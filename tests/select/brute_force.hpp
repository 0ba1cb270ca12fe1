#pragma once
// Selection by trying everything: every product of rules over mesh dims, every cutting order that
// stands in the layouts at hand (for views: every order), every input planned by itself, every
// rank's local call made; an input that may not move, and an output that is required, count as what
// they are by every layout of the same index map. It shares with the selector what rules there are,
// what makes a strategy valid and what one move costs; nothing of the search, its bounds or its
// shortcuts. What does not depend on where the inputs lie is kept from one request to the next.

#include <map>
#include <optional>

#include "core/cost/cluster.hpp"
#include "core/pack/local_call.hpp"
#include "core/redistribute/planner.hpp"
#include "core/select/select_request.hpp"
#include "core/select/strategy.hpp"

namespace onedim {

struct BruteForceCost {
  int64_t ps = 0;  // moves, and computing where it counts
  int64_t collectives = 0;
  int64_t bytes = 0;
  int64_t moved = 0;  // inputs
  int64_t steps = 0;
  auto operator<=>(const BruteForceCost&) const = default;
};

struct BruteForceBest {
  Strategy strategy;
  BruteForceCost cost;
  int64_t compute_ps = 0;
};

class BruteForce {
 public:
  // All are borrowed. `compute` prices local calls.
  BruteForce(const Op& op, const Call& call, std::span<const OptionalOutput> outputs,
             const RuleChoices& choices, Planner& planner, const ClusterCompute& compute);

  // Of a request for that call, whose layouts and options give those choices. Nothing if no
  // strategy is valid.
  std::optional<BruteForceBest> best(const SelectRequest& request);
  int64_t tried() const { return tried_; }

 private:
  struct LocalCalls {
    bool is_known = false;
    bool run = false;  // every rank's may
    int64_t compute_ps = 0;
  };
  // What it takes to bring an input to one layout; nothing where it cannot be brought.
  struct Move {
    bool is_known = false;
    std::optional<BruteForceCost> cost;
  };
  struct Order {
    Dims order;
    // One per combination of rules, the last mesh dim fastest.
    std::vector<LocalCalls> calls;
    // Per input slot, one per combination of the placements that rules give it; of the request at
    // hand.
    std::vector<std::vector<Move>> moves;
  };

  Order& order_of(const Dims& order);
  void try_order(Order& order, const SelectRequest& request, std::optional<BruteForceBest>& best);
  bool next(const Order& order, Strategy& strategy) const;
  // False where an input cannot be brought to where it is asked for, or for no less than `most`.
  bool add_moves(const SelectRequest& request, Order& order, const Strategy& strategy,
                 const BruteForceCost* most, BruteForceCost& now);
  std::optional<BruteForceCost> plan_move(const SelectRequest& request, size_t slot,
                                          const Layout& to);
  bool gives_what_is_required(const SelectRequest& request, const Strategy& strategy) const;
  LocalCalls run_locally(const Strategy& strategy) const;
  std::optional<int64_t> local_ps(const Strategy& strategy, const Dims& coordinate) const;
  int64_t price(const LocalCall& local) const;

  const Op& op_;
  const Call& call_;
  std::span<const OptionalOutput> outputs_;
  const RuleChoices& choices_;
  Planner& planner_;
  const ClusterCompute& compute_;
  std::vector<int> written_;
  std::vector<Order> orders_;
  std::vector<Layout> current_;
  int64_t tried_ = 0;
};

}  // namespace onedim
