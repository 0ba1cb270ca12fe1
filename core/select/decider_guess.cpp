// How a Decider finds a strategy at hand on large meshes: what costs more is not looked for. The
// bounds of its moves (MoveBound) are lowered by changing one mesh dim's rule at a time, from
// several strategies that treat all mesh dims alike; the best that come out are planned.
#include <algorithm>

#include "core/select/decider.hpp"

namespace onedim {
namespace {

constexpr size_t kMostPlanned = 4;

}  // namespace

// What its moves cost at least; impossible if it is not valid.
int64_t Decider::bound_ps(const SelectSubject& subject, const Strategy& strategy) const {
  int64_t ps = 0;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    const Layout layout = input_layout(choices_, strategy, slot, mesh_);
    if (!stays(slot)) {
      ps += asked_parts(slot, layout).least_ps;
    } else if (layout != current_[slot]) {
      return kImpossible;
    }
  }
  return check_strategy(subject, choices_, strategy).ok() ? std::min(ps, kImpossible) : kImpossible;
}

void Decider::improve(const SelectSubject& subject, Strategy& strategy, int64_t& ps) const {
  for (bool is_better = true; is_better;) {
    is_better = false;
    for (const int64_t mesh_dim : cut_orders_[0]) {
      for (int rule = 0; rule < static_cast<int>(choices_.rules().size()); ++rule) {
        Strategy other = strategy;
        other.rules[static_cast<size_t>(mesh_dim)] = rule;
        const int64_t other_ps = bound_ps(subject, other);
        if (other_ps >= ps) continue;
        strategy = std::move(other);
        ps = other_ps;
        is_better = true;
      }
    }
  }
}

// The cheapest by their bounds first.
std::vector<Strategy> Decider::guesses(const SelectSubject& subject) const {
  std::vector<std::pair<int64_t, Strategy>> found;
  for (int rule = 0; rule < static_cast<int>(choices_.rules().size()); ++rule) {
    Strategy strategy;
    strategy.order = orders_[0];
    strategy.rules.assign(static_cast<size_t>(mesh_.ndim()), RuleChoices::kUnitRule);
    for (const int64_t mesh_dim : cut_orders_[0])
      strategy.rules[static_cast<size_t>(mesh_dim)] = rule;
    int64_t ps = bound_ps(subject, strategy);
    improve(subject, strategy, ps);
    const bool is_new = std::none_of(found.begin(), found.end(),
                                     [&](const auto& known) { return known.second == strategy; });
    if (ps < kImpossible && is_new) found.emplace_back(ps, std::move(strategy));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Strategy> guesses;
  for (auto& [ps, strategy] : found) guesses.push_back(std::move(strategy));
  return guesses;
}

// Of moves; impossible where none is found.
int64_t Decider::cost_at_hand_ps(const SelectSubject& subject, const Decision* excluded) {
  int64_t least_ps = kImpossible;
  size_t planned = 0;
  for (const Strategy& strategy : guesses(subject)) {
    if (planned++ == kMostPlanned) break;
    if (excluded != nullptr && input_layouts(strategy) == excluded->inputs) continue;
    const std::optional<StrategyCost> cost =
        leaf_cost(subject, strategy, MoveTotal(), /*time=*/nullptr);
    if (cost) least_ps = std::min(least_ps, cost->total.ps);
  }
  return least_ps;
}

}  // namespace onedim
