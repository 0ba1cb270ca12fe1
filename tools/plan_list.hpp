#pragma once
// Plan list: moves to run one after the other in one launch, a line each:
// `f32[10,7]: S(0),R -> R,S(1)`, with ` outermost(1)` behind a layout where dim 1 is outermost in
// memory. Empty lines and lines that begin with # are skipped.

#include <string>
#include <vector>

#include "core/redistribute/plan_check.hpp"
#include "core/redistribute/planner.hpp"

namespace onedim {

struct ListedMove {
  int64_t line = 0;
  std::string text;
  TensorMeta meta;
  Layout from, to;
  int from_outermost = 0;
  int to_outermost = 0;
};

// Errors name the line.
Result<std::vector<ListedMove>> parse_plan_list(std::string_view text, const Mesh& mesh);

// The move's plan; errors name the line.
Result<std::shared_ptr<const Plan>> plan_listed(const ListedMove& move, Planner& planner,
                                                const PlanOptions& options);

struct ListedOutcome {
  std::shared_ptr<const Plan> plan;
  Status checked;  // of its run, against the index map
};
// Plans the move and checks how `run` carries it out. Fails where there is no plan, or no check.
Result<ListedOutcome> run_listed(const ListedMove& move, Planner& planner,
                                 const PlanOptions& options, uint64_t seed, const PlanRunner& run);

}  // namespace onedim
