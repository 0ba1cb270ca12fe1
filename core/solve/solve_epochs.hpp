#pragma once
// Solve epochs: the solver's loop on one work network; see solver.hpp.

#include <memory>
#include <optional>

#include "core/solve/branch_and_bound.hpp"
#include "core/solve/neighbourhood.hpp"
#include "core/solve/reduction.hpp"
#include "core/solve/solver.hpp"

namespace onedim {

class SolveEpochs {
 public:
  // `work` is borrowed; costs are multiples of `unit`.
  SolveEpochs(WorkNetwork& work, Cost unit, const SolveOptions& options);

  // Until solved, or the effort or time is spent.
  void run();

  bool is_infeasible() const { return is_infeasible_; }
  bool is_solved() const { return is_infeasible_ || (best_cost_ && lower_ > *best_cost_ - unit_); }
  bool was_stopped() const { return was_stopped_; }
  // Values of the network's nodes; empty if none was found.
  const Assignment& best() const { return best_; }
  Cost lower_bound() const { return lower_; }  // work units
  int64_t effort() const { return effort_; }

 private:
  struct Found {
    Assignment assignment;  // empty if there is nothing new
    Cost cost = 0;
    Cost bound = -kBlocked;
    bool is_complete = false;
    int64_t effort = 0;
  };

  bool prepare();
  void epoch();
  int64_t epoch_effort() const;
  int64_t repair_effort() const;
  Found raise_bound(int64_t effort);
  Found find_better(int64_t effort, std::optional<DualBound> dual);
  bool has_proof_turn() const;
  void take(const Found& found);
  void raise_lower(Cost bound);
  void prune();
  // From values of a core to those of the network's nodes, after so many steps of reduction.
  Assignment extended(const CoreNetwork& core, const std::vector<int>& values, size_t steps) const;
  std::vector<int> values_in_search_core(const Assignment& assignment) const;
  std::vector<double> prices_for(const CoreNetwork& core) const;
  Cost cutoff() const { return best_cost_ ? *best_cost_ - unit_ + 1 : kBlocked / 2; }

  WorkNetwork& work_;
  Cost unit_;
  SolveOptions options_;
  Reduction reduction_;

  std::unique_ptr<CoreNetwork> core_;         // shrinks as values are ruled out
  std::unique_ptr<CoreNetwork> search_core_;  // the first one, which holds every good solution
  size_t search_steps_ = 0;                   // of the reduction that led to it
  std::optional<DualBound> dual_;
  std::optional<PriceAscent> ascent_;
  std::optional<BranchAndBound> proof_;
  std::optional<NeighbourhoodSearch> search_;

  Assignment best_;
  std::optional<Cost> best_cost_;
  Cost lower_ = -kBlocked;
  bool is_infeasible_ = false;
  bool was_stopped_ = false;
  int64_t effort_ = 0;
  int64_t epochs_ = 0;
  std::vector<double> prices_;  // by the first network's points in time
};

}  // namespace onedim
