#include "core/select/rule_choices.hpp"

#include <algorithm>
#include <set>

namespace onedim {
namespace {

constexpr std::ptrdiff_t kMostReplicated = 12;  // of which closed rules hold every combination

std::set<int64_t> split_factors_in(std::span<const Layout* const> layouts) {
  std::set<int64_t> factors;
  for (const Layout* layout : layouts) {
    for (const Placement& placement : layout->placements) {
      if (placement.kind == Placement::Kind::kStridedShard) factors.insert(placement.split_factor);
    }
  }
  return factors;
}

Rule strided(Rule rule, int64_t split_factor) {
  for (std::vector<Placement>* side : {&rule.outputs, &rule.inputs}) {
    for (Placement& placement : *side) {
      if (placement.kind == Placement::Kind::kShard)
        placement = Placement::strided_shard(placement.dim, split_factor);
    }
  }
  return rule;
}

bool has_only(const std::vector<Placement>& side, Placement::Kind kind) {
  return std::all_of(side.begin(), side.end(), [&](const Placement& placement) {
    return placement.kind == kind || placement.is_none();
  });
}

}  // namespace

Result<RuleChoices> RuleChoices::create(const Op& op, const Call& call,
                                        std::span<const OptionalOutput> outputs,
                                        const Registry& registry,
                                        std::span<const Layout* const> present, bool exact_only) {
  Result<std::vector<ClosedRule>> closed = closed_rules(op, call, outputs, registry);
  if (!closed.ok()) return closed.status();
  const std::set<int64_t> factors = split_factors_in(present);
  RuleChoices choices;
  choices.placements_.resize(call.inputs.size());
  for (const ClosedRule& rule : *closed) {
    if (exact_only && rule.rule.to_rounding) continue;
    choices.rules_.push_back({rule.rule, {}});
    if (!rule.any_shard) continue;
    for (const int64_t factor : factors) {
      Rule variant = strided(rule.rule, factor);
      if (!variant.has_same_placements(rule.rule))
        choices.rules_.push_back({std::move(variant), {}});
    }
  }
  choices.sort_and_number();
  choices.replicas_stand_in_ = choices.has_replicas_beside(op);
  return choices;
}

bool RuleChoices::has_replicas_beside(const Op& op) const {
  if (op.is_position_aware() || op.is_list_form()) return false;
  return std::all_of(rules_.begin(), rules_.end(), [](const RuleChoice& choice) {
    const std::vector<Placement>& inputs = choice.rule.inputs;
    const auto relabelled = std::count_if(inputs.begin(), inputs.end(), [](const Placement& p) {
      return p.is_partial() && is_idempotent_partial(p.partial);
    });
    return choice.rule.tag == 0 && relabelled <= kMostReplicated;
  });
}

std::vector<Placement> RuleChoices::output_placements(size_t output) const {
  std::vector<Placement> placements;
  for (const RuleChoice& choice : rules_) {
    const Placement& placement = choice.rule.outputs[output];
    if (std::find(placements.begin(), placements.end(), placement) == placements.end())
      placements.push_back(placement);
  }
  return placements;
}

void RuleChoices::sort_and_number() {
  const auto is_replicate = [](const RuleChoice& choice) {
    return has_only(choice.rule.inputs, Placement::Kind::kReplicate) &&
           has_only(choice.rule.outputs, Placement::Kind::kReplicate);
  };
  const auto rank = [&](const RuleChoice& choice) {
    return is_replicate(choice) ? 0 : choice.rule.implied ? 2 : 1;
  };
  std::stable_sort(rules_.begin(), rules_.end(),
                   [&](const RuleChoice& a, const RuleChoice& b) { return rank(a) < rank(b); });
  for (RuleChoice& choice : rules_) {
    for (size_t slot = 0; slot < placements_.size(); ++slot) {
      std::vector<Placement>& known = placements_[slot];
      const auto found = std::find(known.begin(), known.end(), choice.rule.inputs[slot]);
      choice.symbols.push_back(static_cast<uint8_t>(found - known.begin()));
      if (found == known.end()) known.push_back(choice.rule.inputs[slot]);
    }
  }
}

}  // namespace onedim
