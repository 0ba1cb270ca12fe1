#pragma once
// Decider: one request of selection, made ready and decided, without any cache of decisions. Used
// once, by one thread.

#include <algorithm>

#include "core/pack/registry.hpp"
#include "core/redistribute/planner.hpp"
#include "core/select/decision.hpp"
#include "core/select/move_frontier.hpp"
#include "core/select/strategy_search.hpp"

namespace onedim {

// Per input slot; null where nothing moves.
using MovePlans = std::vector<std::shared_ptr<const Plan>>;

class Decider {
 public:
  // `roofline` is null where there are no compute figures.
  Decider(const Registry& registry, Planner& planner, const Roofline* roofline,
          const SelectRequest& request)
      : registry_(registry),
        planner_(planner),
        roofline_(roofline),
        request_(request),
        mesh_(planner.mesh()),
        required_(request.required_outputs.begin(), request.required_outputs.end()),
        graphs_(planner.graphs()) {}

  // Checks the request, infers outputs, closes the rules.
  Status prepare();
  const RuleChoices& choices() const { return choices_; }
  std::span<const OptionalOutput> outputs() const { return outputs_; }

  // The cheapest strategy; its input layouts are not those of `excluded`, where that is not null:
  // then NotFound if there is none.
  Result<std::shared_ptr<const Decision>> decide(const Decision* excluded);

 private:
  const OptionalMeta& input(size_t slot) const { return request_.call->inputs[slot]; }
  size_t input_count() const { return request_.call->inputs.size(); }
  // The kind of a partial that cannot move: one of several tensors that are one value, which move
  // together, or one whose state is not given.
  const PartialKind* immovable_kind(size_t slot) const;
  bool stays(size_t slot) const {
    return input(slot) && (pinned_[slot] || immovable_[slot] != nullptr);
  }
  std::span<const TensorMeta> state(size_t slot) const {
    return slot < request_.states.size() ? std::span(request_.states[slot])
                                         : std::span<const TensorMeta>();
  }
  // What a move of the input moves.
  std::span<const TensorMeta> moved(size_t slot) const {
    return state(slot).empty() ? std::span(&*input(slot), 1) : state(slot);
  }
  int64_t moved_bytes(size_t slot) const;
  Status check_layout(const TensorMeta& meta, const Layout& layout, std::string_view side,
                      size_t slot) const;
  Status check_inputs() const;
  Status check_state(size_t slot) const;
  Status check_memory_orders() const;
  Status check_required();
  void note_pinned();
  void note_memory_orders();
  static constexpr size_t kMostPermuted = 4;  // mesh dims, of more than one rank
  void note_orders();
  void note_order(const Dims& order);
  void note_permutations();
  Status start_frontiers(bool may_defer);
  Status start_frontier(size_t frontier);
  size_t first_slot_like(size_t slot) const;
  bool may_bound() const;
  FrontierSlot frontier_slot(size_t slot) const;
  void bound_moves();
  bool settle(int64_t limit_ps);
  int64_t next_ps() const;
  void search_orders(StrategySearch& search) const;
  Status search(StrategySearch& search, int64_t radius_ps);
  // A strategy at hand, on large meshes (decider_guess.cpp).
  int64_t bound_ps(const SelectSubject& subject, const Strategy& strategy) const;
  void improve(const SelectSubject& subject, Strategy& strategy, int64_t& ps) const;
  std::vector<Strategy> guesses(const SelectSubject& subject) const;
  int64_t cost_at_hand_ps(const SelectSubject& subject, const Decision* excluded);
  std::optional<StrategyCost> leaf_cost(const SelectSubject& subject, const Strategy& strategy,
                                        const MoveTotal& moves, ComputeTime* time);
  std::vector<Layout> input_layouts(const Strategy& strategy) const;
  std::vector<Layout> output_layouts(const Strategy& strategy) const;
  Result<std::shared_ptr<const Plan>> plan_move(size_t slot, const Layout& to) const;
  Result<MovePlans> plan_moves(std::span<const Layout> inputs) const;
  Result<FoundStrategy> find(const Decision* excluded, int64_t& searched);
  Result<std::shared_ptr<const Decision>> make_decision(const FoundStrategy& found,
                                                        int64_t searched);
  bool is_as_found(const Decision& decision, const FoundStrategy& found) const;
  // NotFound where no strategy is valid.
  Result<std::shared_ptr<const Decision>> decide_if_any(const Decision* excluded);

