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
    const bool is_same =
        input(other)->shape == input(slot)->shape && input(other)->dtype == input(slot)->dtype &&
        current_[other] == current_[slot] && outermosts_[other] == outermosts_[slot] &&
        std::equal(state(other).begin(), state(other).end(), state(slot).begin(),
                   state(slot).end()) &&
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
  // Under a memory cap a slice copies, and a reduction of equal values may be cheaper.
  const bool is_capped = request_.options.memory_bytes != std::numeric_limits<int64_t>::max();
  FrontierSlot frontier;
  frontier.meta = &*input(slot);
  frontier.moved = moved(slot);
  frontier.current = &current_[slot];
  frontier.outermost = outermosts_[slot];
  frontier.placements = &choices_.placements(slot);
  frontier.stays = stays(slot);
  frontier.relabels = is_capped || !choices_.replicas_stand_in();
  return frontier;
}

void Decider::bound_moves() {
  std::vector<MovingInput> inputs;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (!input(slot)) continue;
    const int frontier = frontier_of_slot_[slot];
    if (slot_of_frontier_[frontier] == slot)
      frontiers_[frontier]->bound(planner_.model(), frontier_slot(slot));
    inputs.push_back({&frontiers_[frontier]->bound(), slot, stays(slot)});
  }
  other_moves_.resize(frontiers_.size());
  std::vector<int64_t> own;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<int64_t>& least = other_moves_[frontier_of_slot_[inputs[i].slot]];
    find_other_moves(choices_, inputs, i, own);
    if (least.empty()) {
      least = own;
    } else {
      std::transform(least.begin(), least.end(), own.begin(), least.begin(),
                     [](int64_t a, int64_t b) { return std::min(a, b); });
    }
  }
}

Status Decider::start_frontier(size_t frontier) {
  FrontierSlot slot = frontier_slot(slot_of_frontier_[frontier]);
  if (listing_) slot.kinds = &listing_->kinds[frontier];
  return frontiers_[frontier]->start(planner_.model(), graphs_, request_.options, slot, cut_orders_,
                                     other_moves_.empty() ? nullptr : &other_moves_[frontier]);
}

Status Decider::start_frontiers(bool may_defer) {
  frontier_of_slot_.assign(input_count(), -1);
  slot_of_frontier_.clear();
  other_moves_.clear();
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
  deferred_.assign(frontiers_.size(), false);
  if (may_bound()) {
    bound_moves();
    if (may_defer && !plans_leaves_) defer_light();
  }
  for (size_t frontier = 0; frontier < frontiers_.size(); ++frontier) {
    if (deferred_[frontier]) continue;
    if (Status status = start_frontier(frontier); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace onedim
