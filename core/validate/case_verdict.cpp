#include "core/validate/case_verdict.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "core/validate/claims.hpp"
#include "core/validate/partial_split.hpp"
#include "core/validate/rule_judge.hpp"
#include "core/validate/size_variants.hpp"

namespace onedim {
namespace {

// Draws for what is judged claim by claim beside the table: the table has judged its plain form
// already.
constexpr int kTwinDraws = 2;
// Missing rules are few, so each is tried with every value kind under every split before it is
// reported.
constexpr int kMissingDraws = kValueKindCount * kSplitVariantCount;

bool is_searched(const Case& c, const Rule& rule) {
  if (rule.tag != 0) return false;
  const auto known = [](const std::vector<Placement>& alphabet, const Placement& placement) {
    return std::find(alphabet.begin(), alphabet.end(), placement) != alphabet.end();
  };
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    if (!known(c.inputs[slot], rule.inputs[slot])) return false;
  }
  for (size_t output = 0; output < rule.outputs.size(); ++output) {
    if (!known(c.outputs[output], rule.outputs[output])) return false;
  }
  return true;
}

int bit_index(const Case& c, const Rule& rule, size_t output) {
  const std::vector<Placement>& alphabet = c.outputs[output];
  return static_cast<int>(std::find(alphabet.begin(), alphabet.end(), rule.outputs[output]) -
                          alphabet.begin());
}

// A claim against its record of the table.
RuleVerdict judge_from_record(Case& c, const CombinationRecord& record, const Claim& claim) {
  RuleVerdict result{RuleVerdict::Word::kNotJudged, -1, "no world and size where it applies"};
  for (size_t i = 0; i < record.sites.size(); ++i) {
    const SiteRecord& at = record.sites[i];
    const Case::Site& site = c.sites[i];
    if ((!at.tried && !at.is_refused) || !claim.present[site.subject]) continue;
    if (!rule_applies(claim.rule, site.place->subject(), site.place->world())) continue;
    bool judged = true, holds = at.verdict.status.ok() && !at.is_refused;
    for (size_t output = 0; output < claim.rule.outputs.size(); ++output) {
      if (claim.rule.outputs[output].is_none()) continue;
      const PlacementSet bit = PlacementSet{1} << bit_index(c, claim.rule, output);
      holds &= (at.verdict.outputs[output].holds & bit) != 0;
      judged &= (at.verdict.outputs[output].judged & bit) != 0;
    }
    if (!holds) {
      RuleVerdict verdict = judge_rule_at(*site.place, claim.rule, c.options.draws, *c.registry);
      verdict.site = static_cast<int>(i);
      if (verdict.word == RuleVerdict::Word::kRefuted) return verdict;
      if (result.word != RuleVerdict::Word::kHolds) result.reason = std::move(verdict.reason);
      continue;  // not offered there, so nothing is said of it
    }
    if (judged)
      result = {RuleVerdict::Word::kHolds, static_cast<int>(i), {}};
    else if (result.word != RuleVerdict::Word::kHolds)
      result.reason = "no draw had finite values to judge it on";
  }
  return result;
}

// The records of a case, found by the input placements of rules.
class RecordTable {
 public:
  RecordTable(const Case& c, std::span<const CombinationRecord> records)
      : c_(c), records_(records) {
    for (size_t number = 0; number < records.size(); ++number)
      numbers_[key_of(records[number].inputs)].push_back(static_cast<uint32_t>(number));
  }
  // The record that speaks of `rule`, or null.
  const CombinationRecord* find(const Rule& rule) const {
    const auto same = numbers_.find(key_of(rule.inputs));
    if (same == numbers_.end()) return nullptr;
    for (const uint32_t number : same->second) {
      if (covers(c_, records_[number], rule)) return &records_[number];
    }
    return nullptr;
  }

 private:
  size_t key_of(std::span<const Placement> inputs) const {
    Rule rule;
    rule.inputs = read_inputs(c_, inputs);
    return placements_hash(rule);
  }

