#include "core/redistribute/move_bound.hpp"

#include <algorithm>

namespace onedim {
namespace {

// All but broadcast, which is numbered last.
constexpr size_t kPricedCollectives = kCollectiveCount - 1;

constexpr auto kLater = [](const auto& a, const auto& b) { return a.ps > b.ps; };

}  // namespace

void MoveBound::read_source(const Layout& from) {
  const Mesh& mesh = model_->mesh();
  mesh_dims_.clear();
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh.size(d) > 1) mesh_dims_.push_back(d);
  }
  all_ = (uint32_t{1} << ndim()) - 1;
  shards_ = partials_ = 0;
  has_own_kinds_ = false;
  after_.fill(0);
  dim_sets_.start(mesh, mesh_dims_);
  const Dims order = from.cutting_order();
  const auto rank = [&](int i) {
    return std::find(order.begin(), order.end(), mesh_dims_[i]) - order.begin();
  };
  for (int i = 0; i < ndim(); ++i) {
    const Placement& placement = from.placements[mesh_dims_[i]];
    if (placement.is_shard()) shards_ |= uint32_t{1} << i;
    if (placement.is_partial()) partials_ |= uint32_t{1} << i;
    has_own_kinds_ |= placement.is_partial() && !is_builtin_partial(placement.partial);
    for (int j = 0; placement.is_shard() && j < ndim(); ++j) {
      if (from.placements[mesh_dims_[j]] == placement && rank(i) < rank(j))
        after_[i] |= uint32_t{1} << j;
    }
  }
}

int64_t MoveBound::work_out(Collective collective, uint32_t sharded, uint32_t dims) const {
  const auto ps = [&](Collective kind, uint32_t cut) {
    const int64_t bytes = std::max<int64_t>(1, bytes_ / dim_sets_.ranks(cut));
    return to_ps(model_->collective_us(kind, dim_sets_.on_mesh(dims), bytes));
  };
  switch (collective) {
    case Collective::kAllGather:
      return ps(collective, sharded & ~dims);
    case Collective::kReduceScatter:
      return has_own_kinds_ ? std::min(ps(collective, sharded), ps(Collective::kAllToAll, sharded))
                            : ps(collective, sharded);
    case Collective::kAllReduce:
      return has_own_kinds_ ? std::min(ps(collective, sharded), ps(Collective::kAllGather, sharded))
                            : ps(collective, sharded);
    case Collective::kAllToAll:
    case Collective::kBroadcast:
      break;
  }
  return ps(collective, sharded);
}

int64_t MoveBound::price(Collective collective, uint32_t sharded, uint32_t dims) {
  int64_t& known = prices_[static_cast<size_t>(collective) * table_size() + index(sharded, dims)];
  if (known == kUnknown) known = work_out(collective, sharded, dims);
  return known;
}

int64_t MoveBound::least_price(Collective collective, uint32_t sharded, uint32_t dims,
                               uint32_t others) {
  int64_t least = price(collective, sharded, dims);
  for_each_subset(others, [&](uint32_t more) {
    least = std::min(least, price(collective, sharded, dims | more));
  });
  return least;
}

// Of the kept cuts, with all that cut the same tensor dim later.
bool MoveBound::is_last(uint32_t dims, uint32_t kept) const {
  uint32_t after = 0;
  for (uint32_t left = dims & kept & shards_; left != 0; left &= left - 1)
    after |= after_[lowest(left)];
  return (after & kept & ~dims) == 0;
}

void MoveBound::reach(int64_t ps, uint32_t kept, uint32_t cut) {
  int64_t& known = (*now_)[index(kept, cut)];
  if (ps >= known) return;
  known = ps;
  queue_.push_back({ps, kept, cut});
  std::push_heap(queue_.begin(), queue_.end(), kLater);
}

template <typename Body>
void MoveBound::settle(Body&& body) {
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), kLater);
    const Entry entry = queue_.back();
    queue_.pop_back();
    if ((*now_)[index(entry.kept, entry.cut)] == entry.ps) body(entry);
  }
}

// All steps out of a state that the source leads to: what is not kept is never kept again.
void MoveBound::step_on(const Entry& entry) {
  const int64_t ps = entry.ps;
  const uint32_t kept = entry.kept, cut = entry.cut;
  const uint32_t whole = all_ & ~(kept | cut), cuts = sharded(kept, cut);
  for (uint32_t left = whole; left != 0; left &= left - 1) reach(ps, kept, cut | (left & -left));
  for_each_subset(cuts, [&](uint32_t dims) {
    if (is_last(dims, kept))
      reach(ps + price(Collective::kAllGather, cuts, dims), kept & ~dims, cut & ~dims);
  });
  for_each_subset(kept & shards_, [&](uint32_t dims) {
    if (is_last(dims, kept))
      reach(ps + least_price(Collective::kAllToAll, cuts, dims, cut), kept & ~dims, cut | dims);
  });
  for_each_subset(kept & partials_, [&](uint32_t dims) {
    reach(ps + least_price(Collective::kAllReduce, cuts, dims, whole), kept & ~dims, cut);
    reach(ps + least_price(Collective::kReduceScatter, cuts, dims, whole), kept & ~dims,
          cut | dims);
  });
}

