#pragma once
// Rule set: collects the closed rules of one call by their placements; none stays that another of
// the same placements absorbs. A closure may have 10^5 rules but few different placements, so these
// are numbered as they come: rules are found by the numbers, and sorted by them once the placements
// are.

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include "core/pack/closed_rules.hpp"

namespace onedim {

class RuleSet {
 public:
  // All have as many slots.
  void add(ClosedRule rule);
  // In text order; of the same placements, those added first come first. The set is empty then.
  std::vector<ClosedRule> take();

 private:
  using Numbers = absl::InlinedVector<uint32_t, 16>;  // per slot, outputs first

  Numbers numbers_of(const Rule& rule);
  // Per placement: its place among all, where those of one text have one.
  std::vector<uint32_t> text_ranks() const;

  std::vector<Placement> placements_;
  std::vector<ClosedRule> rules_;
  std::vector<Numbers> of_rule_;
  std::vector<bool> is_gone_;  // absorbed by a later one
  absl::flat_hash_map<Numbers, absl::InlinedVector<uint32_t, 2>> same_;
};

}  // namespace onedim
