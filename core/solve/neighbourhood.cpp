#include "core/solve/neighbourhood.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/solve/branch_and_bound.hpp"
#include "core/solve/core_part.hpp"
#include "core/solve/core_state.hpp"
#include "core/solve/reduction.hpp"

namespace onedim {
namespace {

constexpr int kBlocks = 64;  // of time, in which nodes that hold memory together are found
constexpr int64_t kLeastPartEffort = 2'000'000;
constexpr int64_t kMostPartEffort = 100'000'000;
constexpr int kPatience = 60;    // parts without a gain before a kick
constexpr int kKicksAStep = 4;   // kicks before more is spent on each part
constexpr Cost kLossShare = 20;  // a kick may lose this part of the cost
constexpr int kRootSteps = 30;
constexpr double kGrow = 1.03;
constexpr double kShrink = 0.9;
constexpr double kLeastSize = 5;

}  // namespace

NeighbourhoodSearch::NeighbourhoodSearch(const CoreNetwork& core, std::vector<int> values,
                                         Cost unit, uint64_t seed)
    : core_(&core),
      values_(std::move(values)),
      unit_(unit),
      cost_(cost_of(core, values_)),
      best_values_(values_),
      best_cost_(cost_),
      random_(seed),
      users_(kBlocks),
      part_effort_(kLeastPartEffort) {
  const size_t points = std::max<size_t>(core.capacity.size(), 1);
  for (int node = 0; node < core.size; ++node) {
    for (const CoreUse& use : core.uses_of(node)) {
      const size_t last = (static_cast<size_t>(use.end) - 1) * kBlocks / points;
      for (size_t block = use.begin * size_t{kBlocks} / points; block <= last; ++block) {
        std::vector<int>& users = users_[block];
        if (users.empty() || users.back() != node) users.push_back(node);
      }
    }
  }
}

int NeighbourhoodSearch::pick_beside(int node) {
  const auto links = core_->links_of(node);
  const auto uses = core_->uses_of(node);
  if (uses.empty() || (!links.empty() && below(4) != 0)) {
    if (links.empty()) return static_cast<int>(below(core_->size));
    return links[below(links.size())].other;
  }
  const CoreUse& use = uses[below(uses.size())];
  const size_t point = use.begin + below(use.end - use.begin);
  const std::vector<int>& users = users_[point * kBlocks / core_->capacity.size()];
  return users[below(users.size())];
}

// Nodes that follow each other in the program, whose cut to the rest is small.
std::vector<int> NeighbourhoodSearch::window(size_t count) {
  const size_t last = static_cast<size_t>(core_->size) - count;
  std::vector<int> nodes(count);
  std::iota(nodes.begin(), nodes.end(), static_cast<int>(below(last + 1)));
  return nodes;
}

std::vector<int> NeighbourhoodSearch::pick_nodes() {
  const auto count = std::min(static_cast<size_t>(size_), static_cast<size_t>(core_->size));
  if (below(3) == 0) return window(count);
  std::vector<int> nodes = {static_cast<int>(below(core_->size))};
  std::vector<char> is_picked(core_->size, 0);
  is_picked[nodes[0]] = 1;
  const bool is_star = below(3) == 0;  // what is beside one node, or beside any that is picked
  for (size_t tries = 0; nodes.size() < count && tries < 20 * count; ++tries) {
    const int next = pick_beside(nodes[is_star && below(4) != 0 ? 0 : below(nodes.size())]);
    if (is_picked[next]) continue;
    is_picked[next] = 1;
    nodes.push_back(next);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::optional<std::vector<int>> NeighbourhoodSearch::solve_part(const CoreNetwork& part,
                                                                Cost cutoff,
                                                                const std::vector<double>& prices) {
  if (part.size == 0) {
    if (part.constant >= cutoff) return std::nullopt;
    return std::vector<int>();
  }
  std::vector<double> own(part.capacity.size());
  for (size_t t = 0; t < own.size(); ++t) own[t] = prices[part.point_origin[t]];
  DualBound dual(part);
  dual.set_prices(own);
  PriceAscent ascent(part, std::move(own));
  ascent.run(dual, cutoff, kRootSteps, stop_);
  effort_ += dual.effort();
  if (dual.is_infeasible() || dual.bound() >= cutoff) return std::nullopt;
  BranchAndBound search(part, cutoff, unit_);
  search.open(std::move(dual), ascent.prices());
  SearchOutcome outcome = search.run(part_effort_, stop_);
  effort_ += search.effort();
  return std::move(outcome.values);
}

bool NeighbourhoodSearch::improve(const std::vector<int>& nodes, const std::vector<double>& prices,
                                  Cost loss, int barred) {
  WorkNetwork part = part_of(*core_, nodes, values_);
  std::vector<int> own;
  for (const int node : nodes) own.push_back(values_[node]);
  const CoreNetwork whole = build_core(part);
  const Cost cutoff = cost_of(whole, own) + loss - unit_ + 1;
  if (barred >= 0) {
    const auto place = std::find(nodes.begin(), nodes.end(), barred) - nodes.begin();
    part.nodes[place].costs[values_[barred]] = kBlocked;
  }
  effort_ += static_cast<int64_t>(whole.cells.size()) + 4 * whole.pass_effort() + 4 * core_->size;
  Reduction reduction(part);
  const bool is_open = reduction.run();
  effort_ += reduction.effort();
  if (!is_open) return false;
  const CoreNetwork core = build_core(part);
  const std::optional<std::vector<int>> found = solve_part(core, cutoff, prices);
  if (!found) return false;
  Assignment assignment(nodes.size(), 0);
  for (int i = 0; i < core.size; ++i)
    assignment[core.work_node[i]] = core.origin[core.first_value[i] + (*found)[i]];
  reduction.extend(assignment, reduction.steps());
  for (size_t i = 0; i < nodes.size(); ++i) values_[nodes[i]] = assignment[i];
  cost_ = cost_of(*core_, values_);
  return true;
}

void NeighbourhoodSearch::restart(std::vector<int> values) {
  values_ = std::move(values);
  cost_ = cost_of(*core_, values_);
  best_values_ = values_;
  best_cost_ = cost_;
}

void NeighbourhoodSearch::kick(const std::vector<double>& prices) {
  values_ = best_values_;
  cost_ = best_cost_;
  const std::vector<int> nodes = pick_nodes();
  const int barred = nodes[below(nodes.size())];
  if (core_->domain(barred) < 2) return;
  improve(nodes, prices, std::abs(best_cost_) / kLossShare + unit_, barred);
}

void NeighbourhoodSearch::run(const std::vector<double>& prices, int64_t effort,
                              const StopTime& stop) {
  stop_ = stop;
  const int64_t end = effort_ + effort;
  while (effort_ < end && !stop.is_past()) {
    effort_ += core_->size;
    const int64_t before = effort_;
    const bool is_better = improve(pick_nodes(), prices, 0, -1);
    const bool is_easy = effort_ - before < part_effort_;
    size_ = is_easy ? std::min(size_ * kGrow, static_cast<double>(core_->size))
                    : std::max(size_ * kShrink, kLeastSize);
    if (is_better) {
      idle_ = 0;
      if (cost_ >= best_cost_) continue;
      best_cost_ = cost_;
      best_values_ = values_;
    } else if (++idle_ >= kPatience) {
      idle_ = 0;
      if (++kicks_ % kKicksAStep == 0) part_effort_ = std::min(2 * part_effort_, kMostPartEffort);
      kick(prices);
    }
  }
}

}  // namespace onedim
