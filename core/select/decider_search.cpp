#include <algorithm>
#include <cmath>

#include "core/redistribute/plan_path.hpp"
#include "core/select/decider.hpp"

namespace onedim {
namespace {

// The radius grows by this share: small steps settle little that nobody asks for, large ones search
// strategies less often.
constexpr int64_t kRadiusShare = 24;
// On smaller meshes a search takes no longer than to find and plan a strategy to begin with.
constexpr size_t kMostUnguessedMeshDims = 6;

MoveTotal total_of(const MovePlans& plans) {
  MoveTotal total;
  for (const std::shared_ptr<const Plan>& plan : plans) {
    if (plan != nullptr)
      total += {std::llround(plan->cost_us * 1e6), plan->collective_count, plan->bytes, 1,
                static_cast<int64_t>(plan->steps.size())};
  }
  return total;
}

}  // namespace

// False if nothing is left to settle.
bool Decider::settle(int64_t limit_ps) {
  bool is_exhausted = true;
  for (size_t frontier = 0; frontier < frontiers_.size(); ++frontier) {
    if (deferred_[frontier]) continue;
    frontiers_[frontier]->settle(limit_ps);
    is_exhausted = is_exhausted && frontiers_[frontier]->is_exhausted();
  }
  return !is_exhausted;
}

// No strategy with a layout that is not settled costs less to move.
int64_t Decider::next_ps() const {
  int64_t next_ps = kImpossible;
  for (size_t frontier = 0; frontier < frontiers_.size(); ++frontier) {
    if (!deferred_[frontier]) next_ps = std::min(next_ps, frontiers_[frontier]->next_ps());
  }
  return next_ps;
}

// Inputs that are deferred cost nothing before the leaves.
void Decider::search_orders(StrategySearch& search) const {
  std::vector<const SlotCosts*> costs(input_count(), nullptr);
  for (size_t order = 0; order < orders_.size(); ++order) {
    for (size_t slot = 0; slot < costs.size(); ++slot) {
      const int frontier = frontier_of_slot_[slot];
      const bool counts = frontier >= 0 && !deferred_[frontier];
      costs[slot] = counts ? &frontiers_[frontier]->costs(order) : nullptr;
    }
    search.run(orders_[order], costs);
  }
}

std::vector<Layout> Decider::input_layouts(const Strategy& strategy) const {
  std::vector<Layout> layouts(input_count());
  for (size_t slot = 0; slot < layouts.size(); ++slot) {
    if (input(slot)) layouts[slot] = input_layout(choices_, strategy, slot, mesh_);
  }
  return layouts;
}

std::vector<Layout> Decider::output_layouts(const Strategy& strategy) const {
  std::vector<Layout> layouts(outputs_.size());
  for (size_t slot = 0; slot < layouts.size(); ++slot) {
    if (outputs_[slot]) layouts[slot] = output_layout(choices_, strategy, slot, mesh_);
  }
  return layouts;
}

// The search has settled all that a strategy it found asks for, so its own path is the plan.
Result<std::shared_ptr<const Plan>> Decider::plan_move(size_t slot, const Layout& to) const {
  // Another way to say where it is: no other layouts of it are searched.
  if (stays(slot)) return make_alias_plan(moved(slot), current_[slot], to, mesh_);
  const PlanOptions options = plan_options(request_.options, outermosts_[slot]);
  if (!plans_leaves_) {
    MoveFrontier& frontier = *frontiers_[frontier_of_slot_[slot]];
    if (std::shared_ptr<const Plan> plan = frontier.plan_to(to))
      return planner_.keep(moved(slot), options, std::move(plan));
  }
  return planner_.plan_if_any(moved(slot), current_[slot], to, options);
}

Result<MovePlans> Decider::plan_moves(std::span<const Layout> inputs) const {
  MovePlans plans(inputs.size());
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (!input(slot) || (inputs[slot] == current_[slot] && outermosts_[slot] == 0)) continue;
    Result<std::shared_ptr<const Plan>> plan = plan_move(slot, inputs[slot]);
    if (!plan.ok()) return plan.status();
    plans[slot] = *std::move(plan);
  }
  return plans;
}

// `time` is null where computing does not count.
std::optional<StrategyCost> Decider::leaf_cost(const SelectSubject& subject,
                                               const Strategy& strategy, const MoveTotal& moves,
                                               ComputeTime* time) {
  StrategyCost cost{moves, 0};
  if (has_deferred()) cost.total.add_ps(least_deferred_ps(strategy));
  const std::vector<Layout> inputs = input_layouts(strategy);
  absl::InlinedVector<uint64_t, 8> tags;
  for (const int rule : strategy.rules) tags.push_back(choices_.rules()[rule].rule.tag);
  const std::vector<Layout> outputs = output_layouts(strategy);
  if (time == nullptr) {
    if (!check_local_calls(subject, inputs, outputs, tags).ok()) return std::nullopt;
  } else {
    const Result<int64_t> ps = longest_ps(subject, inputs, outputs, tags, *time, compute_fault_);
    if (!ps.ok()) return std::nullopt;
    cost.compute_ps = *ps;
  }
  if (plans_leaves_) {
    const Result<MovePlans> plans = plan_moves(inputs);
    if (!plans.ok()) return std::nullopt;
    cost.total = total_of(*plans);
  }
  cost.total.add_ps(cost.compute_ps);
  return cost;
}

