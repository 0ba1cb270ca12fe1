#include "core/validate/strategy_report.hpp"

#include "core/validate/in_flight.hpp"
#include "core/validate/strategy_trial.hpp"

namespace onedim {

Status add_strategies(const Op& op, const CallText& sample, int count, const Registry& registry,
                      const ValidateOptions& options, OpReport& report) {
  const Result<StrategyReport> tried = try_strategies(
      op, sample, registry, {count, options.meshes, options.cases.seed, options.strategy_draws()});
  if (!tried.ok()) return tried.status();
  report.strategies_tried = tried->tried;
  report.strategies_wrong = tried->wrong;
  report.strategies = tried->incorrect;
  return absl::OkStatus();
}

OpReport judge_strategy_text(const Op& op, const std::string& text, const StrategyText& strategy,
                             const Registry& registry, const ValidateOptions& options) {
  OpReport report;
  report.samples = 1;
  Result<CallText> call = parse_call(op.schema, text);
  if (!call.ok()) return report.misuse = message_of(call.status()), report;
  const std::string command =
      strategy_command(op, call->call, call->domains, strategy, options.cases.seed);
  const InFlight flight(fmt::format("\"{}\" on mesh {}", text, strategy.mesh), command);
  const Result<StrategyVerdict> verdict = judge_one_strategy(
      op, *call, strategy, registry, options.cases.seed, options.strategy_draws());
  if (!verdict.ok()) {
    const std::string why(message_of(verdict.status()));
    if (absl::IsInvalidArgument(verdict.status()))
      report.misuse = why;
    else
      report.errors.push_back(why);
    return report;
  }
  report.strategies_tried = 1;
  const std::string case_text = format_call(call->call, call->domains);
  if (verdict->word == StrategyVerdict::Word::kRefuted) {
    report.strategies_wrong = 1;
    report.strategies.push_back(
        {strategy.mesh, strategy.rules, strategy.order, case_text, verdict->reason, command});
    return report;
  }
  std::vector<RuleFinding>& list =
      verdict->word == StrategyVerdict::Word::kHolds ? report.proved : report.unexercised;
  list.push_back({one_line_of(strategy), case_text, verdict->reason, {}});
  return report;
}

}  // namespace onedim
