#include "core/pack/rule_set.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace onedim {
namespace {

// True if `a` holds wherever `b` does, as exactly.
bool absorbs(const Rule& a, const Rule& b) {
  const auto is_asked_by_b = [&](const Requirement& requirement) {
    return std::find(b.requirements.begin(), b.requirements.end(), requirement) !=
           b.requirements.end();
  };
  return (!a.even_only || b.even_only) && (!a.to_rounding || b.to_rounding) &&
         std::all_of(a.requirements.begin(), a.requirements.end(), is_asked_by_b);
}

// Of two that are equally true: any shard before plain, declared before implied.
std::pair<bool, bool> rank(const ClosedRule& rule) { return {rule.any_shard, !rule.rule.implied}; }

}  // namespace

RuleSet::Numbers RuleSet::numbers_of(const Rule& rule) {
  Numbers numbers;
  for (const std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
    for (const Placement& placement : *side) {
      const auto found = std::find(placements_.begin(), placements_.end(), placement);
      numbers.push_back(static_cast<uint32_t>(found - placements_.begin()));
      if (found == placements_.end()) placements_.push_back(placement);
    }
  }
  return numbers;
}

void RuleSet::add(ClosedRule rule) {
  Numbers numbers = numbers_of(rule.rule);
  absl::InlinedVector<uint32_t, 2>& same = same_[numbers];
  for (const uint32_t number : same) {
    ClosedRule& other = rules_[number];
    const bool is_weaker = absorbs(other.rule, rule.rule);
    if (is_weaker && absorbs(rule.rule, other.rule)) {
      if (rank(rule) > rank(other)) other = std::move(rule);
      return;
    }
    if (is_weaker) return;
  }
  const auto is_absorbed = [&](uint32_t number) { return absorbs(rule.rule, rules_[number].rule); };
  const auto gone = std::stable_partition(same.begin(), same.end(), std::not_fn(is_absorbed));
  is_gone_.resize(rules_.size() + 1, false);
  for (auto number = gone; number != same.end(); ++number) is_gone_[*number] = true;
  same.erase(gone, same.end());
  same.push_back(static_cast<uint32_t>(rules_.size()));
  rules_.push_back(std::move(rule));
  of_rule_.push_back(std::move(numbers));
}

std::vector<uint32_t> RuleSet::text_ranks() const {
  std::vector<uint32_t> order(placements_.size()), ranks(placements_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return compare_text(placements_[a], placements_[b]) < 0;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const bool is_alike = compare_text(placements_[order[i - 1]], placements_[order[i]]) == 0;
    ranks[order[i]] = ranks[order[i - 1]] + (is_alike ? 0 : 1);
  }
  return ranks;
}

// No placement's text is the beginning of another's, so texts compare slot by slot.
std::vector<ClosedRule> RuleSet::take() {
  const std::vector<uint32_t> ranks = text_ranks();
  std::vector<uint32_t> order;
  for (uint32_t number = 0; number < rules_.size(); ++number) {
    if (!is_gone_[number]) order.push_back(number);
    for (uint32_t& placement : of_rule_[number]) placement = ranks[placement];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return of_rule_[a] < of_rule_[b]; });
  std::vector<ClosedRule> taken;
  taken.reserve(order.size());
  for (const uint32_t number : order) taken.push_back(std::move(rules_[number]));
  *this = RuleSet();
  return taken;
}

}  // namespace onedim
