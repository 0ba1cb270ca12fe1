#include "core/select/selector.hpp"

#include <algorithm>
#include <cmath>

#include "core/layout/layout_check.hpp"
#include "core/pack/variant.hpp"
#include "core/select/move_frontier.hpp"
#include "core/select/request_key.hpp"
#include "core/select/strategy_search.hpp"

namespace onedim {
namespace {

// Per input slot; null where nothing moves.
using Plans = std::vector<std::shared_ptr<const Plan>>;

MoveTotal total_of(const Plans& plans) {
  MoveTotal total;
  for (const std::shared_ptr<const Plan>& plan : plans) {
    if (plan != nullptr)
      total += {std::llround(plan->cost_us * 1e6), plan->collective_count, plan->bytes, 1};
  }
  return total;
}

// One request, made ready for the search.
class Decider {
 public:
  Decider(const Registry& registry, Planner& planner, const SelectRequest& request)
      : registry_(registry),
        planner_(planner),
        request_(request),
        mesh_(planner.mesh()),
        required_(request.required_outputs.begin(), request.required_outputs.end()) {}

  // Checks the request, infers outputs, closes the rules.
  Status prepare();
  const RuleChoices& choices() const { return choices_; }
  std::span<const OptionalOutput> outputs() const { return outputs_; }

  // The cheapest strategy; its input layouts are not `excluded`.
  Result<std::shared_ptr<const Decision>> decide(const Decision* excluded);

 private:
  const OptionalMeta& input(size_t slot) const { return request_.call->inputs[slot]; }
  size_t input_count() const { return request_.call->inputs.size(); }
  Status check_inputs() const;
  Status check_required();
  void note_orders();
  void note_order(const Layout& layout);
  Status start_frontiers();
  int frontier_like(size_t slot) const;
  bool settle(int64_t limit_ps);
  Status search(StrategySearch& search);
  std::optional<MoveTotal> leaf_cost(const SelectSubject& subject, const Strategy& strategy,
                                     const MoveTotal& total) const;
  std::vector<Layout> input_layouts(const Strategy& strategy) const;
  std::vector<Layout> output_layouts(const Strategy& strategy) const;
  Result<Plans> plan_moves(std::span<const Layout> inputs) const;
  Result<FoundStrategy> find(const Decision* excluded, int64_t& searched);
  Result<std::shared_ptr<const Decision>> make_decision(const FoundStrategy& found,
                                                        int64_t searched);
  Status no_strategy() const;
  // What would be moved if all inputs might be: behind `; the cheapest legal alternative ...`.
  std::string alternative() const;

