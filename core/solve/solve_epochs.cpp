#include "core/solve/solve_epochs.hpp"

#include <algorithm>
#include <thread>

#include "core/solve/core_state.hpp"
#include "core/solve/dive.hpp"
#include "core/solve/repair.hpp"
#include "core/solve/value_pruning.hpp"

namespace onedim {
namespace {

constexpr int kFirstSweeps = 4;
constexpr int64_t kLargeCore = 200'000;  // cells, above which proof and prices take turns
constexpr int64_t kLeastEpoch = 20'000'000;
constexpr int64_t kMostEpoch = 200'000'000;
constexpr int kMostAscentSteps = 150;
constexpr int64_t kFirstDiveEffort = 2'000'000'000;  // no solution is known yet
constexpr int64_t kRepairPasses = 200;  // over the core, and as many more with each epoch
constexpr int64_t kMostRepair = 2'000'000'000;
constexpr int kDives = 4;         // in the first epochs, while the bound still rises fast
constexpr int kSlowRise = 100;    // a rise of less than this part of the gap is slow
constexpr int kShrinkShare = 12;  // one value in so many must go for a new core

}  // namespace

SolveEpochs::SolveEpochs(WorkNetwork& work, Cost unit, const SolveOptions& options)
    : work_(work),
      unit_(unit),
      options_(options),
      reduction_(work),
      prices_(work.capacity.size(), 0) {}

void SolveEpochs::run() {
  if (!prepare()) return;
  while (!is_solved() && (epochs_ == 0 || effort_ < options_.effort)) {
    epoch();
    if (was_stopped_) return;
  }
}

// Reduces, and starts anew on what is left. False: that solves it.
bool SolveEpochs::prepare() {
  const int64_t before = reduction_.effort();
  const bool is_open = reduction_.run();
  effort_ += reduction_.effort() - before;
  if (!is_open) {
    is_infeasible_ = !best_cost_;
    if (best_cost_) lower_ = *best_cost_;
    return false;
  }
  proof_.reset();
  ascent_.reset();
  core_ = std::make_unique<CoreNetwork>(build_core(work_));
  if (core_->size == 0) {
    if (!best_cost_ || core_->constant < *best_cost_) {
      best_ = extended(*core_, {}, reduction_.steps());
      best_cost_ = core_->constant;
    }
    lower_ = *best_cost_;
    return false;
  }
  dual_.emplace(*core_);
  ascent_.emplace(*core_, prices_for(*core_));
  dual_->set_prices(ascent_->prices());
  for (int sweep = 0; sweep < kFirstSweeps && !dual_->is_infeasible(); ++sweep)
    dual_->sweep(sweep % 2 == 0);
  if (dual_->is_infeasible()) {
    is_infeasible_ = !best_cost_;
    if (best_cost_) lower_ = *best_cost_;
    return false;
  }
  raise_lower(dual_->bound());
  if (search_core_ == nullptr) {
    search_core_ = std::make_unique<CoreNetwork>(*core_);
    search_steps_ = reduction_.steps();
  }
  return true;
}

Assignment SolveEpochs::extended(const CoreNetwork& core, const std::vector<int>& values,
                                 size_t steps) const {
  Assignment assignment(work_.nodes.size(), 0);
  for (int node = 0; node < core.size; ++node)
    assignment[core.work_node[node]] = core.origin[core.first_value[node] + values[node]];
  reduction_.extend(assignment, steps);
  return assignment;
}

std::vector<int> SolveEpochs::values_in_search_core(const Assignment& assignment) const {
  const CoreNetwork& core = *search_core_;
  std::vector<int> values(core.size);
  for (int node = 0; node < core.size; ++node) {
    const auto first = core.origin.begin() + core.first_value[node];
    const auto last = core.origin.begin() + core.first_value[node + 1];
    values[node] =
        static_cast<int>(std::lower_bound(first, last, assignment[core.work_node[node]]) - first);
  }
  return values;
}

std::vector<double> SolveEpochs::prices_for(const CoreNetwork& core) const {
  std::vector<double> prices(core.capacity.size());
  for (size_t t = 0; t < prices.size(); ++t) prices[t] = prices_[core.point_origin[t]];
  return prices;
}

void SolveEpochs::raise_lower(Cost bound) {
  if (best_cost_) bound = std::min(bound, *best_cost_);
  lower_ = std::max(lower_, bound);
}

int64_t SolveEpochs::epoch_effort() const {
  return std::clamp(40 * static_cast<int64_t>(search_core_->cells.size()), kLeastEpoch, kMostEpoch);
}

int64_t SolveEpochs::repair_effort() const {
  const int64_t pass = static_cast<int64_t>(core_->cells.size()) + 4 * core_->pass_effort();
  return std::min(kMostRepair, kRepairPasses * pass * (1 + epochs_));
}

bool SolveEpochs::has_proof_turn() const {
  if (!proof_) return false;
  return static_cast<int64_t>(core_->cells.size()) < kLargeCore || epochs_ % 2 == 0;
}

SolveEpochs::Found SolveEpochs::raise_bound(int64_t effort) {
  Found found;
  if (has_proof_turn()) {
    const int64_t before = proof_->effort();
    const SearchOutcome outcome = proof_->run(effort, options_.stop);
    found.bound = outcome.bound;
    found.is_complete = outcome.is_complete;
    found.effort = proof_->effort() - before;
    if (!outcome.values) return found;
    found.assignment = extended(*core_, *outcome.values, reduction_.steps());
    found.cost = outcome.cost;
    return found;
  }
  const int64_t before = dual_->effort();
  const int64_t a_step = static_cast<int64_t>(core_->cells.size()) + 4 * core_->pass_effort();
  const int steps = static_cast<int>(std::clamp<int64_t>(effort / a_step, 5, kMostAscentSteps));
  const Cost bound = dual_->bound();
  const Cost target = best_cost_ ? *best_cost_ : bound + std::abs(bound) / 10 + unit_;
  ascent_->run(*dual_, target, steps, options_.stop);
  found.effort = dual_->effort() - before;
  found.bound = dual_->bound();
  found.is_complete = dual_->is_infeasible() || found.bound >= cutoff();
  if (!proof_ && !found.is_complete && !options_.stop.is_past() &&
      found.bound - bound < (target - bound) / kSlowRise) {
    proof_.emplace(*core_, cutoff(), unit_);
    proof_->open(*dual_, ascent_->prices());
  }
  return found;
}

SolveEpochs::Found SolveEpochs::find_better(int64_t effort, std::optional<DualBound> dual) {
  Found found;
  if (dual) {
    const int64_t most = best_cost_ ? 4 * effort : kFirstDiveEffort;
    const DiveResult dived = dive(*core_, *std::move(dual), cutoff(), most, options_.stop);
    found.effort = dived.effort;
    std::optional<std::vector<int>> values = dived.values;
    if (!values && !best_cost_ && !core_->capacity.empty()) {
      RepairResult repaired =
          repair(*core_, prices_for(*core_), options_.seed + static_cast<uint64_t>(epochs_),
                 repair_effort(), options_.stop);
      found.effort += repaired.effort;
      values = std::move(repaired.values);
    }
    if (!values) return found;
    found.assignment = extended(*core_, *values, reduction_.steps());
    found.cost = cost_of(*core_, *values);
    return found;
  }
  const int64_t before = search_->effort();
  search_->run(prices_for(*search_core_), effort, options_.stop);
  found.effort = search_->effort() - before;
  if (search_->cost() >= *best_cost_) return found;
  found.assignment = extended(*search_core_, search_->values(), search_steps_);
  found.cost = search_->cost();
  return found;
}

void SolveEpochs::take(const Found& found) {
  effort_ += found.effort;
  if (found.assignment.empty() || (best_cost_ && found.cost >= *best_cost_)) return;
  best_ = found.assignment;
  best_cost_ = found.cost;
}

void SolveEpochs::epoch() {
  std::optional<DualBound> to_dive;
  if (!best_cost_ || epochs_ < kDives) to_dive = *dual_;
  Found bound;
  Found better;
  const int64_t effort = epoch_effort();
  if (options_.threads > 1) {
    std::thread beside([&] { bound = raise_bound(effort); });
    better = find_better(effort, std::move(to_dive));
    beside.join();
  } else {
    bound = raise_bound(effort);
    better = find_better(effort, std::move(to_dive));
  }
  if (options_.stop.is_past()) {
    was_stopped_ = true;
    return;
  }
  ++epochs_;
  take(better);
  take(bound);
  for (size_t t = 0; t < ascent_->prices().size(); ++t)
    prices_[core_->point_origin[t]] = ascent_->prices()[t];
  if (bound.is_complete) {
    is_infeasible_ = !best_cost_;
    if (best_cost_) lower_ = *best_cost_;
    return;
  }
  raise_lower(bound.bound);
  if (!best_cost_) return;
  const std::vector<int> values = values_in_search_core(best_);
  if (!search_) search_.emplace(*search_core_, values, unit_, options_.seed);
  if (search_->cost() > *best_cost_) search_->restart(values);
  if (proof_) proof_->lower_cutoff(cutoff());
  if (!is_solved()) prune();
}

void SolveEpochs::prune() {
  DualBound pruned = *dual_;
  effort_ += core_->pass_effort();
  if (prune_values(*core_, pruned, cutoff()) == Pruned::kInfeasible) {
    lower_ = *best_cost_;
    return;
  }
  int64_t gone = 0;
  for (int value = 0; value < core_->value_count(); ++value) gone += !pruned.is_alive(value);
  if (gone * kShrinkShare < core_->value_count()) return;
  for (int node = 0; node < core_->size; ++node) {
    std::vector<char> keep(core_->domain(node));
    for (size_t v = 0; v < keep.size(); ++v)
      keep[v] = pruned.is_alive(core_->first_value[node] + static_cast<int>(v));
    if (!reduction_.keep_values(core_->work_node[node], keep)) {
      lower_ = *best_cost_;
      return;
    }
  }
  prepare();
}

}  // namespace onedim
