#include "core/select/strategy_search.hpp"

#include <algorithm>

#include "core/select/equal_layouts.hpp"

namespace onedim {

StrategySearch::StrategySearch(const SelectSubject& subject, const RuleChoices& choices,
                               std::span<const Layout* const> required, ComputeFloor* floor,
                               LeafCost leaf_cost)
    : subject_(subject),
      choices_(choices),
      required_(required),
      floor_(floor),
      leaf_cost_(std::move(leaf_cost)) {}

// False if nothing that cuts in `order` gives what is required.
bool StrategySearch::find_required(const Dims& order) {
  may_give_.assign(required_.size(), {});
  for (size_t output = 0; output < required_.size(); ++output) {
    const OptionalOutput& meta = subject_.outputs[output];
    if (required_[output] == nullptr || !meta) continue;
    may_give_[output] = equal_layouts(meta->meta.shape, *required_[output],
                                      choices_.output_placements(output), order, subject_.mesh);
    if (may_give_[output].empty()) return false;
  }
  return true;
}

void StrategySearch::run(const Dims& order, std::span<const SlotCosts* const> costs) {
  frame_.emplace(subject_, order);
  if (!find_required(order)) return;
  costs_ = costs;
  best_is_of_this_order_ = false;
  now_.rules.assign(subject_.mesh.ndim(), RuleChoices::kUnitRule);
  now_.order = order;
  cuts_.clear();
  for (const int64_t mesh_dim : order) {
    if (subject_.mesh.size(static_cast<int>(mesh_dim)) > 1)
      cuts_.push_back(static_cast<int>(mesh_dim));
  }
  states_.assign(cuts_.size() + 1, StrategyState(*frame_));
  codes_.assign(cuts_.size() + 1, std::vector<uint64_t>(costs.size(), 0));
  children_.resize(cuts_.size());
  MoveTotal bound;
  for (const SlotCosts* slot : costs_) {
    if (slot != nullptr) bound += slot->least(0, 0);
  }
  if (cuts_.empty()) return close_leaf(bound);
  const int64_t compute_ps = compute_floor(0);
  least_compute_ps_ = std::min(least_compute_ps_, compute_ps);
  bound.add_ps(compute_ps);
  if (may_improve(bound, 0)) open(0);
}

void StrategySearch::restart(int64_t most_ps) {
  most_ps_ = std::min(most_ps, kImpossible - 1);
  best_.reset();
}

// `rule` at `level`, with the rules that are set before it.
bool StrategySearch::gives_what_is_required(const Rule& rule, int level) const {
  for (size_t output = 0; output < may_give_.size(); ++output) {
    const std::vector<Layout>& layouts = may_give_[output];
    const auto is_begun_so = [&](const Layout& layout) {
      for (int i = 0; i < level; ++i) {
        const Rule& before = choices_.rules()[now_.rules[cuts_[i]]].rule;
        if (layout.placements[cuts_[i]] != before.outputs[output]) return false;
      }
      return layout.placements[cuts_[level]] == rule.outputs[output];
    };
    if (!layouts.empty() && std::none_of(layouts.begin(), layouts.end(), is_begun_so)) return false;
  }
  return true;
}

// `level` rules are set. Equal cost is only worth it for rules of smaller numbers.
bool StrategySearch::may_improve(const MoveTotal& bound, int level) const {
  if (!bound.is_possible()) return false;
  if (!best_) return bound.ps <= most_ps_;
  if (bound != best_->cost.total) return bound < best_->cost.total;
  if (!best_is_of_this_order_) return false;
  for (int i = 0; i < level; ++i) {
    const int mesh_dim = cuts_[i];
    const int now = now_.rules[mesh_dim], known = best_->strategy.rules[mesh_dim];
    if (now != known) return now < known;
  }
  return level < static_cast<int>(cuts_.size());
}

// What the strategies that go on from states_[level] compute for at least.
int64_t StrategySearch::compute_floor(int level) {
  if (floor_ == nullptr) return 0;
  return floor_->ps(std::span(cuts_).subspan(level), states_[level]);
}

// Puts the floor of computing into the bound of `child`, whose rule is set at `level`; false if it
// is not worth opening.
bool StrategySearch::add_compute(int level, Child& child) {
  if (floor_ == nullptr) return true;
  states_[level + 1] = states_[level];
  const Rule& rule = choices_.rules()[child.rule].rule;
  if (states_[level + 1].apply(*frame_, rule, cuts_[level]).refused()) return false;
  child.compute_ps = compute_floor(level + 1);
  child.bound.add_ps(child.compute_ps);
  return may_improve(child.bound, level + 1);
}

void StrategySearch::list_children(int level) {
  const int mesh_dim = cuts_[level];
  std::vector<Child>& children = children_[level];
  children.clear();
  for (int rule = 0; rule < static_cast<int>(choices_.rules().size()); ++rule) {
    const RuleChoice& choice = choices_.rules()[rule];
    Child child{{}, 0, rule};
    for (size_t slot = 0; slot < costs_.size() && child.bound.is_possible(); ++slot) {
      if (costs_[slot] == nullptr) continue;
      const uint64_t code = codes_[level][slot] * costs_[slot]->radix() + choice.symbols[slot];
      child.bound += costs_[slot]->least(level + 1, code);
    }
    now_.rules[mesh_dim] = rule;
    if (may_improve(child.bound, level + 1) && gives_what_is_required(choice.rule, level) &&
        add_compute(level, child))
      children.push_back(child);
  }
  std::stable_sort(children.begin(), children.end(),
                   [](const Child& a, const Child& b) { return a.bound < b.bound; });
}

void StrategySearch::open(int level) {
  ++searched_;
  list_children(level);
  const int mesh_dim = cuts_[level];
  for (const Child& child : children_[level]) {
    now_.rules[mesh_dim] = child.rule;
    if (!may_improve(child.bound, level + 1)) continue;
    const RuleChoice& choice = choices_.rules()[child.rule];
    states_[level + 1] = states_[level];
    if (states_[level + 1].apply(*frame_, choice.rule, mesh_dim).refused()) continue;
    for (size_t slot = 0; slot < costs_.size(); ++slot) {
      if (costs_[slot] != nullptr)
        codes_[level + 1][slot] =
            codes_[level][slot] * costs_[slot]->radix() + choice.symbols[slot];
    }
    if (level + 1 == static_cast<int>(cuts_.size())) {
      MoveTotal moves = child.bound;
      moves.ps -= child.compute_ps;
      close_leaf(moves);
    } else {
      open(level + 1);
    }
  }
}

bool StrategySearch::is_excluded() const {
  if (!excluded_) return false;
  for (size_t slot = 0; slot < costs_.size(); ++slot) {
    if (costs_[slot] != nullptr &&
        input_layout(choices_, now_, slot, subject_.mesh) != (*excluded_)[slot])
      return false;
  }
  return true;
}

void StrategySearch::close_leaf(const MoveTotal& moves) {
  if (!moves.is_possible() || is_excluded()) return;
  const std::optional<StrategyCost> exact = leaf_cost_(now_, moves);
  if (!exact || !may_improve(exact->total, static_cast<int>(cuts_.size()))) return;
  best_ = {now_, *exact};
  best_is_of_this_order_ = true;
}

}  // namespace onedim