  // Light inputs, which are searched last (decider_light.cpp).
  struct Listing {
    std::vector<std::vector<int64_t>> ends;       // per deferred frontier, by parts
    std::vector<std::vector<std::string>> kinds;  // partial kinds that are asked for
    int64_t most_ps = 0;
    int64_t count = 0;
  };
  struct AskedParts {
    uint32_t kept = 0;  // mesh dims, as in MoveBound
    uint32_t cut = 0;
    int64_t least_ps = 0;
  };
  void defer_light();
  bool is_deferred(size_t slot) const { return input(slot) && deferred_[frontier_of_slot_[slot]]; }
  AskedParts asked_parts(size_t slot, const Layout& layout) const;
  int64_t least_deferred_ps(const Strategy& strategy) const;
  bool has_deferred() const {
    return std::find(deferred_.begin(), deferred_.end(), true) != deferred_.end();
  }
  Status search_light_last(StrategySearch& search);
  std::optional<StrategyCost> list_leaf(const Strategy& strategy, const MoveTotal& moves);
  void list_layout(size_t slot, const Layout& layout, int64_t others_ps);
  void list_light(StrategySearch& search, int64_t most_ps);
  Status settle_deferred(int64_t most_ps, std::span<const std::vector<int64_t>> unlisted_moves);

  // In words, where no strategy is valid (decider_refusal.cpp).
  Status no_strategy() const;
  std::string what_is_fixed() const;
  std::string why_held(size_t slot) const;
  std::string why_none() const;
  std::string what_would_do() const;
  std::string alternative(const Decision& decision) const;
  int64_t least_sufficient_memory(const Decision& enough) const;
  std::vector<int> rules_that_keep(int mesh_dim, bool exactly) const;
  // What would be decided under other options, with inputs that must stay free if `moves_all`; null
  // if nothing.
  std::shared_ptr<const Decision> probe(const SelectOptions& options, bool moves_all) const;

  const Registry& registry_;
  Planner& planner_;
  const Roofline* roofline_;
  const SelectRequest& request_;
  const Mesh& mesh_;
  absl::InlinedVector<const Layout*, 4> required_;  // the request's, as it counts
  std::vector<Layout> required_layouts_;
  std::vector<OptionalOutput> outputs_;
  RuleChoices choices_;
  std::vector<Layout> current_;                           // the request's, as it counts
  absl::InlinedVector<int, 8> outermosts_;                // 0 where it lies as if row-major
  absl::InlinedVector<bool, 8> pinned_;                   // never an absent slot
  absl::InlinedVector<const PartialKind*, 8> immovable_;  // the kind, or null
  std::vector<Dims> orders_;                              // all mesh dims
  std::vector<Dims> cut_orders_;                          // those of more than one rank
  // Slots of equal meta, layout and placements share one.
  std::vector<MoveFrontier*> frontiers_;
  std::vector<int> frontier_of_slot_;
  std::vector<size_t> slot_of_frontier_;  // the first
  // Per frontier, what a strategy costs at least besides its own move; of slots that share one, the
  // least. Empty without bounds.
  std::vector<std::vector<int64_t>> other_moves_;
  absl::InlinedVector<bool, 8> deferred_;  // per frontier
  std::optional<Listing> listing_;         // while one is made
  GraphLeases graphs_;
  // A search of all layouts at once may step through placements that a plan from one to another
  // may not (strided shards of other mesh dims; on large meshes any): then its costs are bounds,
  // and each full strategy is planned.
  bool plans_leaves_ = false;
  Status compute_fault_;  // of the pack's cost
};

}  // namespace onedim
