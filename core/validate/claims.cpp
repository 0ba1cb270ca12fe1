#include "core/validate/claims.hpp"

#include <algorithm>

#include "core/validate/rule_judge.hpp"

namespace onedim {
namespace {

constexpr int64_t kStridedSplit = 2;

Rule strided_twin(Rule rule) {
  const auto stride = [](std::vector<Placement>& side) {
    for (Placement& placement : side) {
      if (placement.is_shard()) placement = Placement::strided_shard(placement.dim, kStridedSplit);
    }
  };
  stride(rule.outputs);
  stride(rule.inputs);
  return rule;
}

}  // namespace

void Claims::add(Rule rule, size_t subject, bool is_strided_twin) {
  if (next_ == claims_.size() || !(claims_[next_].rule == rule)) {
    absl::InlinedVector<uint32_t, 2>& same = numbers_[placements_hash(rule)];
    const auto known = std::find_if(same.begin(), same.end(),
                                    [&](uint32_t number) { return claims_[number].rule == rule; });
    if (known != same.end()) {
      next_ = *known;
    } else {
      next_ = claims_.size();
      same.push_back(static_cast<uint32_t>(next_));
      claims_.push_back(
          {std::move(rule), std::vector<bool>(subject_count_, false), is_strided_twin});
    }
  }
  claims_[next_++].present[subject] = true;
}

bool Claims::speak_of(const Rule& rule, const Case::Site& site) const {
  const auto same = numbers_.find(placements_hash(rule));
  if (same == numbers_.end()) return false;
  const Place& place = *site.place;
  return std::any_of(same->second.begin(), same->second.end(), [&](uint32_t number) {
    const Claim& claim = claims_[number];
    return claim.present[site.subject] && claim.rule.has_same_placements(rule) &&
           rule_applies(claim.rule, place.subject(), place.world());
  });
}

Result<Claims> collect_claims(const Case& c) {
  Claims claims(c.subjects.size());
  for (size_t index = 0; index < c.subjects.size(); ++index) {
    const Subject& subject = *c.subjects[index];
    Result<std::vector<ClosedRule>> closed =
        closed_rules(*c.op, subject.call, subject.outputs, *c.registry);
    if (!closed.ok()) return closed.status();
    for (ClosedRule& rule : *closed) {
      if (rule.any_shard) claims.add(strided_twin(rule.rule), index, true);
      claims.add(std::move(rule.rule), index, false);
    }
  }
  return claims;
}

}  // namespace onedim
