#include "core/plan/natural_placements.hpp"

#include <algorithm>

namespace onedim {
namespace {

bool has_kind(const Rule& rule, Placement::Kind kind) {
  const auto is_it = [&](const Placement& placement) { return placement.kind == kind; };
  return std::any_of(rule.inputs.begin(), rule.inputs.end(), is_it) ||
         std::any_of(rule.outputs.begin(), rule.outputs.end(), is_it);
}

bool is_natural(const Rule& rule, std::span<const PlacementSet* const> inputs) {
  if (has_kind(rule, Placement::Kind::kStridedShard) && has_kind(rule, Placement::Kind::kShard))
    return true;
  bool has_special = false;
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const Placement& placement = rule.inputs[slot];
    const bool is_own_kind = placement.is_partial() && !is_builtin_partial(placement.partial);
    if (inputs[slot] == nullptr || (!is_special(placement) && !is_own_kind)) continue;
    has_special = true;
    if (std::binary_search(inputs[slot]->begin(), inputs[slot]->end(), placement)) return true;
  }
  return !has_special;
}

bool has_no_more_conditions(const Rule& rule, const Rule& than) {
  return rule.tag == than.tag && (!rule.even_only || than.even_only) &&
         (rule.requirements.empty() || rule.requirements == than.requirements) &&
         (!rule.to_rounding || than.to_rounding);
}

// `rule` is `other` with some R outputs read as partials.
bool is_reading_of(const Rule& rule, const Rule& other) {
  if (rule.inputs != other.inputs || rule.outputs == other.outputs) return false;
  for (size_t slot = 0; slot < rule.outputs.size(); ++slot) {
    const Placement& mine = rule.outputs[slot];
    const Placement& theirs = other.outputs[slot];
    const bool is_read =
        theirs.is_replicate() && mine.is_partial() && is_idempotent_partial(mine.partial);
    if (mine != theirs && !is_read) return false;
  }
  return has_no_more_conditions(other, rule);
}

}  // namespace

bool is_special(const Placement& placement) {
  return placement.kind == Placement::Kind::kStridedShard ||
         (placement.is_partial() && is_builtin_partial(placement.partial));
}

void insert(PlacementSet& set, const Placement& placement) {
  const auto at = std::lower_bound(set.begin(), set.end(), placement);
  if (at == set.end() || *at != placement) set.insert(at, placement);
}

std::vector<int> rules_worth_trying(const RuleChoices& choices,
                                    std::span<const PlacementSet* const> inputs) {
  const std::vector<RuleChoice>& rules = choices.rules();
  std::vector<int> natural, kept;
  for (size_t rule = 0; rule < rules.size(); ++rule) {
    if (is_natural(rules[rule].rule, inputs)) natural.push_back(static_cast<int>(rule));
  }
  for (const int rule : natural) {
    const bool is_reading = std::any_of(natural.begin(), natural.end(), [&](int other) {
      return is_reading_of(rules[rule].rule, rules[other].rule);
    });
    if (!is_reading) kept.push_back(rule);
  }
  return kept;
}

}  // namespace onedim