  const Registry& registry_;
  Planner& planner_;
  const SelectRequest& request_;
  const Mesh& mesh_;
  absl::InlinedVector<const Layout*, 4> required_;
  std::vector<OptionalOutput> outputs_;
  RuleChoices choices_;
  std::vector<Layout> current_;  // the request's, R over mesh dims of one rank
  absl::InlinedVector<bool, 8> pinned_;
  std::vector<Dims> orders_;      // all mesh dims
  std::vector<Dims> cut_orders_;  // those of more than one rank
  // Slots of equal meta, layout and placements share one.
  std::vector<MoveFrontier*> frontiers_;
  std::vector<int> frontier_of_slot_;
  // A search of all layouts at once may step through placements that a plan from one to another
  // may not (strided shards of other mesh dims): then its costs are bounds, and each full strategy
  // is planned.
  bool plans_leaves_ = false;
};

PlanOptions plan_options(const SelectOptions& options) {
  return {options.policy, options.memory_bytes, options.allow_shard_to_partial};
}

bool has_strided(std::span<const Placement> placements) {
  return std::any_of(placements.begin(), placements.end(), [](const Placement& placement) {
    return placement.kind == Placement::Kind::kStridedShard;
  });
}

// A thread's frontiers keep their memory from one decision to the next.
MoveFrontier& own_frontier(size_t index) {
  thread_local std::vector<std::unique_ptr<MoveFrontier>> frontiers;
  while (frontiers.size() <= index) frontiers.push_back(std::make_unique<MoveFrontier>());
  return *frontiers[index];
}

Status Decider::check_inputs() const {
  if (request_.inputs.size() != input_count()) {
    return invalid_argument("{}: {} layouts for {} input slots", request_.op->name(),
                            request_.inputs.size(), input_count());
  }
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    if (checked_volume(input(slot)->shape) < 0)
      return invalid_argument("{}: input {} is {}, which has too many elements",
                              request_.op->name(), slot, format_meta(*input(slot)));
    const Status status = check_placements(*input(slot), request_.inputs[slot], mesh_);
    if (!status.ok())
      return annotate(status, fmt::format("{}: input {}", request_.op->name(), slot));
  }
  return absl::OkStatus();
}

Status Decider::check_required() {
  if (required_.empty()) required_.assign(outputs_.size(), nullptr);
  if (required_.size() != outputs_.size()) {
    return invalid_argument("{}: {} required layouts for {} outputs", request_.op->name(),
                            required_.size(), outputs_.size());
  }
  for (size_t slot = 0; slot < outputs_.size(); ++slot) {
    if (required_[slot] == nullptr || !outputs_[slot]) continue;
    const Status status = check_placements(outputs_[slot]->meta, *required_[slot], mesh_);
    if (!status.ok())
      return annotate(status, fmt::format("{}: output {}", request_.op->name(), slot));
  }
  return absl::OkStatus();
}

void Decider::note_order(const Layout& layout) {
  const Dims order = layout.cutting_order();
  if (std::find(orders_.begin(), orders_.end(), order) == orders_.end()) orders_.push_back(order);
}

void Decider::note_orders() {
  note_order(Layout::replicated(mesh_.ndim()));
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (input(slot)) note_order(current_[slot]);
  }
  for (const Layout* layout : required_) {
    if (layout != nullptr) note_order(*layout);
  }
  for (const Dims& order : orders_) {
    Dims& cuts = cut_orders_.emplace_back();
    std::copy_if(order.begin(), order.end(), std::back_inserter(cuts),
                 [&](int64_t mesh_dim) { return mesh_.size(static_cast<int>(mesh_dim)) > 1; });
  }
}

Status Decider::prepare() {
  if (Status status = check_inputs(); !status.ok()) return status;
  Result<std::vector<OptionalOutput>> outputs = request_.op->infer(*request_.call);
  if (!outputs.ok()) return outputs.status();
  outputs_ = *std::move(outputs);
  if (Status status = check_required(); !status.ok()) return status;
  std::vector<const Layout*> present;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (input(slot)) present.push_back(&request_.inputs[slot]);
  }
  for (const Layout* layout : required_) {
    if (layout != nullptr) present.push_back(layout);
  }
  Result<RuleChoices> choices = RuleChoices::create(
      *request_.op, *request_.call, outputs_, registry_, present, request_.options.exact_rules);
  if (!choices.ok()) return choices.status();
  choices_ = *std::move(choices);
  for (size_t slot = 0; slot < input_count(); ++slot) {
    current_.push_back(input(slot) ? without_unit_mesh_dims(request_.inputs[slot], mesh_)
                                   : Layout());
  }
  pinned_.assign(input_count(), request_.options.forbid_moves);
  if (request_.op->plain != nullptr) {
    for (const int slot : written_slots(*request_.op, *request_.call)) pinned_[slot] = true;
  }
  note_orders();
  return absl::OkStatus();
}

// An earlier slot whose frontier serves this one too, or -1.
int Decider::frontier_like(size_t slot) const {
  for (size_t other = 0; other < slot; ++other) {
    if (!input(other) || pinned_[other] != pinned_[slot]) continue;
    const bool is_same = input(other)->shape == input(slot)->shape &&
                         input(other)->dtype == input(slot)->dtype &&
                         current_[other] == current_[slot] &&
                         choices_.placements(other) == choices_.placements(slot);
    if (is_same) return frontier_of_slot_[other];
  }
  return -1;
}

// Several tensors that are one partial value move together, which needs them all at hand: one alone
// stays as it is.
bool is_part_of_group(const Layout& layout, const Registry& registry) {
  return std::any_of(layout.placements.begin(), layout.placements.end(), [&](const Placement& p) {
    if (!p.is_partial() || is_builtin_partial(p.partial)) return false;
    const PartialKind* kind = registry.find_partial_kind(p.partial);
    return kind == nullptr || kind->output_count > 1;
  });
}

