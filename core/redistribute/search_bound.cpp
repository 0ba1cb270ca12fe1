#include "core/redistribute/search_bound.hpp"

#include <algorithm>

namespace onedim {
namespace {

constexpr int kMostDims = 8;

// What a mesh dim is in the simple problem. kShard: as in the target, or where it has no shard. The
// third value means another thing by what the target is there.
constexpr uint32_t kReplicate = 0;
constexpr uint32_t kShard = 1;
constexpr uint32_t kMisplaced = 2;  // the target is a shard: a shard that cuts otherwise
constexpr uint32_t kWanted = 2;     // the target is a partial: that one
constexpr uint32_t kPartial = 3;    // a partial that must go

// The lower bit of each of `dims`, two bits a mesh dim.
constexpr std::array<uint32_t, 1 << kMostDims> kSpread = [] {
  std::array<uint32_t, 1 << kMostDims> spread{};
  for (uint32_t dims = 0; dims < spread.size(); ++dims) {
    for (uint32_t i = 0; i < kMostDims; ++i) spread[dims] |= (dims >> i & 1) << (2 * i);
  }
  return spread;
}();

uint32_t spread(uint32_t dims, uint32_t value) { return kSpread[dims] * value; }

constexpr auto kLater = [](const auto& a, const auto& b) { return a.ps > b.ps; };

}  // namespace

SearchBound::Simple SearchBound::simplify(StateCode code) const {
  Simple simple = 0;
  const uint32_t kept = alphabet_->common_cuts(code, target_);
  for (int i = 0; i < ndim_; ++i) {
    const int symbol = Alphabet::symbol_of(code, i), wanted = Alphabet::symbol_of(target_, i);
    uint32_t value = kReplicate;
    if (alphabet_->is_shard(symbol)) {
      value = (kept >> i & 1) != 0 || !alphabet_->is_shard(wanted) ? kShard : kMisplaced;
    } else if (alphabet_->is_partial(symbol)) {
      value = alphabet_->is_partial_like(symbol, wanted) ? kWanted : kPartial;
    }
    simple |= value << (2 * i);
  }
  return simple;
}

SearchBound::Simple SearchBound::in_place(Simple state) const {
  const uint32_t misplaced = dims_with(state, kMisplaced) & shard_dims_;
  return (state & ~spread(misplaced, 3)) | spread(misplaced, kShard);
}

uint32_t SearchBound::dims_with(Simple state, uint32_t value) const {
  uint32_t dims = 0;
  for (int i = 0; i < ndim_; ++i) {
    if ((state >> (2 * i) & 3) == value) dims |= uint32_t{1} << i;
  }
  return dims;
}

void SearchBound::read_alphabet() {
  shard_dims_ = partial_dims_ = may_cut_ = may_reduce_ = 0;
  for (int i = 0; i < ndim_; ++i) {
    const uint32_t bit = uint32_t{1} << i;
    const int wanted = Alphabet::symbol_of(target_, i);
    if (alphabet_->is_shard(wanted)) shard_dims_ |= bit;
    if (alphabet_->is_partial(wanted)) partial_dims_ |= bit;
    for (int s = 0; s < alphabet_->symbol_count(); ++s) {
      if (!alphabet_->allows(i, s)) continue;
      if (alphabet_->is_shard(s)) may_cut_ |= bit;
      if (alphabet_->is_partial(s) && !alphabet_->is_partial_like(s, wanted)) may_reduce_ |= bit;
    }
  }
}

void SearchBound::price_steps(int64_t bytes, bool may_rename, StepPricer& pricer) {
  has_kinds_ = alphabet_->is_partial(0);
  bool has_own_kinds = false;
  for (int s = 0; alphabet_->is_partial(s); ++s)
    has_own_kinds |= !is_builtin_partial(alphabet_->symbol(s).partial);
  prices_.resize(size_t{1} << (2 * ndim_));
  for_each_subset_or_none(may_cut_, [&](uint32_t shards) {
    const int64_t part = std::max<int64_t>(1, bytes / pricer.group_size(shards));
    for (uint32_t dims = shards; dims != 0; dims = (dims - 1) & shards) {
      const int64_t whole = std::max<int64_t>(1, bytes / pricer.group_size(shards & ~dims));
      Prices& prices = this->prices(shards, dims);
      prices.gather = pricer.collective_ps(Collective::kAllGather, dims, whole);
      prices.exchange = may_rename ? 0 : pricer.collective_ps(Collective::kAllToAll, dims, part);
    }
    if (!has_kinds_) return;
    const uint32_t others = (may_reduce_ | partial_dims_) & ~shards;
    for (uint32_t dims = others; dims != 0; dims = (dims - 1) & others) {
      Prices& prices = this->prices(shards, dims);
      prices.reduce = pricer.collective_ps(Collective::kAllReduce, dims, part);
      prices.scatter = pricer.collective_ps(Collective::kReduceScatter, dims, part);
      if (!has_own_kinds) continue;
      prices.reduce =
          std::min(prices.reduce, pricer.collective_ps(Collective::kAllGather, dims, part));
      prices.scatter =
          std::min(prices.scatter, pricer.collective_ps(Collective::kAllToAll, dims, part));
    }
  });
}

void SearchBound::reach(Simple state, int64_t ps) {
  if (ps >= costs_[state]) return;
  costs_[state] = ps;
  queue_.push_back({ps, state});
  std::push_heap(queue_.begin(), queue_.end(), kLater);
}

// Calls `body(entries)` for all that shards of `dims` may have been: as the target has them, or
// misplaced where it has some.
template <typename Body>
void SearchBound::for_each_shard(uint32_t dims, Body&& body) const {
  for_each_subset_or_none(dims & shard_dims_, [&](uint32_t misplaced) {
    body(spread(dims & ~misplaced, kShard) | spread(misplaced, kMisplaced));
  });
}

// The same of partials: a kind that must go, or, where the target is a partial, what it wants.
template <typename Body>
void SearchBound::for_each_partial(uint32_t dims, Body&& body) const {
  const uint32_t only_wanted = dims & ~may_reduce_;
  for_each_subset_or_none(dims & partial_dims_ & may_reduce_, [&](uint32_t also) {
    const uint32_t wanted = only_wanted | also;
    body(spread(dims & ~wanted, kPartial) | spread(wanted, kWanted));
  });
}

// Local steps are free, so one of several mesh dims is as good as several of one.
void SearchBound::local_back(const Entry& entry, uint32_t cuts, uint32_t partials) {
  for (uint32_t left = cuts | partials; left != 0; left &= left - 1)
    reach(entry.state & ~spread(left & -left, 3), entry.ps);
  if (!allow_shard_to_partial_) return;
  for (uint32_t left = partials & may_cut_; left != 0; left &= left - 1) {
    const uint32_t dim = left & -left;
    for_each_shard(dim,
                   [&](Simple shard) { reach((entry.state & ~spread(dim, 3)) | shard, entry.ps); });
  }
}

// All steps into a state.
void SearchBound::step_back(const Entry& entry) {
  const Simple state = entry.state;
  const uint32_t whole = dims_with(state, kReplicate), cuts = dims_with(state, kShard);
  const uint32_t shards = cuts | (dims_with(state, kMisplaced) & shard_dims_);
  const uint32_t may_be_partial = may_reduce_ | partial_dims_;
  local_back(entry, cuts, dims_with(state, kPartial) | (dims_with(state, kWanted) & partial_dims_));
  for_each_subset(whole & may_cut_, [&](uint32_t dims) {
    const int64_t gathered = entry.ps + prices(shards | dims, dims).gather;
    for_each_shard(dims, [&](Simple before) { reach(state | before, gathered); });
  });
  for_each_subset(whole & may_be_partial, [&](uint32_t dims) {
    const int64_t reduced = entry.ps + prices(shards, dims).reduce;
    for_each_partial(dims, [&](Simple before) { reach(state | before, reduced); });
  });
  for_each_subset(cuts, [&](uint32_t dims) {
    const Simple others = state & ~spread(dims, 3);
    const int64_t exchanged = entry.ps + prices(shards, dims).exchange;
    for_each_shard(dims, [&](Simple before) { reach(others | before, exchanged); });
  });
  for_each_subset(cuts & may_be_partial, [&](uint32_t dims) {
    const Simple others = state & ~spread(dims, 3);
    const int64_t scattered = entry.ps + prices(shards & ~dims, dims).scatter;
    for_each_partial(dims, [&](Simple before) { reach(others | before, scattered); });
  });
}

void SearchBound::start(const StateGraph& graph, std::span<const GroupMember> group,
                        StateCode target, bool may_rename, bool allow_shard_to_partial,
                        StepPricer& pricer) {
  alphabet_ = &graph.alphabet();
  target_ = target;
  ndim_ = alphabet_->mesh_ndim();
  allow_shard_to_partial_ = allow_shard_to_partial;
  costs_.clear();
  int64_t bytes = 0;
  for (const GroupMember& member : group) bytes += volume(member.shape) * member.element_size;
  if (bytes == 0 || ndim_ == 0 || ndim_ > kMostDims) return;
  read_alphabet();
  price_steps(bytes, may_rename, pricer);
  costs_.assign(size_t{1} << (2 * ndim_), kImpossible);
  queue_.clear();
  reach(simplify(target), 0);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), kLater);
    const Entry entry = queue_.back();
    queue_.pop_back();
    if (costs_[entry.state] == entry.ps) step_back(entry);
  }
}

}  // namespace onedim
