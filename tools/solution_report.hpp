#pragma once
// Solution report: a priced solution of a graph, as text and JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/exec/graph_task.hpp"
#include "core/graph/solution_file.hpp"
#include "core/graph/solution_price.hpp"

namespace onedim {

// A graph with a solution and its prices; borrowed.
struct SolutionReport {
  const GraphTask& task;
  const PricedSolution& priced;
  const SolutionPrices& by;  // whose prices these are

  // Sums, steps by kind, the dearest moves and nodes.
  std::string text() const;
  // Also every node, its inputs and every move. An input's price is that of the moves that run for
  // it: what others share is paid by the first that uses it.
  nlohmann::ordered_json json() const;
};

}  // namespace onedim
