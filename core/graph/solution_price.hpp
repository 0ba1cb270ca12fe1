#pragma once
// Solution price: what a solution that is there costs under a cost model: each node what its local
// call takes on the rank that takes longest, each move what its steps cost as they stand. A move is
// paid once, whoever shares its copy. Nothing is solved, and nothing overlaps.

#include "core/cost/cost_model.hpp"
#include "core/cost/roofline.hpp"
#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"

namespace onedim {

struct PricedSolution {
  std::vector<double> node_us;               // per node
  std::vector<std::vector<double>> step_us;  // per move and step of its plan
  double compute_us = 0, communication_us = 0;

  double move_us(int move) const;  // the sum of its steps
};

// `model` is of the solution's mesh, `roofline` goes with it. Errors name the node, or the value of
// the move.
Result<PricedSolution> price_solution(const ResolvedGraph& resolved, const Solution& solution,
                                      const CostModel& model, const Roofline& roofline);

}  // namespace onedim
