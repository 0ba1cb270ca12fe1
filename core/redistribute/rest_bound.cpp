#include "core/redistribute/rest_bound.hpp"

#include <algorithm>

namespace onedim {

void RestBound::start(MoveBound& moves, std::span<const int64_t> ends, const Alphabet& alphabet,
                      StateCode source, bool relabels, std::span<const Dims> orders) {
  moves.find_rest(ends, rest_ps_);
  moves.find_recut(rest_ps_, recut_ps_);
  orders_.assign(orders.size(), {});
  for (size_t k = 0; k < orders.size(); ++k) {
    for (int i = 0; i < alphabet.mesh_ndim(); ++i) {
      const auto place = std::find(orders[k].begin(), orders[k].end(), alphabet.mesh_dim(i));
      orders_[k][static_cast<size_t>(place - orders[k].begin())] = static_cast<int8_t>(i);
    }
  }
  moves_ = &moves;
  alphabet_ = &alphabet;
  source_ = source;
  idempotent_ = 0;
  for (int s = 0; alphabet.is_partial(s); ++s) {
    if (!relabels && is_idempotent_partial(alphabet.symbol(s).partial))
      idempotent_ |= uint32_t{1} << s;
  }
  // A plan to R steps through the source's kinds only, one to P(avg) through that too, and may be
  // cheaper for it.
  uint32_t in_source = 0;
  for (int i = 0; i < alphabet.mesh_ndim(); ++i)
    in_source |= uint32_t{1} << Alphabet::symbol_of(source, i);
  idempotent_ &= in_source;
}

bool RestBound::is_in_order(StateCode code) const {
  const int ndim = alphabet_->mesh_ndim();
  return std::any_of(orders_.begin(), orders_.end(), [&](const std::array<int8_t, 8>& order) {
    std::array<int8_t, 32> cuts{};  // per tensor dim, so far
    for (int k = 0; k < ndim; ++k) {
      const int i = order[static_cast<size_t>(k)];
      const int symbol = Alphabet::symbol_of(code, i);
      if (alphabet_->is_shard(symbol) &&
          Alphabet::place_of(code, i) != cuts[alphabet_->tensor_dim(symbol)]++)
        return false;
    }
    return true;
  });
}

int64_t RestBound::floor_ps(StateCode code) const {
  const int ndim = alphabet_->mesh_ndim();
  const uint32_t kept_cuts = alphabet_->common_cuts(code, source_);
  uint32_t kept = kept_cuts, cut = 0;
  uint32_t kept_symbols = 0, made_symbols = 0;  // of partials
  for (int i = 0; i < ndim; ++i) {
    const uint32_t bit = uint32_t{1} << i;
    const int symbol = Alphabet::symbol_of(code, i);
    if (alphabet_->is_shard(symbol)) {
      cut |= bit & ~kept_cuts;
    } else if (alphabet_->is_partial(symbol)) {
      const bool is_kept = alphabet_->is_partial_like(symbol, Alphabet::symbol_of(source_, i));
      if (is_kept) kept |= bit;
      (is_kept ? kept_symbols : made_symbols) |= uint32_t{1} << symbol;
    }
  }
  // All partials of a state are of one kind, or sum and avg.
  if ((made_symbols & idempotent_) != 0 && kept_symbols == 0) return kImpossible;
  const size_t at = moves_->index(kept, cut);
  return is_in_order(code) ? rest_ps_[at] : recut_ps_[at];
}

}  // namespace onedim
