#pragma once
// MoveFrontier: the layouts that one input can be brought to, settled in order of cost, or of the
// cost with what a strategy that asks for them costs at least besides. Each
// settled layout that a strategy may ask for is entered in the SlotCosts of every cutting order.
// Inputs that must stay as they are have their own layout and its equals (equal_layouts.hpp), which
// cost nothing. Not thread-safe.

#include "core/redistribute/graph_store.hpp"
#include "core/redistribute/move_bound.hpp"
#include "core/redistribute/plan_path.hpp"
#include "core/select/select_request.hpp"
#include "core/select/slot_costs.hpp"

namespace onedim {

struct FrontierSlot {
  const TensorMeta* meta = nullptr;
  std::span<const TensorMeta> moved;  // the tensor, or the state that it is, of the same shape
  const Layout* current = nullptr;
  int outermost = 0;  // in memory; layouts that are asked for are row-major
  const std::vector<Placement>* placements = nullptr;  // digit -> placement
  bool stays = false;
  bool relabels = true;  // layouts count in which R stands as P(avg|max|min)
  // Of the layouts that may be asked for; null: those of `placements`.
  const std::vector<std::string>* kinds = nullptr;
};

class MoveFrontier {
 public:
  // First, where bounds are wanted: what it costs at least to bring the slot's input anywhere.
  void bound(const CostModel& model, const FrontierSlot& slot) {
    int64_t bytes = 0;
    for (const TensorMeta& meta : slot.moved) bytes += meta.bytes();
    bound_.start(model, bytes, *slot.current);
  }
  const MoveBound& bound() const { return bound_; }
  // Forgets what was settled. All that is passed is borrowed until the next call of `start`, and so
  // is `orders`: mesh dims of more than one rank in cutting order, one list per SlotCosts.
  // `ends`, which may be null, has for each layout what a strategy costs at least besides: layouts
  // are then settled in order of the sum.
  Status start(const CostModel& model, GraphLeases& graphs, const SelectOptions& options,
               const FrontierSlot& slot, std::span<const Dims> orders,
               const std::vector<int64_t>* ends);
  void settle(int64_t limit_ps);
  // Layouts that cost more are not looked for from here on.
  void forget_above(int64_t most_ps) {
    if (!slot_.stays) search_.forget_above(most_ps);
  }
  bool is_exhausted() const { return slot_.stays || search_.is_exhausted(); }
  // No layout that is not settled costs less.
  int64_t next_ps() const { return slot_.stays ? kImpossible : search_.next_ps(); }
  const SlotCosts& costs(size_t order) const { return costs_[order]; }
  // The plan to a layout that was settled; null where the planner, which steps only through the
  // partial kinds and strided shards of source and target, may find another.
  std::shared_ptr<const Plan> plan_to(const Layout& layout);

 private:
  void enter_as_given(const Dims& order, const Mesh& mesh, SlotCosts& costs);
  void enter(int state);

  FrontierSlot slot_;
  std::span<const Dims> orders_;
  StateGraph* graph_ = nullptr;
  std::array<int8_t, 32> digit_of_symbol_{};
  std::array<int8_t, 8> code_place_of_mesh_dim_{};
  absl::InlinedVector<GroupMember, 1> members_;
  SearchRequest request_;
  PlanSearch search_;
  int source_ = 0;
  size_t entered_ = 0;  // of the settled states
  std::vector<SlotCosts> costs_;
  MoveBound bound_;
  RestBound rest_;
};

}  // namespace onedim
