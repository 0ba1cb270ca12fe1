#include "core/select/given_rules.hpp"

namespace onedim {
namespace {

bool has_conditions(const Rule& rule) {
  return rule.even_only || rule.to_rounding || rule.tag != 0 || !rule.requirements.empty();
}

bool has_same_conditions(const Rule& a, const Rule& b) {
  return a.even_only == b.even_only && a.to_rounding == b.to_rounding && a.tag == b.tag &&
         a.requirements == b.requirements;
}

Result<int> find_rule(const Op& op, const RuleChoices& choices, const Rule& rule) {
  const std::vector<RuleChoice>& known = choices.rules();
  for (size_t i = 0; i < known.size(); ++i) {
    if (!known[i].rule.has_same_placements(rule)) continue;
    if (!has_conditions(rule) || has_same_conditions(known[i].rule, rule))
      return static_cast<int>(i);
  }
  return invalid_argument("{} has no rule {} for this call; `onedim rules` lists those it has",
                          op.name(), format_conditional_rule(rule));
}

}  // namespace

Result<RuleChoices> choices_for(const Op& op, const Call& call,
                                std::span<const OptionalOutput> outputs, const Registry& registry,
                                std::span<const Rule> rules) {
  Layout strided;
  for (const Rule& rule : rules) {
    for (const std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
      for (const Placement& placement : *side) {
        if (placement.kind == Placement::Kind::kStridedShard)
          strided.placements.push_back(Placement::strided_shard(0, placement.split_factor));
      }
    }
  }
  const Layout* const present[] = {&strided};
  return RuleChoices::create(op, call, outputs, registry, present, false);
}

Result<Strategy> find_strategy(const Op& op, const RuleChoices& choices,
                               std::span<const Rule> rules, const Dims& order) {
  Strategy strategy{{}, order};
  for (const Rule& rule : rules) {
    const Result<int> found = find_rule(op, choices, rule);
    if (!found.ok()) return found.status();
    strategy.rules.push_back(*found);
  }
  return strategy;
}

}  // namespace onedim