  const Case& c_;
  std::span<const CombinationRecord> records_;
  absl::flat_hash_map<size_t, absl::InlinedVector<uint32_t, 2>> numbers_;
};

RuleVerdict judge_claim(Case& c, const RecordTable& records, const Claim& claim) {
  if (is_searched(c, claim.rule)) {
    if (const CombinationRecord* record = records.find(claim.rule))
      return judge_from_record(c, *record, claim);
  }
  if (Status status = check_rule(c, claim.rule); !status.ok())
    return {RuleVerdict::Word::kNotJudged, -1, std::string(message_of(status))};
  if (!claim.is_strided_twin) return judge_rule(c, claim.rule, claim.present, c.options.draws);
  // The table has judged the plain form on all sizes; the sample's own will do for the strided one.
  std::vector<bool> present(claim.present.size(), false);
  present[0] = claim.present[0];
  return judge_rule(c, claim.rule, present[0] ? present : claim.present, kTwinDraws);
}

std::set<int64_t> sharded_sizes(const Case& c, const Rule& rule) {
  std::set<int64_t> sizes;
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    const Placement& placement = rule.inputs[slot];
    if (placement.is_shard()) sizes.insert(c.sample().call.inputs[slot]->shape[placement.dim]);
  }
  for (size_t slot = 0; slot < rule.outputs.size(); ++slot) {
    const Placement& placement = rule.outputs[slot];
    if (placement.is_shard()) sizes.insert(c.sample().outputs[slot]->meta.shape[placement.dim]);
  }
  return sizes;
}

// A rule that applies at no site of the case, since it asks more of its shards than that they are
// equal, is tried where every shard is as long as the sample's dim.
RuleVerdict judge_on_long_shards(Case& c, const Claim& claim, RuleVerdict unjudged) {
  if (!c.options.redraw_sizes || !claim.present[0]) return unjudged;
  const std::set<int64_t> sizes = sharded_sizes(c, claim.rule);
  if (sizes.empty()) return unjudged;
  for (const int64_t world : c.options.worlds) {
    std::optional<Subject> variant = multiplied_variant(c.sample(), sizes, world);
    if (!variant) continue;
    Result<std::vector<ClosedRule>> closed =
        closed_rules(*c.op, variant->call, variant->outputs, *c.registry);
    if (!closed.ok() || !rule_applies(claim.rule, *variant, world) ||
        std::none_of(closed->begin(), closed->end(),
                     [&](const ClosedRule& other) { return other.rule == claim.rule; }))
      continue;
    const int site = c.add_later_site(*std::move(variant), world);
    RuleVerdict verdict =
        judge_rule_at(*c.site(site).place, claim.rule, c.options.draws, *c.registry);
    verdict.site = site;
    if (verdict.word != RuleVerdict::Word::kNotJudged) return verdict;
  }
  return unjudged;
}

// Whether a refuted claim would be right as an even-only rule.
bool holds_even(Case& c, const Claim& claim) {
  const auto is_shard = [](const Placement& placement) { return placement.is_shard(); };
  const bool is_cut = std::any_of(claim.rule.inputs.begin(), claim.rule.inputs.end(), is_shard) ||
                      std::any_of(claim.rule.outputs.begin(), claim.rule.outputs.end(), is_shard);
  if (claim.rule.even_only || !is_cut) return false;
  Rule even = claim.rule;
  even.even_only = true;
  return judge_rule(c, even, claim.present, c.options.draws).word == RuleVerdict::Word::kHolds;
}

void add_claim_verdict(Case& c, const RecordTable& records, const Claim& claim,
                       CaseVerdict& verdict) {
  RuleVerdict judged = judge_claim(c, records, claim);
  if (judged.word == RuleVerdict::Word::kNotJudged)
    judged = judge_on_long_shards(c, claim, std::move(judged));
  switch (judged.word) {
    case RuleVerdict::Word::kRefuted:
      verdict.incorrect.push_back(
          {claim.rule, judged.site, std::move(judged.reason), holds_even(c, claim)});
      return;
    case RuleVerdict::Word::kHolds:
      if (claim.present[0] && !claim.is_strided_twin) verdict.proved.push_back(claim.rule);
      return;
    case RuleVerdict::Word::kNotJudged:
      if (claim.present[0] && !claim.is_strided_twin)
        verdict.unexercised.emplace_back(claim.rule, std::move(judged.reason));
  }
}

// Outputs whose truth is neither empty nor the same everywhere: any placement holds for the others.
std::vector<bool> telling_outputs(const Case& c) {
  std::vector<bool> telling;
  for (size_t output = 0; output < c.outputs.size(); ++output) {
    telling.push_back(!c.outputs[output][0].is_none() &&
                      std::any_of(c.sites.begin(), c.sites.end(), [&](const Case::Site& site) {
                        return site.place->varies(static_cast<int>(output));
                      }));
  }
  return telling;
}

// Worlds in which all dims of the rule divide at some site.
size_t even_worlds(const Case& c, const Rule& rule) {
  std::set<int64_t> worlds;
  for (const Case::Site& site : c.sites) {
    if (rule_divides(rule, site.place->subject(), site.place->world()))
      worlds.insert(site.place->world());
  }
  return worlds.size();
}

