#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/one_line.hpp"
#include "tools/commands/commands.hpp"
#include "tools/text_table.hpp"

namespace onedim {
namespace {

Json to_json(const std::vector<PackReport>& reports) {
  Json packs = Json::array();
  for (const PackReport& report : reports) {
    packs.push_back({{"name", report.name},
                     {"version", report.version},
                     {"abi", report.abi},
                     {"path", report.path},
                     {"status", verdict_text(report.verdict.word)},
                     {"reason", report.verdict.reason},
                     {"ops", report.op_count},
                     {"notes", report.notes}});
  }
  return {{"packs", std::move(packs)}};
}

std::string to_text(const std::vector<PackReport>& reports) {
  if (reports.empty()) return "no pack files found\n";
  std::vector<TextRow> rows = {{"pack", "version", "abi", "ops", "status", "path"}};
  const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const PackReport& report : reports) {
    rows.push_back({shown(report.name), shown(report.version), shown(report.abi),
                    std::to_string(report.op_count), std::string(verdict_text(report.verdict.word)),
                    report.path});
    if (!report.verdict.ok()) rows.back().back() += ": " + report.verdict.reason;
  }
  std::string text = format_table(rows);
  for (const PackReport& report : reports) {
    for (const std::string& note : report.notes)
      text += fmt::format("note: {}: {}\n", report.name, one_line(note));
  }
  return text;
}

// What each loaded pack brings, for those who inspect one.
std::string op_lists(const Registry& registry) {
  std::vector<TextRow> rows;
  for (const Op* op : registry.ops()) rows.push_back({op->name(), op->pack, op->summary});
  if (rows.empty()) return "";
  rows.insert(rows.begin(), {"op", "pack", "summary"});
  return "\n" + format_table(rows);
}

Result<ExitCode> run_packs(Session& session, const std::vector<std::string>& files) {
  const Result<const std::vector<PackReport>*> reports = session.pack_reports(files);
  if (!reports.ok()) return reports.status();
  if (session.flags.json) {
    session.write_json(to_json(**reports));
  } else {
    session.write(to_text(**reports));
    if (!files.empty()) session.write(op_lists(session.loaded()));
  }
  if ((*reports)->empty()) return ExitCode::kEnvironment;
  const bool is_fine =
      std::all_of((*reports)->begin(), (*reports)->end(), [](const PackReport& report) {
        return report.verdict.ok() || report.verdict.word == VerdictWord::kDisabled;
      });
  return is_fine ? ExitCode::kFine : ExitCode::kFindings;
}

}  // namespace

void add_packs(CLI::App& app, Session& session) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("packs", "List the pack files found, or inspect those given");
  command->add_option("file", *files, "Pack file or folder to inspect, instead of the search path")
      ->type_name("FILE");
  command->footer(
      "Exit code 1 if any file did not load, unless it is disabled; 3 if none is found.\n"
      "Example: onedim packs --json");
  command->callback([files, &session] {
    session.choose([files, &session] { return run_packs(session, *files); });
  });
}

}  // namespace onedim
