#include "core/solve/solver.hpp"

#include <algorithm>

#include "core/solve/assignment_check.hpp"
#include "core/solve/solve_epochs.hpp"
#include "core/solve/work_build.hpp"

namespace onedim {
namespace {

// Work units of the counted costs back to costs, rounded up: costs are whole numbers.
WideCost wide_bound(Cost bound, const BuiltWork& work) {
  const Cost unit = Cost{1} << work.unit_bits;
  Cost whole = bound / unit;
  if (bound % unit > 0) ++whole;
  if (work.forbidden_weight == 0) return whole;
  const Cost weight = work.forbidden_weight;
  Cost count = whole / weight;
  Cost rest = whole % weight;
  if (rest > weight / 2) ++count, rest -= weight;
  if (rest < -weight / 2) --count, rest += weight;
  return static_cast<WideCost>(count) * kForbidden + rest;
}

Status take_best(const CostNetwork& network, const SolveEpochs& epochs, const BuiltWork& work,
                 NetworkSolution& solution) {
  solution.lower_bound = wide_bound(epochs.lower_bound(), work);
  if (epochs.best().empty() && !network.nodes.empty()) return absl::OkStatus();
  const Result<AssignmentCheck> check = check_assignment(network, epochs.best());
  if (!check.ok()) return check.status();
  if (!check->is_within_limit)
    return absl::InternalError("the solver's assignment exceeds the memory limit");
  solution.assignment = epochs.best();
  solution.cost = check->cost;
  solution.lower_bound = std::min(solution.lower_bound, check->cost);
  const bool is_optimal = solution.lower_bound == check->cost;
  solution.state = is_optimal ? SolveState::kOptimal : SolveState::kFeasible;
  return absl::OkStatus();
}

}  // namespace

Result<NetworkSolution> solve(const CostNetwork& network, const SolveOptions& options) {
  NetworkSolution solution;
  for (const Forbidden forbidden : {Forbidden::kExcluded, Forbidden::kCounted}) {
    Result<BuiltWork> work = build_work(network, forbidden);
    if (!work.ok()) return work.status();
    SolveOptions left = options;
    left.effort -= solution.effort;
    SolveEpochs epochs(work->network, Cost{1} << work->unit_bits, left);
    epochs.run();
    solution.effort += epochs.effort();
    solution.was_stopped = epochs.was_stopped();
    if (epochs.is_infeasible()) {
      solution.state = SolveState::kInfeasible;
      continue;
    }
    if (Status status = take_best(network, epochs, *work, solution); !status.ok()) return status;
    break;
  }
  return solution;
}

}  // namespace onedim
