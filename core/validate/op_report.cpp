#include "core/validate/op_report.hpp"

#include <nlohmann/json.hpp>

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

Json findings_json(const std::vector<RuleFinding>& findings) {
  Json list = Json::array();
  for (const RuleFinding& finding : findings) {
    Json item{{"rule", finding.rule}, {"case", finding.case_text}};
    if (!finding.reason.empty()) item["reason"] = finding.reason;
    if (!finding.repro.empty()) item["repro"] = finding.repro;
    if (!finding.follows_from.empty()) item["follows_from"] = finding.follows_from;
    list.push_back(std::move(item));
  }
  return list;
}

std::vector<RuleFinding> findings_from(const Json& list) {
  std::vector<RuleFinding> findings;
  for (const Json& item : list) {
    findings.push_back({item.at("rule"), item.at("case"), item.value("reason", ""),
                        item.value("repro", ""), item.value("follows_from", "")});
  }
  return findings;
}

Json strategies_json(const std::vector<StrategyFinding>& findings) {
  Json list = Json::array();
  for (const StrategyFinding& finding : findings) {
    Json item{{"rules", finding.rules}, {"mesh", finding.mesh}};
    if (!finding.order.empty()) item["order"] = finding.order;
    item["case"] = finding.case_text;
    item["reason"] = finding.reason;
    item["repro"] = finding.repro;
    list.push_back(std::move(item));
  }
  return list;
}

std::vector<StrategyFinding> strategies_from(const Json& list) {
  std::vector<StrategyFinding> findings;
  for (const Json& item : list) {
    findings.push_back({item.at("mesh"), item.at("rules").get<std::vector<std::string>>(),
                        item.value("order", ""), item.at("case"), item.at("reason"),
                        item.at("repro")});
  }
  return findings;
}

Json mutation_json(const MutantCount& count) {
  return {{"mutants", count.mutants},
          {"false", count.wrong},
          {"caught", count.caught},
          {"missed", count.missed}};
}

}  // namespace

Json to_json(const OpReport& report) {
  const double searched = report.combinations == 0 ? 1
                                                   : static_cast<double>(report.tried) /
                                                         static_cast<double>(report.combinations);
  Json json{{"op", report.op},
            {"pack", report.pack},
            {"samples", report.samples},
            {"draws", report.draws},
            {"combinations", report.combinations},
            {"tried", report.tried},
            {"searched", searched},
            {"proved", findings_json(report.proved)},
            {"incorrect", findings_json(report.incorrect)},
            {"missing", findings_json(report.missing)},
            {"unexercised", findings_json(report.unexercised)},
            {"strategies", report.strategies_tried},
            {"strategies_wrong", report.strategies_wrong},
            {"strategies_incorrect", strategies_json(report.strategies)},
            {"errors", report.errors},
            {"notes", report.notes},
            {"crashed", report.crashed},
            {"seconds", report.seconds}};
  if (report.mutation.mutants > 0) json["mutation"] = mutation_json(report.mutation);
  if (!report.misuse.empty()) json["misuse"] = report.misuse;
  return json;
}

Result<OpReport> op_report_from_json(const Json& json) {
  try {
    OpReport report;
    report.op = json.at("op");
    report.pack = json.at("pack");
    report.samples = json.at("samples");
    report.draws = json.at("draws");
    report.combinations = json.at("combinations");
    report.tried = json.at("tried");
    report.proved = findings_from(json.at("proved"));
    report.incorrect = findings_from(json.at("incorrect"));
    report.missing = findings_from(json.at("missing"));
    report.unexercised = findings_from(json.at("unexercised"));
    report.strategies_tried = json.at("strategies");
    report.strategies_wrong = json.at("strategies_wrong");
    report.strategies = strategies_from(json.at("strategies_incorrect"));
    report.errors = json.at("errors").get<std::vector<std::string>>();
    report.notes = json.at("notes").get<std::vector<std::string>>();
    report.crashed = json.at("crashed");
    report.seconds = json.at("seconds");
    report.misuse = json.value("misuse", "");
    if (json.contains("mutation")) {
      const Json& mutation = json.at("mutation");
      report.mutation = {mutation.at("mutants"), mutation.at("false"), mutation.at("caught"),
                         mutation.at("missed").get<std::vector<std::string>>()};
    }
    return report;
  } catch (const nlohmann::json::exception& error) {
    return invalid_argument("not the report of an op: {}", error.what());
  }
}

}  // namespace onedim
