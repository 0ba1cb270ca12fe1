#pragma once
// Validate text: what `validate` prints: one line an op, its findings with the command lines that
// reproduce them, and totals; or the same as one JSON document.

#include <optional>
#include <string>
#include <vector>

#include "core/validate/op_report.hpp"
#include "tools/session.hpp"

namespace onedim {

// `claims`: the reports answer claims, each of which is told.
std::string validate_text(const std::vector<OpReport>& reports, double seconds, bool claims);
// Without `seconds`, of the whole run, no time is told, also none of an op: `seconds` is null, and
// the document is the same byte for byte whenever the findings are.
Json validate_json(const std::vector<OpReport>& reports, std::optional<double> seconds);

}  // namespace onedim
