#include "tools/validate_text.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/validate/mesh_strategy.hpp"

namespace onedim {
namespace {

struct Totals {
  size_t ops = 0, cases = 0, proved = 0, incorrect = 0, missing = 0, unexercised = 0, errors = 0,
         crashed = 0;
  int64_t strategies = 0, strategies_wrong = 0;
  MutantCount mutation;
};

Totals totals_of(const std::vector<OpReport>& reports) {
  Totals totals;
  for (const OpReport& report : reports) {
    ++totals.ops;
    totals.cases += report.samples;
    totals.proved += report.proved.size();
    totals.incorrect += report.incorrect.size();
    totals.missing += report.missing.size();
    totals.unexercised += report.unexercised.size();
    totals.errors += report.errors.size();
    totals.crashed += report.crashed ? 1 : 0;
    totals.strategies += report.strategies_tried;
    totals.strategies_wrong += report.strategies_wrong;
    totals.mutation.mutants += report.mutation.mutants;
    totals.mutation.wrong += report.mutation.wrong;
    totals.mutation.caught += report.mutation.caught;
  }
  return totals;
}

std::string count(size_t number, std::string_view word) {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

std::string one_finding(std::string_view word, const RuleFinding& finding) {
  std::string text = fmt::format("  {}: {}   on {}\n", word, finding.rule, finding.case_text);
  if (!finding.reason.empty()) text += fmt::format("    {}\n", finding.reason);
  if (!finding.repro.empty()) text += fmt::format("    {}\n", finding.repro);
  return text;
}

std::string strategy_findings(std::string_view word, const OpReport& report) {
  std::string text;
  for (const StrategyFinding& finding : report.strategies) {
    const std::string rules = one_line_of({finding.mesh, finding.rules, finding.order});
    text += one_finding(fmt::format("{} on {}", word, finding.mesh),
                        {rules, finding.case_text, finding.reason, finding.repro});
  }
  const int64_t told = static_cast<int64_t>(report.strategies.size());
  if (report.strategies_wrong > told)
    text += fmt::format("    ... {} of {} strategies are wrong\n", report.strategies_wrong,
                        report.strategies_tried);
  return text;
}

// The first case of every rule in full, the others and the rules that follow from it as counts.
std::string grouped_findings(std::string_view word, const std::vector<RuleFinding>& list) {
  struct Rest {
    size_t cases = 0;
    std::set<std::string> followers;
  };
  std::map<std::string, Rest> rest;
  for (const RuleFinding& finding : list) {
    if (finding.follows_from.empty())
      ++rest[finding.rule].cases;
    else
      rest[finding.follows_from].followers.insert(finding.rule);
  }
  std::string text;
  for (const RuleFinding& finding : list) {
    const auto found = rest.find(finding.rule);
    if (!finding.follows_from.empty() || found == rest.end()) continue;
    const Rest& others = found->second;
    text += one_finding(word, finding);
    if (others.cases > 1)
      text += fmt::format("    ... and {} of it\n", count(others.cases - 1, "more case"));
    if (!others.followers.empty())
      text += fmt::format("    ... and {} from it\n",
                          others.followers.size() == 1
                              ? "1 rule that follows"
                              : fmt::format("{} rules that follow", others.followers.size()));
    rest.erase(found);
  }
  return text;
}

std::string op_line(const OpReport& report, size_t width) {
  std::string text =
      fmt::format("{:<{}}  {:<9} {} over {}", report.op, width,
                  report.crashed      ? "crashed"
                  : report.is_clean() ? "ok"
                                      : "findings",
                  count(report.proved.size(), "rule"), count(report.samples, "case"));
  if (report.tried < report.combinations) {
    text += fmt::format(", {:.0f} % searched", 100.0 * static_cast<double>(report.tried) /
                                                   static_cast<double>(report.combinations));
  }
  return text + fmt::format(", {:.0f} ms\n", report.seconds * 1000);
}

std::string findings(const OpReport& report, bool claims) {
  std::string text;
  if (claims) {
    for (const RuleFinding& finding : report.proved) text += one_finding("holds", finding);
    for (const RuleFinding& finding : report.incorrect) text += one_finding("refuted", finding);
    text += strategy_findings("refuted", report);
    for (const RuleFinding& finding : report.unexercised)
      text += one_finding("not judged", finding);
  } else {
    text += grouped_findings("incorrect", report.incorrect);
    text += grouped_findings("missing", report.missing);
    text += grouped_findings("unexercised", report.unexercised);
    text += strategy_findings("wrong strategy", report);
  }
  for (const std::string& error : report.errors) text += fmt::format("  error: {}\n", error);
  for (const std::string& note : report.notes) text += fmt::format("  note: {}\n", note);
  for (const std::string& missed : report.mutation.missed)
    text += fmt::format("  false mutant not caught: {}\n", missed);
  return text;
}

double share_caught(const MutantCount& mutation) {
  return mutation.wrong == 0
             ? 1
             : static_cast<double>(mutation.caught) / static_cast<double>(mutation.wrong);
}

std::string totals_text(const Totals& totals, double seconds) {
  std::string text = fmt::format("{}, {}: {} proved, {} incorrect, {} missing, {} unexercised",
                                 count(totals.ops, "op"), count(totals.cases, "case"),
                                 count(totals.proved, "rule"), totals.incorrect, totals.missing,
                                 totals.unexercised);
  if (totals.strategies > 0) {
    text += fmt::format(", {} of {} strategies wrong", totals.strategies_wrong, totals.strategies);
  }
  if (totals.errors > 0) text += fmt::format(", {}", count(totals.errors, "error"));
  if (totals.crashed > 0) text += fmt::format(", {} crashed", totals.crashed);
  text += fmt::format("; {:.2f} s\n", seconds);
  if (totals.mutation.mutants > 0) {
    text += fmt::format("sensitivity: {} of {} false mutants caught ({:.2f} %), of {} mutants\n",
                        totals.mutation.caught, totals.mutation.wrong,
                        100 * share_caught(totals.mutation), totals.mutation.mutants);
  }
  return text;
}

}  // namespace

std::string validate_text(const std::vector<OpReport>& reports, double seconds, bool claims) {
  size_t width = 0;
  for (const OpReport& report : reports) width = std::max(width, report.op.size());
  std::string text;
  for (const OpReport& report : reports) {
    if (!claims) text += op_line(report, width);
    text += findings(report, claims);
  }
  return claims ? text : text + totals_text(totals_of(reports), seconds);
}

Json validate_json(const std::vector<OpReport>& reports, std::optional<double> seconds) {
  Json ops = Json::array();
  for (const OpReport& report : reports) {
    ops.push_back(to_json(report));
    if (!seconds) ops.back()["seconds"] = nullptr;
  }
  const Totals totals = totals_of(reports);
  Json json{{"ops", totals.ops},
            {"cases", totals.cases},
            {"proved", totals.proved},
            {"incorrect", totals.incorrect},
            {"missing", totals.missing},
            {"unexercised", totals.unexercised},
            {"strategies", totals.strategies},
            {"strategies_wrong", totals.strategies_wrong},
            {"errors", totals.errors},
            {"crashed", totals.crashed},
            {"seconds", seconds ? Json(*seconds) : Json(nullptr)}};
  if (totals.mutation.mutants > 0) {
    json["mutation"] = {{"mutants", totals.mutation.mutants},
                        {"false", totals.mutation.wrong},
                        {"caught", totals.mutation.caught},
                        {"sensitivity", share_caught(totals.mutation)}};
  }
  return {{"ops", std::move(ops)}, {"totals", std::move(json)}};
}

}  // namespace onedim
