#pragma once
// ComputeFloor: the least that computing takes under any rules on the mesh dims that are left,
// given the local lengths that the mesh dims before them left: on rank 0, whose lengths are the
// longest, so no strategy that begins so takes less. Exact for that rank, whether or not those
// rules would be valid. Rules that cut alike count once, and so do ways to the same lengths, which
// makes the states few: they are products of mesh dims per kind of cut, not of rules. Not
// thread-safe.

#include <absl/container/flat_hash_map.h>

#include "core/select/compute_time.hpp"
#include "core/select/strategy_state.hpp"

namespace onedim {

class ComputeFloor {
 public:
  // All are borrowed.
  ComputeFloor(const SelectSubject& subject, const RuleChoices& choices, ComputeTime& time);

  // In ps; `left` are mesh dims of more than one rank in cutting order.
  int64_t ps(std::span<const int> left, const StrategyState& state);

 private:
  // One placement cuts one tensor dim.
  struct DimCut {
    size_t at = 0;  // among the dims of all slots
    int64_t split_factor = 1;
    auto operator<=>(const DimCut&) const = default;
  };
  using Lengths = absl::InlinedVector<int64_t, 12>;

  int64_t least(std::span<const int> left, const Lengths& lengths);
  int64_t least_of_next(std::span<const int> left, const Lengths& lengths);

  const Mesh& mesh_;
  ComputeTime& time_;
  std::vector<std::vector<DimCut>> cuts_;        // that a rule can make on one mesh dim, each once
  absl::flat_hash_map<Lengths, int64_t> known_;  // by the mesh dims left, then lengths
};

}  // namespace onedim
