#pragma once
// Claims: the closed rules of a case. An op may emit other rules for other sizes, so a claim
// remembers for which of the case's sizes it was emitted and is judged there only. Rules with any
// kind of shard are also claimed with a strided shard.

#include <vector>

#include "core/pack/closed_rules.hpp"
#include "core/validate/case_setup.hpp"

namespace onedim {

struct Claim {
  Rule rule;
  std::vector<bool> present;     // per subject of the case
  bool is_strided_twin = false;  // made here from a rule with any kind of shard
};

Result<std::vector<Claim>> collect_claims(const Case& c);

// True if some claim has the rule's placements and speaks of this site.
bool is_claimed_at(std::span<const Claim> claims, const Rule& rule, const Case::Site& site);

}  // namespace onedim