// Calls `body(rule)` for every choice of one surviving candidate an output.
template <typename Body>
void for_each_rule(const Case& c, const CombinationRecord& record,
                   const std::vector<PlacementSet>& sets, Body&& body) {
  std::vector<Rule> rules(1);
  rules[0].inputs = record.inputs;
  for (size_t output = 0; output < c.outputs.size(); ++output) {
    std::vector<Rule> longer;
    const bool absent = c.outputs[output][0].is_none();
    for (const Rule& rule : rules) {
      for (PlacementSet left = absent ? 1 : sets[output]; left != 0; left &= left - 1) {
        longer.push_back(rule);
        const Placement& placement = c.outputs[output][std::countr_zero(left)];
        longer.back().outputs.push_back(placement);
        const int slot = c.written_input[output];
        if (slot >= 0 && c.is_target[slot]) longer.back().inputs[slot] = placement;
      }
    }
    rules = std::move(longer);
  }
  for (Rule& rule : rules) body(rule);
}

// The true rules of one record: those that always hold, then those that hold where all divides.
std::vector<Rule> true_rules(const Case& c, const CombinationRecord& record) {
  const Survivors survivors = survivors_of(c, record);
  std::vector<Rule> rules;
  for_each_rule(c, record, survivors.always, [&](Rule& rule) { rules.push_back(rule); });
  const size_t always = rules.size();
  for_each_rule(c, record, survivors.even, [&](Rule& rule) {
    const bool is_plain =
        std::any_of(rules.begin(), rules.begin() + always,
                    [&](const Rule& other) { return other.has_same_placements(rule); });
    if (is_plain || even_worlds(c, rule) < std::min<size_t>(2, c.options.worlds.size())) return;
    rule.even_only = true;
    rules.push_back(rule);
  });
  return rules;
}

bool is_all_replicate(const Rule& rule) {
  const auto plain = [](const Placement& placement) {
    return placement.is_replicate() || placement.is_none();
  };
  return std::all_of(rule.inputs.begin(), rule.inputs.end(), plain) &&
         std::all_of(rule.outputs.begin(), rule.outputs.end(), plain);
}

// A claim speaks of it wherever it applies and is offered.
bool is_covered(const Case& c, const Claims& claims, const CombinationRecord& record,
                const Rule& rule) {
  if ((c.op->flags & ONEDIM_OP_NO_IMPLIED_REPLICATE) != 0 && is_all_replicate(rule)) return true;
  for (size_t i = 0; i < c.sites.size(); ++i) {
    const Case::Site& site = c.sites[i];
    if (record.sites[i].is_refused) continue;
    if (rule_applies(rule, site.place->subject(), site.place->world()) &&
        !claims.speak_of(rule, site))
      return false;
  }
  return true;
}

constexpr int64_t kUsualWorlds[] = {2, 3, 4};

// Few worlds show little: shards of one row pass for rows that broadcast, signs cancel on an odd
// number of ranks. So what looks missing is tried in the usual worlds too before it is told.
class WiderCase {
 public:
  explicit WiderCase(const Case& c) : c_(c) {
    const std::vector<int64_t>& worlds = c.options.worlds;
    is_wider_ = std::any_of(std::begin(kUsualWorlds), std::end(kUsualWorlds), [&](int64_t world) {
      return std::find(worlds.begin(), worlds.end(), world) == worlds.end();
    });
  }
  bool refutes(const Rule& rule) {
    if (!is_wider_) return false;
    if (!made_) {
      CaseOptions options = c_.options;
      options.worlds.assign(std::begin(kUsualWorlds), std::end(kUsualWorlds));
      made_ = make_case(*c_.op, {c_.sample().call, c_.sample().domains}, *c_.registry, options);
    }
    return made_->ok() &&
           judge_rule(**made_, rule, {}, kMissingDraws).word == RuleVerdict::Word::kRefuted;
  }

 private:
  const Case& c_;
  bool is_wider_ = false;
  std::optional<Result<Case>> made_;
};

// Whether the rule also holds where sums and products of integers wrap around. A claim need not,
// but a rule that does not is not missed.
bool holds_wrapped(const Case& c, const Rule& rule) {
  bool can_wrap = false;
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    const OptionalMeta& meta = c.sample().call.inputs[slot];
    const bool joins =
        rule.inputs[slot].is_partial("sum") || rule.inputs[slot].is_partial("product");
    can_wrap |= meta && is_integral(meta->dtype) && joins;
  }
  if (!can_wrap) return true;
  for (const Case::Site& site : c.sites) {
    if (!rule_applies(rule, site.place->subject(), site.place->world())) continue;
    Place wrapped(site.place->subject(), site.place->world(), c.options.seed, true);
    if (judge_rule_at(wrapped, rule, kTwinDraws, *c.registry).word == RuleVerdict::Word::kRefuted)
      return false;
  }
  return true;
}

