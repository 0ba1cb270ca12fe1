#pragma once
// Op report: what validation says of one op, as plain text fields, so that it crosses from a child
// process as one line of JSON and is printed without knowing the op.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

struct RuleFinding {
  std::string rule;
  std::string case_text;          // the call it was judged on
  std::string reason;             // incorrect: the counter-example; unexercised: why
  std::string repro;              // a command line
  std::string follows_from = {};  // a rule of the same list that says the same and more; or ""
  bool operator==(const RuleFinding&) const = default;
};

// A strategy that does not give the unsharded result.
struct StrategyFinding {
  std::string mesh;                // `a=2,b=2`
  std::vector<std::string> rules;  // per mesh dim
  std::string order;               // of cutting, `b,a`; "" for left to right
  std::string case_text;
  std::string reason;
  std::string repro;
  bool operator==(const StrategyFinding&) const = default;
};

// What became of the one-slot mutants of the op's rules. A mutant is false if a second, longer
// search with other values refutes it, or this one did.
struct MutantCount {
  int64_t mutants = 0;
  int64_t wrong = 0;
  int64_t caught = 0;
  std::vector<std::string> missed;  // `rule on case`
  bool operator==(const MutantCount&) const = default;
};

struct OpReport {
  std::string op;
  std::string pack;
  int samples = 0;
  int64_t draws = 0;  // of values, of a rule that none refutes, over sizes and worlds of one case
  int64_t combinations = 0;  // of input placements, over all samples
  int64_t tried = 0;
  std::vector<RuleFinding> proved;
  std::vector<RuleFinding> incorrect;
  std::vector<RuleFinding> missing;
  std::vector<RuleFinding> unexercised;
  int64_t strategies_tried = 0;
  int64_t strategies_wrong = 0;
  std::vector<StrategyFinding> strategies;  // of the wrong ones the first few of every sample
  std::vector<std::string> errors;          // samples that are refused, kernels that are lacking
  std::vector<std::string> notes;
  bool crashed =
      false;  // the process that judged it died, or ran past its deadline; `errors` says how
  double seconds = 0;
  MutantCount mutation;
  std::string misuse;  // what was asked for is no strategy of the op; nothing was judged

  bool is_clean() const {
    return incorrect.empty() && missing.empty() && unexercised.empty() && errors.empty() &&
           strategies_wrong == 0 && !crashed;
  }
};

// The JSON of one op in the output of `validate --json`; `mutation` only where mutants were made.
nlohmann::ordered_json to_json(const OpReport& report);
Result<OpReport> op_report_from_json(const nlohmann::ordered_json& json);

}  // namespace onedim
