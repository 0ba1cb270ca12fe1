// How a Decider sets up the frontiers of its inputs.
#include <algorithm>

#include "core/layout/layout_check.hpp"
#include "core/select/decider.hpp"
#include "core/select/other_moves.hpp"

namespace onedim {
namespace {

constexpr size_t kLeastBoundedDims = 2;  // mesh dims of more than one rank

bool has_strided(std::span<const Placement> placements) {
  return std::any_of(placements.begin(), placements.end(), [](const Placement& placement) {
    return placement.kind == Placement::Kind::kStridedShard;
  });
}

// A thread's frontiers keep their memory from one decision to the next.
MoveFrontier& own_frontier(size_t index) {
  thread_local std::vector<std::unique_ptr<MoveFrontier>> frontiers;
  while (frontiers.size() <= index) frontiers.push_back(std::make_unique<MoveFrontier>());
  return *frontiers[index];
}

}  // namespace

// The first slot whose frontier serves this one too.
size_t Decider::first_slot_like(size_t slot) const {
  for (size_t other = 0; other < slot; ++other) {
    if (!input(other) || pinned_[other] != pinned_[slot]) continue;
    const bool is_same = input(other)->shape == input(slot)->shape &&
                         input(other)->dtype == input(slot)->dtype &&
                         current_[other] == current_[slot] &&
                         choices_.placements(other) == choices_.placements(slot);
    if (is_same) return other;
  }
  return slot;
}

// Whether bounds on what moves cost are to be had, and pay.
bool Decider::may_bound() const {
  if (cut_orders_[0].size() < kLeastBoundedDims || request_.options.allow_shard_to_partial ||
      request_.options.policy == Policy::kAny)
    return false;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    if (has_strided(choices_.placements(slot)) || has_strided(current_[slot].placements) ||
        !check_policy(*input(slot), current_[slot], mesh_, request_.options.policy).ok())
      return false;
  }
  return true;
}

FrontierSlot Decider::frontier_slot(size_t slot) const {
  return {&*input(slot), &current_[slot], &choices_.placements(slot), stays(slot),
          !choices_.replicas_stand_in()};
}

// Per frontier, what a strategy costs besides its own move; of slots that share one, the least.
std::vector<std::vector<int64_t>> Decider::bound_moves() const {
  std::vector<MovingInput> inputs;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    const int frontier = frontier_of_slot_[slot];
    if (slot_of_frontier_[frontier] == slot)
      frontiers_[frontier]->bound(planner_.model(), frontier_slot(slot));
    inputs.push_back({&frontiers_[frontier]->bound(), slot, stays(slot)});
  }
  std::vector<std::vector<int64_t>> ends(frontiers_.size());
  std::vector<int64_t> own;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<int64_t>& least = ends[frontier_of_slot_[inputs[i].slot]];
    find_other_moves(choices_, inputs, i, own);
    if (least.empty()) {
      least = own;
    } else {
      std::transform(least.begin(), least.end(), own.begin(), least.begin(),
                     [](int64_t a, int64_t b) { return std::min(a, b); });
    }
  }
  return ends;
}

Status Decider::start_frontiers() {
  frontier_of_slot_.assign(input_count(), -1);
  slot_of_frontier_.clear();
  plans_leaves_ = plans_leaves_ || cut_orders_[0].size() > size_t{Planner::kMostFreeMeshDims};
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    const size_t first = first_slot_like(slot);
    if (first < slot) {
      frontier_of_slot_[slot] = frontier_of_slot_[first];
      continue;
    }
    frontier_of_slot_[slot] = static_cast<int>(frontiers_.size());
    frontiers_.push_back(&own_frontier(frontiers_.size()));
    slot_of_frontier_.push_back(slot);
    plans_leaves_ = plans_leaves_ || has_strided(choices_.placements(slot)) ||
                    has_strided(current_[slot].placements);
  }
  std::vector<std::vector<int64_t>> ends;
  if (may_bound()) ends = bound_moves();
  for (size_t frontier = 0; frontier < frontiers_.size(); ++frontier) {
    const Status status = frontiers_[frontier]->start(
        planner_.model(), graphs_, request_.options, frontier_slot(slot_of_frontier_[frontier]),
        cut_orders_, ends.empty() ? nullptr : &ends[frontier]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace onedim
