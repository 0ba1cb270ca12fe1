#pragma once
// IOPDDL read: the JSON instances of the ASPLOS 2025 contest on intra-operator parallelism:
//   {"problem": {"name", "nodes": {"intervals": [[BEGIN, END]], "costs": [[COST]],
//                "usages": [[BYTES]]},
//                "edges": {"nodes": [[NODE, NODE]], "costs": [[COST]]}, "usage_limit": BYTES}}
// An edge's costs are row by row, the first node's value being the row. Times are half open, costs
// and bytes whole numbers, 10^18 an infinite cost. name and usage_limit may be left out, and
// intervals and usages if there is no usage_limit.

#include "core/base/status.hpp"
#include "core/solve/cost_network.hpp"

namespace onedim {

// A file, plain or gzip. Errors are one line that names the file and the place in it.
Result<CostNetwork> read_iopddl(const std::string& path);
// `name` stands for the text in errors.
Result<CostNetwork> parse_iopddl(const std::string& text, const std::string& name);

}  // namespace onedim