void MoveBound::gather_back(const Entry& entry) {
  const int64_t ps = entry.ps;
  const uint32_t kept = entry.kept, cut = entry.cut;
  for_each_subset(all_ & ~(kept | cut), [&](uint32_t dims) {
    const uint32_t may_be_kept = dims & shards_;
    for_each_subset_or_none(may_be_kept, [&](uint32_t were_kept) {
      const uint32_t kept_before = kept | were_kept, cut_before = cut | (dims & ~were_kept);
      if (is_last(dims, kept_before)) {
        reach(ps + price(Collective::kAllGather, sharded(kept_before, cut_before), dims),
              kept_before, cut_before);
      }
    });
  });
}

void MoveBound::exchange_back(const Entry& entry) {
  const int64_t ps = entry.ps;
  const uint32_t kept = entry.kept, cut = entry.cut;
  const uint32_t cuts = sharded(kept, cut);
  // Of those that change, what was kept is cut, and what was cut is kept.
  for_each_subset(cuts & shards_, [&](uint32_t dims) {
    const uint32_t kept_before = kept ^ dims, cut_before = cut ^ dims;
    if (is_last(dims, kept_before)) {
      reach(ps + least_price(Collective::kAllToAll, cuts, dims, cut_before & ~dims), kept_before,
            cut_before);
    }
  });
}

// All steps into a state. A state knows no past: what is as in the source may have come back.
void MoveBound::step_back(const Entry& entry) {
  const int64_t ps = entry.ps;
  const uint32_t kept = entry.kept, cut = entry.cut;
  const uint32_t whole = all_ & ~(kept | cut), cuts = sharded(kept, cut);
  for (uint32_t left = cut; left != 0; left &= left - 1) reach(ps, kept, cut & ~(left & -left));
  for (uint32_t left = kept; left != 0; left &= left - 1) reach(ps, kept & ~(left & -left), cut);
  gather_back(entry);
  exchange_back(entry);
  for_each_subset(whole & partials_, [&](uint32_t dims) {
    reach(ps + least_price(Collective::kAllReduce, cuts, dims, whole & ~dims), kept | dims, cut);
  });
  for_each_subset(cut & partials_, [&](uint32_t dims) {
    reach(ps + least_price(Collective::kReduceScatter, cuts & ~dims, dims, whole), kept | dims,
          cut & ~dims);
  });
}

// From here on `kept` says of a layout that it has what the source has, however it came by it.
void MoveBound::allow_change_of_kept() {
  for (int i = 0; i < ndim(); ++i) {
    const uint32_t bit = uint32_t{1} << i;
    for (uint32_t kept = 0; kept <= all_; ++kept) {
      if ((kept & bit) == 0) continue;
      for_each_subset_or_none(all_ & ~kept, [&](uint32_t cut) {
        const uint32_t cut_else = (shards_ & bit) != 0 ? cut | bit : cut;
        int64_t& ps = costs_[index(kept, cut)];
        ps = std::min(ps, costs_[index(kept & ~bit, cut_else)]);
      });
    }
  }
}

void MoveBound::start(const CostModel& model, int64_t bytes, const Layout& from) {
  model_ = &model;
  from_ = &from;
  bytes_ = bytes;
  read_source(from);
  if (bytes_ == 0) {
    costs_.assign(table_size(), 0);
    return;
  }
  costs_.assign(table_size(), kImpossible);
  prices_.assign(kPricedCollectives * table_size(), kUnknown);
  now_ = &costs_;
  reach(0, may_keep(), 0);
  settle([&](const Entry& entry) { step_on(entry); });
  allow_change_of_kept();
}

void MoveBound::find_rest(std::span<const int64_t> ends, std::vector<int64_t>& rest) {
  if (bytes_ == 0) {
    rest.assign(table_size(), 0);
    return;
  }
  rest.assign(table_size(), kImpossible);
  now_ = &rest;
  for_each_state([&](uint32_t kept, uint32_t cut) { reach(ends[index(kept, cut)], kept, cut); });
  settle([&](const Entry& entry) { step_back(entry); });
}

void MoveBound::find_recut(std::span<const int64_t> rest, std::vector<int64_t>& recut) {
  if (bytes_ == 0) {
    recut.assign(table_size(), 0);
    return;
  }
  recut.assign(table_size(), kImpossible);
  now_ = &recut;
  for_each_state([&](uint32_t kept, uint32_t cut) {
    const Entry entry{rest[index(kept, cut)], kept, cut};
    if (entry.ps >= kImpossible) return;
    gather_back(entry);
    exchange_back(entry);
    // To cut in yet another way.
    for_each_subset(cut, [&](uint32_t dims) {
      reach(entry.ps + price(Collective::kAllToAll, sharded(kept, cut), dims), kept, cut);
    });
  });
  settle([&](const Entry& entry) { step_back(entry); });
}

MoveBound::Part MoveBound::part_of(int i, const Placement& placement) const {
  const Placement& before = from_->placements[mesh_dims_[i]];
  if (placement.is_shard()) return placement == before ? Part::kKept : Part::kCut;
  const bool may_stay = placement == before ||
                        (is_linear_partial(placement.partial) && is_linear_partial(before.partial));
  return placement.is_partial() && may_stay ? Part::kKept : Part::kWhole;
}

}  // namespace onedim
