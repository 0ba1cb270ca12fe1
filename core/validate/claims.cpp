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

void add_claim(std::vector<Claim>& claims, Rule rule, size_t subject, size_t subject_count,
               bool is_twin) {
  for (Claim& claim : claims) {
    if (!(claim.rule == rule)) continue;
    claim.present[subject] = true;
    return;
  }
  claims.push_back({std::move(rule), std::vector<bool>(subject_count, false), is_twin});
  claims.back().present[subject] = true;
}

}  // namespace

Result<std::vector<Claim>> collect_claims(const Case& c) {
  std::vector<Claim> claims;
  for (size_t index = 0; index < c.subjects.size(); ++index) {
    const Subject& subject = *c.subjects[index];
    Result<std::vector<ClosedRule>> closed =
        closed_rules(*c.op, subject.call, subject.outputs, *c.registry);
    if (!closed.ok()) return closed.status();
    for (ClosedRule& rule : *closed) {
      if (rule.any_shard)
        add_claim(claims, strided_twin(rule.rule), index, c.subjects.size(), true);
      add_claim(claims, std::move(rule.rule), index, c.subjects.size(), false);
    }
  }
  return claims;
}

bool is_claimed_at(std::span<const Claim> claims, const Rule& rule, const Case::Site& site) {
  const Place& place = *site.place;
  return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
    return claim.present[site.subject] && claim.rule.has_same_placements(rule) &&
           rule_applies(claim.rule, place.subject(), place.world());
  });
}

}  // namespace onedim
