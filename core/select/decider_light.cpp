// How a Decider treats inputs that are light beside the heaviest one, such as a bias: they can be
// brought almost anywhere for little, so that a search of their layouts would settle nearly all.
// First the least cost is found as if their moves cost what MoveBound says. Then the strategies are
// listed that might cost no more than that, or somewhat more, and only the layouts of light inputs
// that these ask for are searched.
#include "core/select/decider.hpp"

namespace onedim {
namespace {

constexpr int64_t kLightShare = 16;       // of the bytes of the heaviest input
constexpr int64_t kMostListed = 1 << 12;  // strategies
constexpr int64_t kRadiusShare = 64;      // by which what is listed grows first
constexpr int kMostRounds = 6;

}  // namespace

void Decider::defer_light() {
  int64_t most_bytes = 0;
  for (const size_t slot : slot_of_frontier_) most_bytes = std::max(most_bytes, moved_bytes(slot));
  for (size_t frontier = 0; frontier < frontiers_.size(); ++frontier) {
    const size_t slot = slot_of_frontier_[frontier];
    deferred_[frontier] = !stays(slot) && moved_bytes(slot) < most_bytes / kLightShare;
  }
}

// The parts that `layout` asks of a deferred slot: kept where they may be.
Decider::AskedParts Decider::asked_parts(size_t slot, const Layout& layout) const {
  const MoveBound& bound = frontiers_[frontier_of_slot_[slot]]->bound();
  AskedParts parts;
  for (int i = 0; i < bound.ndim(); ++i) {
    const MoveBound::Part part = bound.part_of(i, layout.placements[bound.mesh_dim(i)]);
    if (part == MoveBound::Part::kKept) parts.kept |= uint32_t{1} << i;
    if (part == MoveBound::Part::kCut) parts.cut |= uint32_t{1} << i;
  }
  parts.least_ps = bound.least_ps(parts.kept, parts.cut);
  return parts;
}

// What the moves of all deferred inputs cost at least.
int64_t Decider::least_deferred_ps(const Strategy& strategy) const {
  int64_t ps = 0;
  for (size_t slot = 0; slot < input_count(); ++slot) {
    if (is_deferred(slot))
      ps += asked_parts(slot, input_layout(choices_, strategy, slot, mesh_)).least_ps;
  }
  return ps;
}

void Decider::list_layout(size_t slot, const Layout& layout, int64_t others_ps) {
  const int frontier = frontier_of_slot_[slot];
  const MoveBound& bound = frontiers_[frontier]->bound();
  const AskedParts parts = asked_parts(slot, layout);
  // A shard of the source may come in another place of the cutting order, which is another cut.
  for_each_subset_or_none(parts.kept & bound.shards(), [&](uint32_t moved) {
    int64_t& end = listing_->ends[frontier][bound.index(parts.kept & ~moved, parts.cut | moved)];
    end = std::min(end, others_ps);
  });
  std::vector<std::string>& kinds = listing_->kinds[frontier];
  for (const Placement& placement : layout.placements) {
    if (placement.is_partial() &&
        std::find(kinds.begin(), kinds.end(), placement.partial) == kinds.end())
      kinds.push_back(placement.partial);
  }
}

// Nothing is found; where there is too much to list, what costs nothing ends the search.
std::optional<StrategyCost> Decider::list_leaf(const Strategy& strategy, const MoveTotal& moves) {
  if (++listing_->count > kMostListed) return StrategyCost();
  const int64_t least_ps = moves.ps + least_deferred_ps(strategy);
  for (size_t slot = 0; slot < input_count() && least_ps <= listing_->most_ps; ++slot) {
    if (!is_deferred(slot)) continue;
    const Layout layout = input_layout(choices_, strategy, slot, mesh_);
    list_layout(slot, layout, least_ps - asked_parts(slot, layout).least_ps);
  }
  return std::nullopt;
}

void Decider::list_light(StrategySearch& search, int64_t most_ps) {
  const size_t count = frontiers_.size();
  listing_ = Listing();
  listing_->most_ps = most_ps;
  listing_->kinds.resize(count);
  for (size_t frontier = 0; frontier < count; ++frontier)
    listing_->ends.emplace_back(deferred_[frontier] ? other_moves_[frontier].size() : 0,
                                kImpossible);
  search_orders(search);
}

// Their layouts are settled where they may be part of what costs no more than `most_ps` to move.
Status Decider::settle_deferred(int64_t most_ps,
                                std::span<const std::vector<int64_t>> unlisted_moves) {
  const bool is_listed = listing_ && listing_->count <= kMostListed;
  if (!is_listed) listing_.reset();
  for (size_t frontier = 0; frontier < frontiers_.size(); ++frontier) {
    if (!deferred_[frontier]) continue;
    other_moves_[frontier] = is_listed ? listing_->ends[frontier] : unlisted_moves[frontier];
    if (Status status = start_frontier(frontier); !status.ok()) return status;
    frontiers_[frontier]->settle(most_ps);
  }
  listing_.reset();
  return absl::OkStatus();
}

Status Decider::search_light_last(StrategySearch& search) {
  if (Status status = this->search(search, 0); !status.ok() || !search.best()) return status;
  const int64_t least_compute_ps = search.least_compute_ps();
  const absl::InlinedVector<bool, 8> light = deferred_;
  const std::vector<std::vector<int64_t>> unlisted_moves = other_moves_;
  int64_t radius_ps = search.best()->cost.total.ps - least_compute_ps;
  int64_t growth_ps = radius_ps / kRadiusShare + 1;
  for (int round = 0; round < kMostRounds; ++round, radius_ps += growth_ps, growth_ps *= 2) {
    deferred_ = light;
    settle(radius_ps);
    search.restart(radius_ps + least_compute_ps);
    list_light(search, radius_ps);
    if (Status status = settle_deferred(radius_ps, unlisted_moves); !status.ok()) return status;
    deferred_.assign(light.size(), false);
    search.restart(radius_ps + least_compute_ps);
    search_orders(search);
    if (!compute_fault_.ok()) return compute_fault_;
    if (search.best()) return absl::OkStatus();
  }
  // The light inputs have no plan, or a dear one, to what is best for the heavy ones.
  deferred_ = light;
  if (Status status = settle_deferred(0, unlisted_moves); !status.ok()) return status;
  deferred_.assign(light.size(), false);
  search.restart(kImpossible);
  return this->search(search, 0);
}

}  // namespace onedim
