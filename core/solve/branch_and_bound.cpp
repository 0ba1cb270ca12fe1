#include "core/solve/branch_and_bound.hpp"

#include <utility>

#include "core/solve/core_state.hpp"
#include "core/solve/value_pruning.hpp"

namespace onedim {
namespace {

constexpr int kMostRounds = 6;  // of sweeping and pruning, at one node
constexpr int kPriceSteps = 6;

int alive_count(const CoreNetwork& core, const DualBound& dual, int node) {
  int count = 0;
  for (int value = core.first_value[node]; value < core.first_value[node + 1]; ++value)
    count += dual.is_alive(value);
  return count;
}

}  // namespace

BranchAndBound::BranchAndBound(const CoreNetwork& core, Cost cutoff, Cost unit)
    : core_(&core), cutoff_(cutoff), unit_(unit), weight_(core.size, 1.0) {}

void BranchAndBound::fail(int node) {
  if (node >= 0) weight_[node] += 1;
}

// False: nothing cheaper than the cutoff is left in the branch.
bool BranchAndBound::tighten(Branch& branch) {
  DualBound& dual = branch.dual;
  const int64_t before = dual.effort();
  bool is_open = true;
  for (int round = 0; round < kMostRounds && is_open; ++round) {
    const Cost bound = dual.bound();
    dual.sweep(true);
    if (!dual.is_infeasible()) dual.sweep(false);
    if (dual.is_infeasible() || dual.bound() >= cutoff_) {
      is_open = false;
      break;
    }
    if (!core_->capacity.empty() && round == 0) {
      PriceAscent ascent(*core_, branch.prices);
      ascent.run(dual, cutoff_, kPriceSteps);
      branch.prices = ascent.prices();
      if (dual.is_infeasible() || dual.bound() >= cutoff_) {
        is_open = false;
        break;
      }
    }
    take_if_solved(dual);
    const Pruned pruned = prune_values(*core_, dual, cutoff_);
    if (pruned == Pruned::kInfeasible) is_open = false;
    if (pruned == Pruned::kNothing && dual.bound() - bound < (cutoff_ - dual.bound()) / 16) break;
  }
  effort_ += dual.effort() - before + core_->pass_effort();
  return is_open;
}

// The cheapest values together may already be a solution, and often are when few are left.
void BranchAndBound::take_if_solved(const DualBound& dual) {
  const Cost cost = cost_of(*core_, dual.cheapest());
  if (cost >= cutoff_ || !is_within_capacity(*core_, dual.cheapest())) return;
  outcome_.values = dual.cheapest();
  outcome_.cost = cost;
  cutoff_ = cost - unit_ + 1;
}

int BranchAndBound::choose_node(const DualBound& dual) const {
  int chosen = -1;
  double best = 0;
  for (int node = 0; node < core_->size; ++node) {
    const int alive = alive_count(*core_, dual, node);
    if (alive < 2) continue;
    const auto degree =
        static_cast<double>(core_->links_of(node).size() + core_->uses_of(node).size());
    const double score = weight_[node] * (1 + degree) / alive;
    if (chosen < 0 || score > best) chosen = node, best = score;
  }
  return chosen;
}

void BranchAndBound::expand(Branch branch) {
  if (branch.dual.bound() >= cutoff_ || !tighten(branch)) {
    fail(branch.node);
    return;
  }
  const int node = choose_node(branch.dual);
  if (node < 0) {  // all is chosen
    branch.dual.sweep(true);
    if (!branch.dual.is_infeasible()) take_if_solved(branch.dual);
    return;
  }
  const int first = core_->first_value[node];
  int cheapest = -1;
  for (int v = 0; v < core_->domain(node); ++v) {
    if (!branch.dual.is_alive(first + v)) continue;
    if (cheapest < 0 || branch.dual.excess(first + v) < branch.dual.excess(first + cheapest))
      cheapest = v;
  }
  Branch rest = branch;
  rest.node = branch.node = node;
  ++rest.depth;
  ++branch.depth;
  rest.dual.block(first + cheapest);
  for (int v = 0; v < core_->domain(node); ++v) {
    if (v != cheapest) branch.dual.block(first + v);
  }
  open_.push_back(std::move(rest));
  open_.push_back(std::move(branch));
}

void BranchAndBound::open(DualBound root, std::vector<double> prices) {
  open_.push_back({std::move(root), std::move(prices), -1, 0});
}

SearchOutcome BranchAndBound::run(int64_t most_effort, const StopTime& stop) {
  const int64_t end = effort_ + most_effort;
  while (!open_.empty() && effort_ < end && !stop.is_past()) {
    Branch branch = std::move(open_.back());
    open_.pop_back();
    expand(std::move(branch));
  }
  outcome_.is_complete = open_.empty();
  outcome_.bound = cutoff_;
  for (const Branch& branch : open_) outcome_.bound = std::min(outcome_.bound, branch.dual.bound());
  return std::exchange(outcome_, {});
}

}  // namespace onedim
