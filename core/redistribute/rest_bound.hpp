#pragma once
// RestBound: what is still to be paid at least from each state of a search, where many layouts are
// asked for and each has a price of its own beyond the moves, as when other inputs must move to fit
// it. It reads a state as the easier problem of MoveBound has it.

#include <array>

#include "core/redistribute/alphabet.hpp"
#include "core/redistribute/move_bound.hpp"

namespace onedim {

class RestBound {
 public:
  // `ends`: the least that is to be paid once a layout is reached, by its parts (MoveBound). All is
  // borrowed; `source` is the layout that `moves` starts from. Unless it `relabels`, no asked
  // layout has a P(avg|max|min), of a kind in the source, that was an R: such a state is of use
  // only to be reduced with a partial that the source has, and impossible where none is left.
  // `orders` are those in which asked layouts cut, each of all mesh dims of more than one rank: a
  // state that is cut in none of them has a cut to give up.
  void start(MoveBound& moves, std::span<const int64_t> ends, const Alphabet& alphabet,
             StateCode source, bool relabels, std::span<const Dims> orders);

  int64_t floor_ps(StateCode code) const;

 private:
  bool is_in_order(StateCode code) const;

  const MoveBound* moves_ = nullptr;
  const Alphabet* alphabet_ = nullptr;
  StateCode source_ = 0;
  uint32_t idempotent_ = 0;  // symbols, as bits, that are not to be made of R
  std::vector<int64_t> rest_ps_;
  std::vector<int64_t> recut_ps_;
  std::vector<std::array<int8_t, 8>> orders_;  // mesh dims as in codes
};

}  // namespace onedim
