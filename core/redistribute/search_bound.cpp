#include "core/redistribute/search_bound.hpp"

#include <algorithm>

namespace onedim {
namespace {

constexpr int kMostDims = 5;

// What a mesh dim is in the simple problem. kShard: as in the target, or where it has no shard. The
// third value means another thing by what the target is there.
constexpr uint32_t kReplicate = 0;
constexpr uint32_t kShard = 1;
constexpr uint32_t kMisplaced = 2;  // the target is a shard: a shard that cuts otherwise
constexpr uint32_t kWanted = 2;     // the target is a partial: that one
constexpr uint32_t kPartial = 3;    // a partial that must go

// Two bits a mesh dim, `value` at those of `dims`.
uint32_t spread(uint32_t dims, uint32_t value) {
  uint32_t result = 0;
  for (int i = 0; dims >> i != 0; ++i) result |= (dims >> i & 1) * (value << (2 * i));
  return result;
}

bool is_wanted_partial(const Alphabet& alphabet, int symbol, int wanted) {
  if (symbol == wanted) return true;
  return alphabet.is_partial(wanted) && is_linear_partial(alphabet.symbol(symbol).partial) &&
         is_linear_partial(alphabet.symbol(wanted).partial);
}

}  // namespace

SearchBound::Simple SearchBound::simplify(StateCode code) const {
  Simple simple = 0;
  std::array<uint8_t, 32> kept;  // per tensor dim, how many cuts are the target's
  kept.fill(8);
  for (int i = 0; i < ndim_; ++i) {
    const int symbol = Alphabet::symbol_of(code, i);
    if (!alphabet_->is_shard(symbol) || Alphabet::byte_of(code, i) == Alphabet::byte_of(target_, i))
      continue;
    uint8_t& first = kept[alphabet_->tensor_dim(symbol)];
    first = std::min(first, static_cast<uint8_t>(Alphabet::place_of(code, i)));
  }
  for (int i = 0; i < ndim_; ++i) {
    const int symbol = Alphabet::symbol_of(code, i), wanted = Alphabet::symbol_of(target_, i);
    uint32_t value = kReplicate;
    if (alphabet_->is_shard(symbol)) {
      const bool is_kept = Alphabet::place_of(code, i) < kept[alphabet_->tensor_dim(symbol)];
      value = is_kept || !alphabet_->is_shard(wanted) ? kShard : kMisplaced;
    } else if (alphabet_->is_partial(symbol)) {
      value = is_wanted_partial(*alphabet_, symbol, wanted) ? kWanted : kPartial;
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

void SearchBound::price_steps(int64_t bytes, bool may_rename, StepPricer& pricer) {
  bool has_kinds = false, has_own_kinds = false;
  for (int s = 0; alphabet_->is_partial(s); ++s) {
    has_kinds = true;
    has_own_kinds |= !is_builtin_partial(alphabet_->symbol(s).partial);
  }
  const uint32_t all = (uint32_t{1} << ndim_) - 1;
  prices_.resize(size_t{1} << (5 + ndim_));
  for (uint32_t shards = 0; shards <= all; ++shards) {
    const int64_t part = std::max<int64_t>(1, bytes / pricer.group_size(shards));
    for (uint32_t dims = shards; dims != 0; dims = (dims - 1) & shards) {
      const int64_t whole = std::max<int64_t>(1, bytes / pricer.group_size(shards & ~dims));
      Prices& prices = prices_[shards << 5 | dims];
      prices.gather = pricer.collective_ps(Collective::kAllGather, dims, whole);
      prices.exchange = may_rename ? 0 : pricer.collective_ps(Collective::kAllToAll, dims, part);
    }
    if (!has_kinds) continue;
    const uint32_t others = all & ~shards;
    for (uint32_t dims = others; dims != 0; dims = (dims - 1) & others) {
      Prices& prices = prices_[shards << 5 | dims];
      prices.reduce = pricer.collective_ps(Collective::kAllReduce, dims, part);
      prices.scatter = pricer.collective_ps(Collective::kReduceScatter, dims, part);
      if (!has_own_kinds) continue;
      prices.reduce =
          std::min(prices.reduce, pricer.collective_ps(Collective::kAllGather, dims, part));
      prices.scatter =
          std::min(prices.scatter, pricer.collective_ps(Collective::kAllToAll, dims, part));
    }
  }
}

// By one step and what is known of the states behind it.
int64_t SearchBound::least_from(Simple state) const {
  int64_t least = costs_[state];
  const uint32_t misplaced = dims_with(state, kMisplaced) & shard_dims_;
  const uint32_t shards = dims_with(state, kShard) | misplaced;
  // One that the target wants may go, too, and come back by a local step.
  const uint32_t partials =
      dims_with(state, kPartial) | (dims_with(state, kWanted) & partial_dims_);
  const uint32_t replicated = dims_with(state, kReplicate);
  for (uint32_t dims = replicated; dims != 0; dims = (dims - 1) & replicated) {
    least = std::min(least, costs_[state | spread(dims, kShard)]);
    const uint32_t wanted = dims & partial_dims_;
    const Simple partial = state | spread(dims, kPartial);
    least = std::min({least, costs_[state | spread(wanted, kWanted)], costs_[partial],
                      costs_[(partial & ~spread(wanted, 3)) | spread(wanted, kWanted)]});
  }
  for (uint32_t dims = shards; dims != 0; dims = (dims - 1) & shards) {
    const Prices& price = prices(shards, dims);
    const Simple without = state & ~spread(dims, 3);
    least = std::min(least, price.gather + costs_[without]);
    least = std::min(least, price.exchange + costs_[without | spread(dims, kShard)]);
    if (!allow_shard_to_partial_) continue;
    const Simple partial = without | spread(dims, kPartial);
    const uint32_t wanted = dims & partial_dims_;
    least = std::min(
        {least, costs_[partial], costs_[(partial & ~spread(wanted, 3)) | spread(wanted, kWanted)]});
  }
  for (uint32_t dims = partials; dims != 0; dims = (dims - 1) & partials) {
    const Prices& price = prices(shards, dims);
    const Simple without = state & ~spread(dims, 3);
    least = std::min(least, price.reduce + costs_[without]);
    least = std::min(least, price.scatter + costs_[without | spread(dims, kShard)]);
  }
  return least;
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
  shard_dims_ = partial_dims_ = 0;
  for (int i = 0; i < ndim_; ++i) {
    const int symbol = Alphabet::symbol_of(target, i);
    if (alphabet_->is_shard(symbol)) shard_dims_ |= uint32_t{1} << i;
    if (alphabet_->is_partial(symbol)) partial_dims_ |= uint32_t{1} << i;
  }
  price_steps(bytes, may_rename, pricer);
  costs_.assign(size_t{1} << (2 * ndim_), kImpossible);
  costs_[simplify(target)] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (Simple state = 0; state < costs_.size(); ++state) {
      const int64_t least = least_from(state);
      changed |= least < costs_[state];
      costs_[state] = least;
    }
  }
}

}  // namespace onedim
