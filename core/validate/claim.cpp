#include "core/validate/claim.hpp"

#include <algorithm>

#include "core/base/shell_text.hpp"

namespace onedim {
namespace {

// A claim rests on the few sites of its own sizes, so each gets more draws than a sample's would.
constexpr int kDrawFactor = 3;

void replace_any_shards(Rule& rule, bool strided) {
  const auto replace = [&](std::vector<Placement>& side) {
    for (Placement& placement : side) {
      if (placement.kind != Placement::Kind::kAnyShard) continue;
      placement =
          strided ? Placement::strided_shard(placement.dim, 2) : Placement::shard(placement.dim);
    }
  };
  replace(rule.outputs);
  replace(rule.inputs);
}

bool has_any_shard(const Rule& rule) {
  const auto is_any = [](const Placement& placement) {
    return placement.kind == Placement::Kind::kAnyShard;
  };
  return std::any_of(rule.outputs.begin(), rule.outputs.end(), is_any) ||
         std::any_of(rule.inputs.begin(), rule.inputs.end(), is_any);
}

ClaimVerdict to_claim_verdict(Case& c, const Rule& rule, RuleVerdict judged) {
  ClaimVerdict verdict{judged.word, 0, std::move(judged.reason), false};
  if (judged.word != RuleVerdict::Word::kRefuted) return verdict;
  verdict.world = c.sites[judged.site].place->world();
  if (rule.even_only) return verdict;
  Rule even = rule;
  even.even_only = true;
  const bool has_shards = std::any_of(c.sites.begin(), c.sites.end(), [&](const Case::Site& site) {
    return !rule_divides(rule, site.place->subject(), site.place->world());
  });
  verdict.holds_even =
      has_shards && judge_rule(c, even, {}, c.options.draws).word == RuleVerdict::Word::kHolds;
  return verdict;
}

}  // namespace

Result<Rule> parse_claim(std::string_view text) { return parse_conditional_rule(text); }

Result<ClaimVerdict> judge_claim(const Op& op, const CallText& call, const Rule& rule,
                                 const Registry& registry, CaseOptions options) {
  options.redraw_sizes = false;
  options.draws *= kDrawFactor;
  Result<Case> made = make_case(op, call, registry, options);
  if (!made.ok()) return made.status();
  Rule plain = rule;
  replace_any_shards(plain, false);
  if (Status status = check_rule(*made, plain); !status.ok()) return status;
  if (const std::string illegal = illegal_partial(*made, plain); !illegal.empty()) {
    return ClaimVerdict{RuleVerdict::Word::kRefuted, options.worlds.front(), illegal, false};
  }
  RuleVerdict judged = judge_rule(*made, plain, {}, options.draws);
  if (judged.word == RuleVerdict::Word::kHolds && has_any_shard(rule)) {
    plain = rule;
    replace_any_shards(plain, true);
    judged = judge_rule(*made, plain, {}, options.draws);
  }
  if (Status fault = made->fault(); !fault.ok()) return fault;
  return to_claim_verdict(*made, plain, std::move(judged));
}

std::string claim_command(const Op& op, const Call& call, std::span<const Domain> domains,
                          const Rule& rule, std::span<const int64_t> worlds, uint64_t seed) {
  std::string list;
  for (const int64_t world : worlds) list += (list.empty() ? "" : ",") + std::to_string(world);
  return fmt::format("onedim validate {} --inputs {} --claim {} --worlds {} --seed {}", op.name(),
                     shell_word(format_call(call, domains)),
                     shell_word(format_conditional_rule(rule)), list, seed);
}

}  // namespace onedim