constexpr int64_t kMostLonger = 4;
// A rule holds for mesh dims of any size; small cuts of small tensors need a few more.
constexpr int64_t kMoreWorlds[] = {2, 3, 4, 5, 6};

// The subject, and the same with the sizes that the rule shards made longer.
std::vector<Subject> longer_variants(const Case& c, const Subject& subject, const Rule& rule) {
  std::vector<Subject> variants{subject};
  for (const int64_t size : sharded_sizes(c, rule)) {
    for (int64_t more = 1; more <= kMostLonger; ++more) {
      if (std::optional<Subject> longer = with_sizes(subject, {{size, size + more}}))
        variants.push_back(*std::move(longer));
    }
  }
  return variants;
}

// Sizes that are drawn for one world may be such that a rule holds there by luck: where no claim
// speaks of them, they and longer ones are tried in more worlds.
bool holds_in_more_worlds(const Case& c, const Claims& claims, const CombinationRecord& record,
                          const Rule& rule) {
  std::set<int> tried;
  for (size_t i = 0; i < c.sites.size(); ++i) {
    const Case::Site& site = c.sites[i];
    const Subject& subject = site.place->subject();
    if (record.sites[i].is_refused || !rule_applies(rule, subject, site.place->world()) ||
        claims.speak_of(rule, site) || !tried.insert(site.subject).second)
      continue;
    for (const Subject& variant : longer_variants(c, subject, rule)) {
      for (const int64_t world : kMoreWorlds) {
        if (!rule_applies(rule, variant, world)) continue;
        Place place(variant, world, c.options.seed);
        if (judge_rule_at(place, rule, kTwinDraws, *c.registry).word == RuleVerdict::Word::kRefuted)
          return false;
      }
    }
  }
  return true;
}

// Whether the rules differ at most in outputs that tell nothing.
bool tell_the_same(const Rule& a, const Rule& b, const std::vector<bool>& telling) {
  if (a.even_only != b.even_only || a.inputs != b.inputs) return false;
  for (size_t output = 0; output < telling.size(); ++output) {
    if (telling[output] && a.outputs[output] != b.outputs[output]) return false;
  }
  return true;
}

// Whether the rule is the plainest of those that tell the same.
bool is_plainest(const Rule& rule, const std::vector<bool>& telling) {
  for (size_t output = 0; output < telling.size(); ++output) {
    const Placement& placement = rule.outputs[output];
    if (!telling[output] && !placement.is_replicate() && !placement.is_none()) return false;
  }
  return true;
}

void add_missing(Case& c, std::span<const CombinationRecord> records, const Claims& claims,
                 CaseVerdict& verdict) {
  const std::vector<bool> telling = telling_outputs(c);
  if (std::find(telling.begin(), telling.end(), true) == telling.end()) return;
  WiderCase wider(c);
  for (const CombinationRecord& record : records) {
    const std::vector<Rule> rules = true_rules(c, record);
    for (const Rule& rule : rules) {
      if (!is_plainest(rule, telling)) continue;
      if (is_covered(c, claims, record, rule)) continue;
      const bool is_known = std::any_of(rules.begin(), rules.end(), [&](const Rule& other) {
        return tell_the_same(rule, other, telling) && is_covered(c, claims, record, other);
      });
      if (is_known) continue;
      const RuleVerdict judged = judge_rule(c, rule, {}, kMissingDraws);
      if (judged.word == RuleVerdict::Word::kRefuted || !holds_wrapped(c, rule) ||
          !holds_in_more_worlds(c, claims, record, rule))
        continue;
      if (!wider.refutes(rule)) verdict.missing.push_back(rule);
    }
  }
}

}  // namespace

Result<CaseVerdict> validate_case(Case& c) {
  Result<Claims> claims = collect_claims(c);
  if (!claims.ok()) return claims.status();
  std::vector<std::vector<Placement>> claimed;
  for (const Claim& claim : *claims) {
    if (is_searched(c, claim.rule)) claimed.push_back(read_inputs(c, claim.rule.inputs));
  }
  CaseVerdict verdict;
  const std::vector<CombinationRecord> records =
      search_combinations(c, claimed, verdict.statistics);
  const RecordTable table(c, records);
  for (const Claim& claim : *claims) add_claim_verdict(c, table, claim, verdict);
  add_missing(c, records, *claims, verdict);
  if (Status fault = c.fault(); !fault.ok()) return fault;
  return verdict;
}

std::vector<Rule> find_true_rules(Case& c, SearchStatistics& statistics) {
  std::vector<Rule> rules;
  for (const CombinationRecord& record : search_combinations(c, {}, statistics)) {
    std::vector<Rule> found = true_rules(c, record);
    std::move(found.begin(), found.end(), std::back_inserter(rules));
  }
  return rules;
}

}  // namespace onedim