// Grows the radius until nothing beyond it can be cheaper: a strategy that needs a layout that is
// not settled costs more than the radius to move, and what it computes besides.
Status Decider::search(StrategySearch& search, int64_t radius_ps) {
  while (true) {
    const bool is_more = settle(radius_ps);
    search_orders(search);
    if (!compute_fault_.ok()) return compute_fault_;
    const int64_t found_ps =
        search.best() ? search.best()->cost.total.ps - search.least_compute_ps() : kImpossible;
    if (!is_more || found_ps <= radius_ps) return absl::OkStatus();
    for (MoveFrontier* frontier : frontiers_) {
      if (!has_deferred()) frontier->forget_above(found_ps);
    }
    radius_ps = std::min(found_ps, std::max(radius_ps + radius_ps / kRadiusShare, next_ps()));
    if (search.best()) search.restart(search.best()->cost.total.ps);
  }
}

Result<std::shared_ptr<const Decision>> Decider::make_decision(const FoundStrategy& found,
                                                               int64_t searched) {
  auto decision = std::make_shared<Decision>();
  decision->order = found.strategy.order;
  for (const int rule : found.strategy.rules)
    decision->rules.push_back(choices_.rules()[rule].rule);
  decision->inputs = input_layouts(found.strategy);
  decision->outputs = output_layouts(found.strategy);
  Result<MovePlans> plans = plan_moves(decision->inputs);
  if (!plans.ok()) return plans.status();
  decision->plans = *std::move(plans);
  const MoveTotal& total = found.cost.total;
  decision->cost_us = static_cast<double>(total.ps) / 1e6;
  decision->compute_us = static_cast<double>(found.cost.compute_ps) / 1e6;
  decision->collectives = total.collectives;
  decision->bytes = total.bytes;
  decision->searched = searched;
  decision->rule_count = static_cast<int64_t>(choices_.rules().size());
  return decision;
}

Result<FoundStrategy> Decider::find(const Decision* excluded, int64_t& searched) {
  if (Status status = start_frontiers(excluded == nullptr); !status.ok()) return status;
  const SelectSubject subject{*request_.op, *request_.call, outputs_,
                              current_,     mesh_,          request_.options.policy};
  std::optional<ComputeTime> time;
  std::optional<ComputeFloor> floor;
  if (request_.options.with_compute) {
    time.emplace(subject, *roofline_);
    floor.emplace(subject, choices_, *time);
  }
  StrategySearch search(subject, choices_, required_, floor ? &*floor : nullptr,
                        [&](const Strategy& strategy, const MoveTotal& moves) {
                          if (listing_) return list_leaf(strategy, moves);
                          return leaf_cost(subject, strategy, moves, time ? &*time : nullptr);
                        });
  if (excluded != nullptr) search.exclude(excluded->inputs);
  const bool is_large = cut_orders_[0].size() > kMostUnguessedMeshDims;
  if (is_large && !other_moves_.empty() && !request_.options.with_compute) {
    const int64_t at_hand_ps = cost_at_hand_ps(subject, excluded);
    for (MoveFrontier* frontier : frontiers_) frontier->forget_above(at_hand_ps);
  }
  if (Status status = has_deferred() ? search_light_last(search) : this->search(search, 0);
      !status.ok())
    return status;
  searched += search.searched();
  if (!search.best())
    return absl::NotFoundError(request_.op->name() + ": no other strategy is valid");
  return *search.best();
}

// Whether the plans cost what the search took them to.
bool Decider::is_as_found(const Decision& decision, const FoundStrategy& found) const {
  MoveTotal planned = total_of(decision.plans);
  planned.add_ps(found.cost.compute_ps);
  return planned == found.cost.total;
}

Result<std::shared_ptr<const Decision>> Decider::decide_if_any(const Decision* excluded) {
  int64_t searched = 0;
  while (true) {
    const Result<FoundStrategy> found = find(excluded, searched);
    if (!found.ok()) return found.status();
    Result<std::shared_ptr<const Decision>> decision = make_decision(*found, searched);
    if (plans_leaves_ || (decision.ok() && is_as_found(**decision, *found))) return decision;
    plans_leaves_ = true;
    frontiers_.clear();
  }
}

Result<std::shared_ptr<const Decision>> Decider::decide(const Decision* excluded) {
  Result<std::shared_ptr<const Decision>> decision = decide_if_any(excluded);
  return absl::IsNotFound(decision.status()) && excluded == nullptr ? no_strategy() : decision;
}

}  // namespace onedim
