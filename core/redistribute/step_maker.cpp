#include "core/redistribute/step_maker.hpp"

#include <bit>

#include "core/redistribute/dim_set.hpp"

namespace onedim {
namespace {

constexpr int kMostFreeDims = 3;  // meshes of this many dims fuse any D, larger ones pairs

template <typename Body>
void for_each_dim(uint32_t dims, Body&& body) {
  for (; dims != 0; dims &= dims - 1) body(lowest(dims));
}

}  // namespace

StepMaker::StepMaker(StateGraph& graph, int state, StepFilter* filter)
    : graph_(graph),
      filter_(filter),
      alphabet_(graph.alphabet()),
      code_(graph.code(state)),
      ndim_(graph.alphabet().mesh_ndim()) {
  for (int i = 0; i < ndim_; ++i) {
    const int symbol = Alphabet::symbol_of(code_, i);
    now_[i] = {symbol, Alphabet::place_of(code_, i)};
    const uint32_t bit = uint32_t{1} << i;
    if (alphabet_.is_partial(symbol)) {
      partial_ |= bit;
    } else if (alphabet_.is_shard(symbol)) {
      sharded_ |= bit;
      ++cut_count_[alphabet_.tensor_dim(symbol)];
    } else {
      replicated_ |= bit;
    }
  }
  for_each_dim(sharded_, [&](int i) {
    for_each_dim(sharded_, [&](int j) {
      const bool same_dim =
          alphabet_.tensor_dim(now_[i].symbol) == alphabet_.tensor_dim(now_[j].symbol);
      if (same_dim && now_[j].place > now_[i].place) after_[i] |= uint32_t{1} << j;
    });
  });
}

void StepMaker::run() {
  for_each_subset(replicated_, [&](uint32_t dims) { add_local(dims); });
  for_each_subset(replicated_, [&](uint32_t dims) { add_to_partial(dims); });
  for_each_subset(partial_, [&](uint32_t dims) { add_scales(dims); });
  for_each_subset(sharded_, [&](uint32_t dims) {
    if (is_last(dims)) add_gather(dims);
  });
  for_each_subset(partial_, [&](uint32_t dims) { add_reductions(dims); });
  for_each_subset(sharded_, [&](uint32_t dims) {
    if (is_last(dims)) add_exchanges(dims);
  });
}

bool StepMaker::is_last(uint32_t dims) const {
  uint32_t after = 0;
  for_each_dim(dims, [&](int i) { after |= after_[i]; });
  return (after & ~dims) == 0;
}

template <typename Body>
void StepMaker::place_next(uint32_t left, uint32_t placed, Entries& entries, Body& body) {
  if (left == 0) {
    body(entries);
    return;
  }
  const int i = lowest(left);
  for (int s = alphabet_.replicate() + 1; s < alphabet_.symbol_count(); ++s) {
    if (!alphabet_.allows(i, s)) continue;
    const int dim = alphabet_.tensor_dim(s);
    int beside = 0;  // mesh dims of D placed on the same tensor dim
    for_each_dim(placed, [&](int j) { beside += alphabet_.tensor_dim(entries[j].symbol) == dim; });
    for (int place = 0; place <= beside; ++place) {
      Entries next = entries;
      for_each_dim(placed, [&](int j) {
        if (alphabet_.tensor_dim(next[j].symbol) == dim && next[j].place >= kept_[dim] + place)
          ++next[j].place;
      });
      next[i] = {s, kept_[dim] + place};
      place_next(left & (left - 1), placed | uint32_t{1} << i, next, body);
    }
  }
}

template <typename Body>
void StepMaker::for_each_sharding(uint32_t dims, Body&& body) {
  kept_ = cut_count_;
  for_each_dim(dims & sharded_, [&](int i) { --kept_[alphabet_.tensor_dim(now_[i].symbol)]; });
  Entries entries{};
  if (ndim_ <= kMostFreeDims || std::popcount(dims) <= 2) {
    place_next(dims, 0, entries, body);
    return;
  }
  for (int dim = 0; dim < alphabet_.tensor_ndim(); ++dim) {
    const int symbol = alphabet_.replicate() + 1 + dim;
    int place = kept_[dim];
    bool may = true;
    for_each_dim(dims, [&](int i) {
      entries[i] = {symbol, place++};
      may &= alphabet_.allows(i, symbol);
    });
    if (may) body(entries);
  }
}

StateCode StepMaker::replace(uint32_t dims, const Entries& entries) const {
  StateCode code = code_;
  for_each_dim(dims, [&](int i) {
    code &= ~Alphabet::entry(i, 31, 7);
    code |= Alphabet::entry(i, entries[i].symbol, entries[i].place);
  });
  return code;
}

StateCode StepMaker::replace(uint32_t dims, int symbol) const {
  Entries entries;
  entries.fill({symbol, 0});
  return replace(dims, entries);
}

void StepMaker::add(StepKind kind, uint32_t dims, StateCode to, int pack_dim, int unpack_dim,
                    bool is_split) {
  if (filter_ != nullptr && !filter_->wants(to)) return;
  StateStep step;
  step.to = graph_.intern(to);
  step.kind = kind;
  step.mesh_dims = static_cast<uint8_t>(dims);
  step.pack_dim = static_cast<int8_t>(pack_dim);
  step.unpack_dim = static_cast<int8_t>(unpack_dim);
  step.is_split = is_split;
  if (kind == StepKind::kAllToAll && !is_split && !alphabet_.has_strided()) {
    step.share = StateStep::kPassingShare;
    if (graph_.passing_ < 0) {
      step.share = static_cast<int32_t>(graph_.shares_.size());
      graph_.shares_.emplace_back(0);
    }
  }
  graph_.steps_.push_back(step);
}

int StepMaker::single_dim(uint32_t dims, const Entries& entries, bool is_ascending) const {
  const int dim = alphabet_.tensor_dim(entries[lowest(dims)].symbol);
  bool is_single = true;
  int last_place = -1;
  for_each_dim(dims, [&](int i) {
    const Entry& entry = entries[i];
    is_single &= alphabet_.tensor_dim(entry.symbol) == dim &&
                 alphabet_.split_factor(entry.symbol) == 1 &&
                 (!is_ascending || entry.place > last_place);
    last_place = entry.place;
  });
  return is_single ? dim : -1;
}

void StepMaker::add_local(uint32_t dims) {
  if (!wants(StepKind::kSlice, dims)) return;
  for_each_sharding(dims, [&](const Entries& entries) {
    add(StepKind::kSlice, dims, replace(dims, entries), single_dim(dims, entries, false));
  });
}

bool StepMaker::may_take(int kind_symbol, uint32_t dims) const {
  bool may = true;
  for_each_dim(dims, [&](int i) { may &= alphabet_.allows(i, kind_symbol); });
  for_each_dim(partial_, [&](int i) {
    may &= can_stand_together(alphabet_.symbol(now_[i].symbol), alphabet_.symbol(kind_symbol));
  });
  return may;
}

void StepMaker::add_to_partial(uint32_t dims) {
  for (int kind = 0; alphabet_.is_partial(kind); ++kind) {
    if (!may_take(kind, dims)) continue;
    const bool is_alias = is_idempotent_partial(alphabet_.symbol(kind).partial);
    const StepKind step = is_alias ? StepKind::kAlias : StepKind::kFillPartial;
    if (wants(step, dims)) add(step, dims, replace(dims, kind));
  }
}

void StepMaker::add_scales(uint32_t dims) {
  const std::string_view name = alphabet_.symbol(now_[lowest(dims)].symbol).partial;
  bool is_one_kind = is_linear_partial(name);
  for_each_dim(dims, [&](int i) { is_one_kind &= now_[i].symbol == now_[lowest(dims)].symbol; });
  if (!is_one_kind || !wants(StepKind::kScale, dims)) return;
  for (int kind = 0; alphabet_.is_partial(kind); ++kind) {
    const std::string_view other = alphabet_.symbol(kind).partial;
    bool may = other != name && is_linear_partial(other);
    for_each_dim(dims, [&](int i) { may &= alphabet_.allows(i, kind); });
    if (may) add(StepKind::kScale, dims, replace(dims, kind));
  }
}

void StepMaker::add_gather(uint32_t dims) {
  if (graph_.allow_shard_to_partial_ && wants(StepKind::kShardToPartial, dims)) {
    for (int kind = 0; alphabet_.is_partial(kind); ++kind) {
      const std::string_view name = alphabet_.symbol(kind).partial;
      if ((name == "sum" || name == "product") && may_take(kind, dims))
        add(StepKind::kShardToPartial, dims, replace(dims, kind));
    }
  }
  if (!wants(StepKind::kAllGather, dims)) return;
  add(StepKind::kAllGather, dims, replace(dims, alphabet_.replicate()), -1,
      single_dim(dims, now_, true));
}

void StepMaker::add_reductions(uint32_t dims) {
  if (wants(StepKind::kAllReduce, dims))
    add(StepKind::kAllReduce, dims, replace(dims, alphabet_.replicate()));
  if (!wants(StepKind::kReduceScatter, dims)) return;
  for_each_sharding(dims, [&](const Entries& entries) {
    add(StepKind::kReduceScatter, dims, replace(dims, entries), single_dim(dims, entries, true));
  });
}

bool StepMaker::is_reducible(uint32_t dims, const Entries& entries) const {
  bool is_reducible = false;
  for_each_dim(dims, [&](int i) {
    const bool is_first = now_[i].place == kept_[alphabet_.tensor_dim(now_[i].symbol)];
    is_reducible |=
        is_first && entries[i].symbol == now_[i].symbol && entries[i].place == now_[i].place;
  });
  return is_reducible;
}

void StepMaker::add_exchanges(uint32_t dims) {
  if (!wants(StepKind::kAllToAll, dims)) return;
  const int unpack_dim = single_dim(dims, now_, false);
  uint32_t from_dims = 0;  // tensor dims
  for_each_dim(dims,
               [&](int i) { from_dims |= uint32_t{1} << alphabet_.tensor_dim(now_[i].symbol); });
  for_each_sharding(dims, [&](const Entries& entries) {
    if (is_reducible(dims, entries)) return;
    uint32_t to_dims = 0;
    for_each_dim(dims,
                 [&](int i) { to_dims |= uint32_t{1} << alphabet_.tensor_dim(entries[i].symbol); });
    add(StepKind::kAllToAll, dims, replace(dims, entries), single_dim(dims, entries, false),
        unpack_dim, (from_dims & to_dims) == 0);
  });
}

}  // namespace onedim