Status Decider::start_frontiers() {
  frontier_of_slot_.assign(input_count(), -1);
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    frontier_of_slot_[slot] = frontier_like(slot);
    if (frontier_of_slot_[slot] >= 0) continue;
    frontier_of_slot_[slot] = static_cast<int>(frontiers_.size());
    frontiers_.push_back(&own_frontier(frontiers_.size()));
    const FrontierSlot described{&*input(slot), &current_[slot], &choices_.placements(slot),
                                 pinned_[slot] || is_part_of_group(current_[slot], registry_)};
    plans_leaves_ = plans_leaves_ || has_strided(choices_.placements(slot)) ||
                    has_strided(current_[slot].placements);
    const Status status =
        frontiers_.back()->start(planner_.model(), request_.options, described, cut_orders_);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// False if nothing is left to settle.
bool Decider::settle(int64_t limit_ps) {
  bool is_exhausted = true;
  for (MoveFrontier* frontier : frontiers_) {
    frontier->settle(limit_ps);
    is_exhausted = is_exhausted && frontier->is_exhausted();
  }
  return !is_exhausted;
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

Result<Plans> Decider::plan_moves(std::span<const Layout> inputs) const {
  Plans plans(inputs.size());
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    if (!input(slot) || inputs[slot] == current_[slot]) continue;
    Result<std::shared_ptr<const Plan>> plan =
        planner_.plan(*input(slot), current_[slot], inputs[slot], plan_options(request_.options));
    if (!plan.ok()) return plan.status();
    plans[slot] = *std::move(plan);
  }
  return plans;
}

std::optional<MoveTotal> Decider::leaf_cost(const SelectSubject& subject, const Strategy& strategy,
                                            const MoveTotal& total) const {
  const std::vector<Layout> inputs = input_layouts(strategy);
  absl::InlinedVector<uint64_t, 8> tags;
  for (const int rule : strategy.rules) tags.push_back(choices_.rules()[rule].rule.tag);
  if (!check_local_calls(subject, inputs, output_layouts(strategy), tags).ok()) return std::nullopt;
  if (!plans_leaves_) return total;
  const Result<Plans> plans = plan_moves(inputs);
  if (!plans.ok()) return std::nullopt;
  return total_of(*plans);
}

// Grows the radius until nothing beyond it can be cheaper.
Status Decider::search(StrategySearch& search) {
  absl::InlinedVector<const SlotCosts*, 4> costs(input_count(), nullptr);
  int64_t radius_ps = 0;
  while (true) {
    const bool is_more = settle(radius_ps);
    for (size_t order = 0; order < orders_.size(); ++order) {
      for (size_t slot = 0; slot < costs.size(); ++slot) {
        const int frontier = frontier_of_slot_[slot];
        costs[slot] = frontier < 0 ? nullptr : &frontiers_[frontier]->costs(order);
      }
      search.run(orders_[order], costs);
    }
    if (!is_more || (search.best() && search.best()->total.ps <= radius_ps))
      return absl::OkStatus();
    const int64_t found_ps = search.best() ? search.best()->total.ps : kImpossible;
    int64_t next_ps = kImpossible;
    for (const MoveFrontier* frontier : frontiers_)
      next_ps = std::min(next_ps, frontier->next_ps());
    radius_ps = std::min(found_ps, std::max(2 * radius_ps, next_ps));
    search.restart();
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
  Result<Plans> plans = plan_moves(decision->inputs);
  if (!plans.ok()) return plans.status();
  decision->plans = *std::move(plans);
  decision->cost_us = static_cast<double>(found.total.ps) / 1e6;
  decision->collectives = found.total.collectives;
  decision->bytes = found.total.bytes;
  decision->searched = searched;
  decision->rule_count = static_cast<int64_t>(choices_.rules().size());
  return decision;
}

Status Decider::no_strategy() const {
  std::string held;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (input(slot) && pinned_[slot])
      held += fmt::format("{}input {} ({})", held.empty() ? "" : ", ", slot,
                          format_layout(request_.inputs[slot], mesh_));
  }
  return absl::FailedPreconditionError(
      fmt::format("{}: no strategy is valid on mesh {} under policy {}{}", request_.op->name(),
                  mesh_.format(), policy_name(request_.options.policy),
                  held.empty() ? "" : " that leaves " + held + " as it is" + alternative()));
}

std::string Decider::alternative() const {
  SelectRequest free = request_;
  free.options.forbid_moves = false;
  Decider other(registry_, planner_, free);
  if (!other.prepare().ok()) return "";
  other.pinned_.assign(other.pinned_.size(), false);
  int64_t searched = 0;
  const Result<FoundStrategy> found = other.find(nullptr, searched);
  if (!found.ok()) return "";
  const std::vector<Layout> layouts = other.input_layouts(found->strategy);
  std::string moves;
  for (size_t slot = 0; slot < layouts.size(); ++slot) {
    if (layouts[slot] != current_[slot])
      moves += fmt::format("{}input {} to {}", moves.empty() ? "" : ", ", slot,
                           format_layout(layouts[slot], mesh_));
  }
  if (moves.empty()) return "";
  return fmt::format("; the cheapest legal alternative moves {} for {:.3f} us", moves,
                     static_cast<double>(found->total.ps) * 1e-6);
}

Result<FoundStrategy> Decider::find(const Decision* excluded, int64_t& searched) {
  if (Status status = start_frontiers(); !status.ok()) return status;
  const SelectSubject subject{*request_.op, *request_.call, outputs_,
                              current_,     mesh_,          request_.options.policy};
  StrategySearch search(subject, choices_, required_, pinned_,
                        [&](const Strategy& strategy, const MoveTotal& total) {
                          return leaf_cost(subject, strategy, total);
                        });
  if (excluded != nullptr) search.exclude(excluded->inputs);
  if (Status status = this->search(search); !status.ok()) return status;
  searched += search.searched();
  if (!search.best()) return absl::NotFoundError("no strategy");
  return *search.best();
}

Result<std::shared_ptr<const Decision>> Decider::decide(const Decision* excluded) {
  int64_t searched = 0;
  Result<FoundStrategy> found = find(excluded, searched);
  if (absl::IsNotFound(found.status())) return no_strategy();
  if (!found.ok()) return found.status();
  Result<std::shared_ptr<const Decision>> decision = make_decision(*found, searched);
  if (!decision.ok() || plans_leaves_) return decision;
  if (total_of((*decision)->plans) == found->total) return decision;
  plans_leaves_ = true;
  frontiers_.clear();
  found = find(excluded, searched);
  if (absl::IsNotFound(found.status())) return no_strategy();
  if (!found.ok()) return found.status();
  return make_decision(*found, searched);
}

}  // namespace

