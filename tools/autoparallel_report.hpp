#pragma once
// AutoParallel report: a priced solution of AutoParallel's, as text and JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/autoparallel_check.hpp"

namespace onedim {

// A graph with a solution, its prices and what was found of them; borrowed.
struct AutoParallelReport {
  const ResolvedGraph& resolved;
  const AutoParallelSolution& solution;
  const AutoParallelPriced& priced;
  const AutoParallelCheck& check;

  // Sums, what does not fit and what differs, the dearest moves and nodes.
  std::string text() const;
  // Also every node, and given value, with its price, and every edge.
  nlohmann::ordered_json json() const;
};

}  // namespace onedim
