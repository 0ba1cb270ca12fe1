// Agreement with an outside oracle: for every op that it judged and a shipped pack has, the rules
// that hold on its sizes are compared, in both directions. tests/data/truth_differences.txt
// explains each difference.

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/text.hpp"
#include "core/validate/case_verdict.hpp"
#include "shipped_packs.hpp"

namespace onedim {
namespace {

// `op | more or less | inputs pattern | reason`: rules found here and not there are `more`.
struct Explained {
  std::string op, side, pattern;
  bool used = false;
};

std::vector<Explained> explained_differences() {
  std::ifstream file(ONEDIM_TEST_DATA "/truth_differences.txt");
  EXPECT_TRUE(file) << "no truth_differences.txt";
  std::vector<Explained> list;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    for (size_t at = 0; at != std::string::npos;) {
      const size_t end = line.find(" :: ", at);
      fields.push_back(line.substr(at, end == std::string::npos ? end : end - at));
      at = end == std::string::npos ? end : end + 4;
    }
    if (fields.size() != 4) {
      ADD_FAILURE() << "not `op :: more or less :: text in the rule or call :: reason`: " << line;
      continue;
    }
    list.push_back({fields[0], fields[1], fields[2], false});
  }
  return list;
}

bool is_explained(std::vector<Explained>& list, const std::string& op, const std::string& side,
                  const std::string& text) {
  bool found = false;
  for (Explained& item : list) {
    if ((item.op != op && item.op != "*") || item.side != side ||
        text.find(item.pattern) == std::string::npos)
      continue;
    item.used = found = true;
  }
  return found;
}

bool is_listed(const TruthEntry& entry, const Rule& rule) {
  std::string inputs;
  bool all_replicate = true;
  for (const Placement& placement : rule.inputs) {
    inputs += (inputs.empty() ? "" : ", ") + format_placement(placement);
    all_replicate &= placement.is_replicate() || placement.is_none();
  }
  return !all_replicate || entry.listed_inputs.count(inputs) > 0;
}

TEST(Truth, RulesAgreeWithTheOracle) {
  std::vector<Explained> differences = explained_differences();
  size_t rules = 0, entries = 0;
  for (const TruthEntry& entry : truth_entries(shipped_registry())) {
    const Op& op = *shipped_registry().find(entry.op);
    Result<CallText> call = parse_call(op.schema, entry.call);
    CaseOptions options;
    options.redraw_sizes = false;
    options.draws = 24;
    Result<Case> made = make_case(op, *call, shipped_registry(), options);
    ASSERT_TRUE(made.ok()) << entry.op << " " << entry.call << ": " << made.status();
    SearchStatistics statistics;
    std::set<std::string> ours;
    for (const Rule& rule : find_true_rules(*made, statistics)) {
      if (!rule.even_only && is_listed(entry, rule)) ours.insert(format_rule(rule));
    }
    ++entries;
    for (const std::string& rule : entry.rules) {
      ++rules;
      if (ours.count(rule) > 0 ||
          is_explained(differences, entry.op, "less", rule + " on " + entry.call))
        continue;
      ADD_FAILURE() << "the oracle has, we refute: " << entry.op << ": " << rule << " on "
                    << entry.call;
    }
    for (const std::string& rule : ours) {
      if (entry.rules.count(rule) > 0 ||
          is_explained(differences, entry.op, "more", rule + " on " + entry.call))
        continue;
      ADD_FAILURE() << "we hold, the oracle has not: " << entry.op << ": " << rule << " on "
                    << entry.call;
    }
  }
  for (const Explained& item : differences) {
    EXPECT_TRUE(item.used || shipped_registry().find(item.op) == nullptr)
        << "explains nothing: " << item.op << " " << item.pattern;
  }
  std::printf("%zu rules of %zu calls agree\n", rules, entries);
}

}  // namespace
}  // namespace onedim