Selector::Selector(const Registry& registry, Planner& planner, size_t capacity)
    : registry_(registry), planner_(planner), by_request_(capacity), by_meaning_(capacity) {}

Result<std::shared_ptr<const Decision>> Selector::decide(const SelectRequest& request) {
  Decider decider(registry_, planner_, request);
  if (Status status = decider.prepare(); !status.ok()) return status;
  return decider.decide(nullptr);
}

Result<std::shared_ptr<const Decision>> Selector::runner_up(const SelectRequest& request,
                                                            const Decision& chosen) {
  Decider decider(registry_, planner_, request);
  if (Status status = decider.prepare(); !status.ok()) return status;
  return decider.decide(&chosen);
}

Result<std::shared_ptr<const Decision>> Selector::select(const SelectRequest& request) {
  const MemoKey key = request_key(request);
  if (std::optional<std::shared_ptr<const Decision>> known = by_request_.find(key)) return *known;
  Decider decider(registry_, planner_, request);
  if (Status status = decider.prepare(); !status.ok()) return status;
  const MemoKey meaning = meaning_key(request, decider.outputs(), decider.choices());
  if (std::optional<std::shared_ptr<const Decision>> known = by_meaning_.find(meaning))
    return by_request_.insert(key, *known);
  Result<std::shared_ptr<const Decision>> decision = decider.decide(nullptr);
  if (!decision.ok()) return decision;
  by_meaning_.insert(meaning, *decision);
  return by_request_.insert(key, *std::move(decision));
}

SelectCounters Selector::counters() const {
  const MemoCounters whole = by_request_.counters(), shared = by_meaning_.counters();
  return {whole.hits, shared.hits, shared.misses, whole.evictions + shared.evictions};
}

void Selector::clear() {
  by_request_.clear();
  by_meaning_.clear();
}

}  // namespace onedim
