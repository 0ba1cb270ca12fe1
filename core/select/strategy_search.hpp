#pragma once
// StrategySearch: the cheapest valid strategy, exactly, by depth-first branch and bound over the
// mesh dims in cutting order. A node fixes the rules of the first mesh dims; its bound is, per
// input, the least cost of any layout that begins so. The bound of a full strategy is its cost, so
// few nodes beyond the optimum's own path are opened. Never a product of rules over mesh dims.
// Where the time of the local call counts, the ComputeFloor of what is left joins the bound. Ties:
// see MoveTotal, then cutting orders as given, then rules by number, first mesh dim first.

#include <functional>
#include <optional>

#include "core/select/compute_floor.hpp"
#include "core/select/slot_costs.hpp"

namespace onedim {

// What a full strategy costs.
struct StrategyCost {
  MoveTotal total;  // its time with the local call's
  int64_t compute_ps = 0;
};

struct FoundStrategy {
  Strategy strategy;
  StrategyCost cost;
};

// What a full strategy costs, given the sum of its SlotCosts: its moves cost no less; nothing if it
// is not valid.
using LeafCost = std::function<std::optional<StrategyCost>(const Strategy&, const MoveTotal&)>;

class StrategySearch {
 public:
  // All are borrowed. `required` has an entry per output, null where any layout will do; `floor` is
  // null where computing does not count. Inputs that must stay as they are have SlotCosts of the
  // layouts that say so.
  StrategySearch(const SelectSubject& subject, const RuleChoices& choices,
                 std::span<const Layout* const> required, ComputeFloor* floor, LeafCost leaf_cost);

  // Searches strategies that cut in `order`; costs of input slots that are absent are null. What
  // costs as much as what was found in earlier orders is not taken.
  void run(const Dims& order, std::span<const SlotCosts* const> costs);
  // Forgets what was found; nothing dearer than `most_ps` is wanted. For another round over more
  // layouts.
  void restart(int64_t most_ps);
  // Strategies whose input layouts are those of `layouts` are not taken.
  void exclude(std::vector<Layout> layouts) { excluded_ = std::move(layouts); }

  const std::optional<FoundStrategy>& best() const { return best_; }
  // No strategy of the orders searched computes for less.
  int64_t least_compute_ps() const {
    return least_compute_ps_ == kImpossible ? 0 : least_compute_ps_;
  }
  int64_t searched() const { return searched_; }  // nodes

 private:
  struct Child {
    MoveTotal bound;
    int64_t compute_ps = 0;  // of that
    int rule = 0;
  };

  bool find_required(const Dims& order);
  bool gives_what_is_required(const Rule& rule, int level) const;
  bool may_improve(const MoveTotal& bound, int level) const;
  int64_t compute_floor(int level);
  bool add_compute(int level, Child& child);
  void list_children(int level);
  void open(int level);
  void close_leaf(const MoveTotal& moves);
  bool is_excluded() const;

  const SelectSubject& subject_;
  const RuleChoices& choices_;
  std::span<const Layout* const> required_;
  ComputeFloor* floor_;
  LeafCost leaf_cost_;
  std::optional<std::vector<Layout>> excluded_;

  std::optional<StrategyFrame> frame_;
  std::vector<std::vector<Layout>> may_give_;  // per output that is required, what says so
  std::span<const SlotCosts* const> costs_;
  absl::InlinedVector<int, 8> cuts_;          // mesh dims of more than one rank, in cutting order
  std::vector<StrategyState> states_;         // by level
  std::vector<std::vector<uint64_t>> codes_;  // by level, per input
  std::vector<std::vector<Child>> children_;  // by level
  Strategy now_;
  bool best_is_of_this_order_ = false;
  std::optional<FoundStrategy> best_;
  int64_t most_ps_ = kImpossible - 1;
  int64_t least_compute_ps_ = kImpossible;
  int64_t searched_ = 0;
};

}  // namespace onedim
