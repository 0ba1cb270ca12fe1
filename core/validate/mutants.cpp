#include "core/validate/mutants.hpp"

#include <algorithm>
#include <set>

#include "core/validate/case_verdict.hpp"

namespace onedim {
namespace {

constexpr int kLongerFactor = 3;

// Rule texts: those that always hold, and those that hold at least where all divides.
struct TrueTexts {
  std::set<std::string> always;
  std::set<std::string> even;
};

Result<TrueTexts> search_true(const Op& op, const CallText& sample, const Registry& registry,
                              const CaseOptions& options) {
  Result<Case> made = make_case(op, sample, registry, options);
  if (!made.ok()) return made.status();
  SearchStatistics statistics;
  TrueTexts texts;
  for (const Rule& rule : find_true_rules(*made, statistics)) {
    const std::string text = format_rule(rule);
    if (!rule.even_only) texts.always.insert(text);
    texts.even.insert(text);
  }
  return texts;
}

CaseOptions longer(CaseOptions options) {
  options.seed = mix_key(options.seed, 99);
  options.draws *= kLongerFactor;
  options.worlds.push_back(*std::max_element(options.worlds.begin(), options.worlds.end()) + 1);
  return options;
}

// Every rule that differs from `rule` in one slot; conditions stay.
std::vector<Rule> mutants_of(const Case& c, const Rule& rule) {
  std::vector<Rule> mutants;
  const auto mutate = [&](bool is_output, size_t slot, const std::vector<Placement>& alphabet) {
    for (const Placement& placement : alphabet) {
      Rule mutant = rule;
      Placement& place = (is_output ? mutant.outputs : mutant.inputs)[slot];
      if (place == placement) continue;
      place = placement;
      mutants.push_back(std::move(mutant));
    }
  };
  for (size_t output = 0; output < rule.outputs.size(); ++output)
    mutate(true, output, c.outputs[output]);
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    if (!c.is_target[slot]) mutate(false, slot, c.inputs[slot]);
  }
  return mutants;
}

bool is_plain(const Case& c, const Rule& rule) {
  const auto known = [](const std::vector<Placement>& alphabet, const Placement& placement) {
    return std::find(alphabet.begin(), alphabet.end(), placement) != alphabet.end();
  };
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    if (!known(c.inputs[slot], rule.inputs[slot])) return false;
  }
  for (size_t output = 0; output < rule.outputs.size(); ++output) {
    if (!known(c.outputs[output], rule.outputs[output])) return false;
  }
  return rule.requirements.empty() && rule.tag == 0;
}

}  // namespace

Status count_mutants(const Op& op, const CallText& sample, const Registry& registry,
                     const CaseOptions& options, MutantCount& count) {
  Result<Case> made = make_case(op, sample, registry, options);
  if (!made.ok()) return made.status();
  Result<std::vector<ClosedRule>> closed =
      closed_rules(op, made->sample().call, made->sample().outputs, registry);
  if (!closed.ok()) return closed.status();
  Result<TrueTexts> short_search = search_true(op, sample, registry, options);
  if (!short_search.ok()) return short_search.status();
  Result<TrueTexts> long_search = search_true(op, sample, registry, longer(options));
  if (!long_search.ok()) return long_search.status();
  std::set<std::string> seen;
  for (const ClosedRule& rule : *closed) {
    if (rule.rule.implied || !is_plain(*made, rule.rule)) continue;
    for (const Rule& mutant : mutants_of(*made, rule.rule)) {
      const std::string text = format_rule(mutant);
      if (!seen.insert(text + (mutant.even_only ? "e" : "")).second) continue;
      const auto holds = [&](const TrueTexts& texts) {
        return (mutant.even_only ? texts.even : texts.always).count(text) > 0;
      };
      const bool passes = holds(*short_search), wrong = !passes || !holds(*long_search);
      ++count.mutants;
      count.wrong += wrong;
      count.caught += !passes;
      if (wrong && passes) count.missed.push_back(fmt::format("{} on {}", text, made->text()));
    }
  }
  return absl::OkStatus();
}

}  // namespace onedim
