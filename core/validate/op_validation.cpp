#include "core/validate/op_validation.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>

#include "core/validate/case_verdict.hpp"
#include "core/validate/claim.hpp"
#include "core/validate/claims.hpp"
#include "core/validate/in_flight.hpp"
#include "core/validate/mutants.hpp"
#include "core/validate/shrink.hpp"
#include "core/validate/strategy_report.hpp"

namespace onedim {
namespace {

constexpr std::string_view kHoldsEven = "; it holds where every sharded dim divides (even_only)";

// The rule with what its truth depends on; how exact it is and its tag are not judged.
std::string rule_text(Rule rule) {
  rule.to_rounding = false;
  rule.tag = 0;
  return format_conditional_rule(rule);
}

RuleFinding incorrect_finding(const Case& c, const RefutedRule& refuted) {
  const Case::Site& site = c.site(refuted.site);
  const Subject& subject = site.place->subject();
  std::optional<SmallestCase> smallest =
      shrink(subject, refuted.rule, site.place->world(), *c.registry, c.options);
  const bool is_shrunk = smallest.has_value();
  if (!is_shrunk) smallest = SmallestCase{subject, site.place->world(), refuted.reason};
  const int64_t worlds[] = {smallest->world};
  if (refuted.holds_even) smallest->reason += kHoldsEven;
  return {rule_text(refuted.rule), c.text(), smallest->reason,
          claim_command(*c.op, smallest->subject.call, smallest->subject.domains, refuted.rule,
                        worlds, c.options.seed)};
}

RuleFinding held_finding(const Case& c, const Rule& rule) {
  return {rule_text(rule),
          c.text(),
          {},
          claim_command(*c.op, c.sample().call, c.sample().domains, rule, c.options.worlds,
                        c.options.seed)};
}

// True if the closure makes `rule` of `other`: R for an idempotent partial of an input, or one for
// R of an output.
bool follows(const Rule& rule, const Rule& other) {
  const auto idempotent = [](const Placement& placement) {
    return placement.is_partial() && is_idempotent_partial(placement.partial);
  };
  bool same = true;
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    if (rule.inputs[i] == other.inputs[i]) continue;
    if (!rule.inputs[i].is_replicate() || !idempotent(other.inputs[i])) return false;
    same = false;
  }
  for (size_t i = 0; i < rule.outputs.size(); ++i) {
    if (rule.outputs[i] == other.outputs[i]) continue;
    if (!idempotent(rule.outputs[i]) || !other.outputs[i].is_replicate()) return false;
    same = false;
  }
  return !same && rule.even_only == other.even_only && rule.requirements == other.requirements;
}

// Which of the rules each one follows from, itself following from none; "" where there is none.
std::vector<std::string> origins_of(const std::vector<const Rule*>& rules) {
  std::vector<const Rule*> roots;
  for (const Rule* rule : rules) {
    const auto is_origin = [&](const Rule* other) { return follows(*rule, *other); };
    if (std::none_of(rules.begin(), rules.end(), is_origin)) roots.push_back(rule);
  }
  std::vector<std::string> origins;
  for (const Rule* rule : rules) {
    const auto found = std::find_if(roots.begin(), roots.end(),
                                    [&](const Rule* root) { return follows(*rule, *root); });
    origins.push_back(found == roots.end() ? "" : rule_text(**found));
  }
  return origins;
}

void add_incorrect(const Case& c, const std::vector<RefutedRule>& incorrect, OpReport& report) {
  std::vector<const Rule*> rules;
  for (const RefutedRule& refuted : incorrect) rules.push_back(&refuted.rule);
  const std::vector<std::string> origins = origins_of(rules);
  for (size_t i = 0; i < incorrect.size(); ++i) {
    report.incorrect.push_back(incorrect_finding(c, incorrect[i]));
    report.incorrect.back().follows_from = origins[i];
  }
}

void add_missing(const Case& c, const std::vector<Rule>& missing, OpReport& report) {
  std::vector<const Rule*> rules;
  for (const Rule& rule : missing) rules.push_back(&rule);
  const std::vector<std::string> origins = origins_of(rules);
  for (size_t i = 0; i < missing.size(); ++i) {
    report.missing.push_back(held_finding(c, missing[i]));
    report.missing.back().follows_from = origins[i];
  }
}

void add_case(Case& c, CaseVerdict verdict, OpReport& report) {
  report.draws = std::max(report.draws, static_cast<int64_t>(c.sites.size()) * c.options.draws);
  report.combinations += verdict.statistics.combinations;
  report.tried += verdict.statistics.tried;
  for (const Rule& rule : verdict.proved)
    report.proved.push_back({rule_text(rule), c.text(), {}, {}});
  add_incorrect(c, verdict.incorrect, report);
  add_missing(c, verdict.missing, report);
  for (const auto& [rule, reason] : verdict.unexercised) {
    report.unexercised.push_back(held_finding(c, rule));
    report.unexercised.back().reason = reason;
  }
}

// Rules are identities over finite values; what fails beyond them is told, not held against the op.
void note_nonfinite(const Op& op, CallText sample, const Registry& registry,
                    const CaseOptions& options, OpReport& report) {
  sample.domains.resize(sample.call.inputs.size());
  bool changed = false;
  for (size_t slot = 0; slot < sample.domains.size(); ++slot) {
    const OptionalMeta& meta = sample.call.inputs[slot];
    if (!meta || !is_floating(meta->dtype) || !sample.domains[slot].name.empty()) continue;
    sample.domains[slot] = {"nonfinite", {}};
    changed = true;
  }
  if (!changed) return;
  Result<Case> made = make_case(op, std::move(sample), registry, options);
  if (!made.ok()) return;
  Result<CaseVerdict> verdict = validate_case(*made);
  if (!verdict.ok()) return;
  for (const RefutedRule& refuted : verdict->incorrect) {
    report.notes.push_back(fmt::format("{} does not hold for non-finite values: {}",
                                       rule_text(refuted.rule), refuted.reason));
  }
}

OpReport validate_sample(const Op& op, const std::string& text, int strategies,
                         const Registry& registry, const ValidateOptions& options) {
  const InFlight flight(op.name(), text, {}, options.cases.worlds.front(), options.cases.seed);
  OpReport report;
  report.samples = 1;
  const auto fail = [&](const Status& status) {
    report.errors.push_back(fmt::format("sample \"{}\": {}", text, message_of(status)));
  };
  Result<CallText> sample = parse_call(op.schema, text);
  if (!sample.ok()) return fail(sample.status()), report;
  Result<Case> made = make_case(op, *sample, registry, options.cases);
  if (!made.ok()) return fail(made.status()), report;
  Result<CaseVerdict> verdict = validate_case(*made);
  if (!verdict.ok()) return fail(verdict.status()), report;
  add_case(*made, *std::move(verdict), report);
  if (options.nonfinite) note_nonfinite(op, *sample, registry, options.cases, report);
  if (strategies > 0) {
    const Status status = add_strategies(op, *sample, strategies, registry, options, report);
    if (!status.ok()) fail(status);
  }
  if (!options.mutate) return report;
  if (Status status = count_mutants(op, *sample, registry, options.cases, report.mutation);
      !status.ok())
    fail(status);
  return report;
}

OpReport judge_claim_text(const Op& op, const std::string& text, const std::string& claim,
                          const Registry& registry, const CaseOptions& options) {
  const InFlight flight(op.name(), text, claim, options.worlds.front(), options.seed);
  OpReport report;
  report.samples = 1;
  const auto fail = [&](const Status& status) { report.errors.emplace_back(message_of(status)); };
  Result<CallText> call = parse_call(op.schema, text);
  if (!call.ok()) return fail(call.status()), report;
  Result<Rule> rule = parse_claim(claim);
  if (!rule.ok()) return fail(rule.status()), report;
  Result<ClaimVerdict> verdict = judge_claim(op, *call, *rule, registry, options);
  if (!verdict.ok()) return fail(verdict.status()), report;
  RuleFinding finding{
      rule_text(*rule), format_call(call->call, call->domains), verdict->reason, {}};
  report.combinations = report.tried = 1;
  if (verdict->word == RuleVerdict::Word::kHolds) return report.proved.push_back(finding), report;
  if (verdict->word == RuleVerdict::Word::kNotJudged)
    return report.unexercised.push_back(finding), report;
  const int64_t worlds[] = {verdict->world};
  finding.repro = claim_command(op, call->call, call->domains, *rule, worlds, options.seed);
  if (verdict->holds_even) finding.reason += kHoldsEven;
  report.incorrect.push_back(std::move(finding));
  return report;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append(OpReport& to, OpReport& from) {
  to.samples += from.samples;
  to.draws = std::max(to.draws, from.draws);
  to.combinations += from.combinations;
  to.tried += from.tried;
  append(to.proved, from.proved);
  append(to.incorrect, from.incorrect);
  append(to.missing, from.missing);
  append(to.unexercised, from.unexercised);
  to.strategies_tried += from.strategies_tried;
  to.strategies_wrong += from.strategies_wrong;
  for (StrategyFinding& finding : from.strategies) {  // samples may shrink to the same
    if (std::find(to.strategies.begin(), to.strategies.end(), finding) == to.strategies.end())
      to.strategies.push_back(std::move(finding));
  }
  if (to.misuse.empty()) to.misuse = std::move(from.misuse);
  append(to.errors, from.errors);
  append(to.notes, from.notes);
  to.mutation.mutants += from.mutation.mutants;
  to.mutation.wrong += from.mutation.wrong;
  to.mutation.caught += from.mutation.caught;
  append(to.mutation.missed, from.mutation.missed);
}

// Runs `work(i)` for every i below `count`, on the threads allowed.
template <typename Work>
void run_all(size_t count, int threads, Work&& work) {
  if (threads <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  tbb::task_arena arena(std::min(threads, tbb::info::default_concurrency()));
  arena.execute([&] { tbb::parallel_for(size_t{0}, count, work); });
}

// What the request asks of one sample; `claim` is the number of its claim. Random strategies are
// shared out over the samples.
OpReport run_part(const Op& op, const OpRequest& request, std::span<const std::string> samples,
                  size_t sample, size_t claim, const Registry& registry,
                  const ValidateOptions& options) {
  const std::string& text = samples[sample];
  if (request.strategy) return judge_strategy_text(op, text, *request.strategy, registry, options);
  if (!request.claims.empty())
    return judge_claim_text(op, text, request.claims[claim], registry, options.cases);
  const size_t wanted = static_cast<size_t>(options.strategies);
  const size_t share = wanted / samples.size() + (sample < wanted % samples.size() ? 1 : 0);
  return validate_sample(op, text, static_cast<int>(share), registry, options);
}

}  // namespace

OpReport validate_op(const Op& op, const OpRequest& request, const Registry& registry,
                     const ValidateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  OpReport report;
  report.op = op.name();
  report.pack = op.pack;
  std::vector<std::string> samples;
  if (request.call) {
    samples.push_back(*request.call);
  } else if (Result<std::vector<std::string>> own = op.samples(); own.ok()) {
    samples = *std::move(own);
  } else {
    report.errors.emplace_back(message_of(own.status()));
  }
  if (samples.empty() && report.errors.empty()) report.errors.emplace_back("the op has no samples");
  const size_t per_sample = std::max<size_t>(1, request.claims.size());
  std::vector<OpReport> parts(samples.size() * per_sample);
  run_all(parts.size(), options.threads, [&](size_t i) {
    parts[i] = run_part(op, request, samples, i / per_sample, i % per_sample, registry, options);
  });
  for (OpReport& part : parts) append(report, part);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace onedim
