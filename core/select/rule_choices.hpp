#pragma once
// RuleChoices: what selection may put on one mesh dim for one call: the closed rules, and those
// declared with S* once more for each strided shard that stands in the layouts at hand, all their
// shards strided alike. Placements are numbered per slot, so that a search works on small integers.
// Rule order, which breaks ties: all-replicate, declared rules, implied ones, each by text.

#include "core/layout/layout.hpp"
#include "core/pack/closed_rules.hpp"

namespace onedim {

struct RuleChoice {
  Rule rule;
  std::vector<uint8_t> symbols;  // per input slot: index into its placements
};

class RuleChoices {
 public:
  RuleChoices() = default;
  // `present` are the layouts whose strided shards count: current inputs and required outputs.
  // Rules that hold only to rounding are left out where `exact_only`.
  static Result<RuleChoices> create(const Op& op, const Call& call,
                                    std::span<const OptionalOutput> outputs,
                                    const Registry& registry,
                                    std::span<const Layout* const> present, bool exact_only);

  const std::vector<RuleChoice>& rules() const { return rules_; }
  // The different placements of an input slot over all rules.
  const std::vector<Placement>& placements(size_t input) const { return placements_[input]; }
  // The same of an output slot.
  std::vector<Placement> output_placements(size_t output) const;
  // Whether each rule that asks an input for a P(avg|max|min) has one beside it that asks for R
  // there and says the same: then no R needs to be relabelled. Closed rules do so
  // (closed_rules.hpp), but for long lists and list forms; ops that tell where they stand, and
  // tagged rules, may tell the two apart.
  bool replicas_stand_in() const { return replicas_stand_in_; }
  // For a mesh dim of one rank, where all rules are alike: the first.
  static constexpr int kUnitRule = 0;

 private:
  void sort_and_number();
  bool has_replicas_beside(const Op& op) const;

  std::vector<RuleChoice> rules_;
  std::vector<std::vector<Placement>> placements_;
  bool replicas_stand_in_ = false;
};

}  // namespace onedim
