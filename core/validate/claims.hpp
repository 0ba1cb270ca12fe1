#pragma once
// Claims: the closed rules of a case. An op may emit other rules for other sizes, so a claim
// remembers for which of the case's sizes it was emitted and is judged there only. Rules with any
// kind of shard are also claimed with a strided shard.

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <vector>

#include "core/pack/closed_rules.hpp"
#include "core/validate/case_setup.hpp"

namespace onedim {

struct Claim {
  Rule rule;
  std::vector<bool> present;     // per subject of the case
  bool is_strided_twin = false;  // made here from a rule with any kind of shard
};

// The claims of a case in the order in which they were emitted, found by their placements.
class Claims {
 public:
  explicit Claims(size_t subject_count) : subject_count_(subject_count) {}
  void add(Rule rule, size_t subject, bool is_strided_twin);
  std::vector<Claim>::const_iterator begin() const { return claims_.begin(); }
  std::vector<Claim>::const_iterator end() const { return claims_.end(); }
  // True if some claim has the rule's placements and speaks of this site.
  bool speak_of(const Rule& rule, const Case::Site& site) const;

 private:
  size_t subject_count_;
  std::vector<Claim> claims_;
  size_t next_ = 0;  // behind the claim last added to: other sizes mostly emit the same in order
  absl::flat_hash_map<size_t, absl::InlinedVector<uint32_t, 2>> numbers_;  // by placements_hash
};

Result<Claims> collect_claims(const Case& c);

}  // namespace onedim
