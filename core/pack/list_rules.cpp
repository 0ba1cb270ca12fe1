// How the rules of a list's elements make the list's, see list_form.hpp.

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/pack/list_form.hpp"

namespace onedim {
namespace {

constexpr size_t kMostRules = 1024;  // more would make a call slow to select, and add little

bool has_pack_kind(const std::vector<Placement>& side) {
  return std::any_of(side.begin(), side.end(), [](const Placement& placement) {
    return placement.is_partial() && !is_builtin_partial(placement.partial);
  });
}

// Two elements' rules as one; nullopt where they want an input of both placed differently, or each
// a pack's partial, of which a rule has one group.
std::optional<ClosedRule> joined(const ClosedRule& a, const ClosedRule& b) {
  if (has_pack_kind(a.rule.outputs) && has_pack_kind(b.rule.outputs)) return std::nullopt;
  ClosedRule both = a;
  Rule& rule = both.rule;
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    const Placement& other = b.rule.inputs[slot];
    if (other.is_none()) continue;
    if (!rule.inputs[slot].is_none() && rule.inputs[slot] != other) return std::nullopt;
    rule.inputs[slot] = other;
  }
  for (Requirement requirement : b.rule.requirements) {
    if (requirement.is_output) requirement.slot += static_cast<int>(rule.outputs.size());
    rule.requirements.push_back(requirement);
  }
  rule.outputs.insert(rule.outputs.end(), b.rule.outputs.begin(), b.rule.outputs.end());
  rule.even_only |= b.rule.even_only;
  rule.to_rounding |= b.rule.to_rounding;
  rule.implied |= b.rule.implied;
  both.any_shard |= b.any_shard;
  return both;
}

class Combiner {
 public:
  explicit Combiner(std::span<const ElementRules> elements) : elements_(elements) {}

  std::vector<ClosedRule> run() && {
    std::vector<size_t> own_group(elements_.size());
    std::iota(own_group.begin(), own_group.end(), size_t{0});
    const std::vector<size_t> kinds = kinds_of_elements();
    if (!add_choices(own_group) && !add_choices(kinds)) add_uniform(kinds);
    return std::move(rules_);
  }

 private:
  using Chosen = std::vector<size_t>;  // a rule's number, one per element

  // Per element the first of its kind.
  std::vector<size_t> kinds_of_elements() const {
    const auto same_rules = [](const ElementRules& a, const ElementRules& b) {
      return std::equal(a.of_plain.begin(), a.of_plain.end(), b.of_plain.begin(), b.of_plain.end(),
                        [](const ClosedRule& x, const ClosedRule& y) {
                          return x.any_shard == y.any_shard && x.rule == y.rule;
                        });
    };
    std::vector<size_t> kinds;
    for (size_t i = 0; i < elements_.size(); ++i) {
      size_t first = 0;
      while (first < i && !same_rules(elements_[first], elements_[i])) ++first;
      kinds.push_back(first);
    }
    return kinds;
  }

  void add(const Chosen& chosen) {
    std::optional<ClosedRule> sum = elements_[0].of_form[chosen[0]];
    for (size_t i = 1; sum && i < chosen.size(); ++i)
      sum = joined(*sum, elements_[i].of_form[chosen[i]]);
    if (sum) rules_.push_back(*std::move(sum));
  }

  // Every choice of one rule per group, a group being named by its first element; false, and
  // nothing added, if they are too many.
  bool add_choices(const std::vector<size_t>& group) {
    size_t count = 1;
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i] != i) continue;
      count *= elements_[i].of_form.size();
      if (count > kMostRules) return false;
    }
    for (size_t number = 0; number < count; ++number) {
      Chosen chosen;
      size_t left = number;
      for (size_t i = 0; i < group.size(); ++i) {
        const size_t own = elements_[i].of_form.size();
        chosen.push_back(group[i] == i ? left % own : chosen[group[i]]);
        if (group[i] == i) left /= own;
      }
      add(chosen);
    }
    return true;
  }

  // The number of a rule like `wanted` among the element's, or else of all-replicate.
  std::optional<size_t> find_like(const ElementRules& element, const Rule& wanted) const {
    std::optional<size_t> replicate;
    for (size_t i = 0; i < element.of_plain.size(); ++i) {
      const Rule& rule = element.of_plain[i].rule;
      if (rule.has_same_placements(wanted)) return i;
      const auto is_whole = [](const Placement& p) { return p.is_replicate() || p.is_none(); };
      if (std::all_of(rule.outputs.begin(), rule.outputs.end(), is_whole) &&
          std::all_of(rule.inputs.begin(), rule.inputs.end(), is_whole))
        replicate = i;
    }
    return replicate;
  }

  void add_uniform(const std::vector<size_t>& kinds) {
    std::vector<const Rule*> seen;
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] != i) continue;
      for (const ClosedRule& rule : elements_[i].of_plain) {
        const auto is_same = [&](const Rule* other) {
          return other->has_same_placements(rule.rule);
        };
        if (std::any_of(seen.begin(), seen.end(), is_same)) continue;
        seen.push_back(&rule.rule);
        Chosen chosen;
        for (const ElementRules& element : elements_) {
          if (const std::optional<size_t> found = find_like(element, rule.rule))
            chosen.push_back(*found);
        }
        if (chosen.size() == elements_.size()) add(chosen);
      }
    }
  }

  std::span<const ElementRules> elements_;
  std::vector<ClosedRule> rules_;
};

}  // namespace

std::vector<ClosedRule> combined_rules(std::span<const ElementRules> elements) {
  return Combiner(elements).run();
}

}  // namespace onedim
