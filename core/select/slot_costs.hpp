#pragma once
// SlotCosts: what it costs to bring one input from its current layout to each layout that a
// strategy may ask of it, under one cutting order; and the least of these for every choice on the
// first mesh dims, which is the bound of the search. A code is a mixed number: the placement on the
// first mesh dim in cutting order is the most significant digit, all digits of one radix. Layouts
// that were not set cost more than all that were.

#include <absl/container/flat_hash_map.h>

#include <compare>
#include <vector>

#include "core/redistribute/plan_search.hpp"

namespace onedim {

// Compared in this order: time, then the ties of selection.
struct MoveTotal {
  int64_t ps = 0;
  int64_t collectives = 0;
  int64_t bytes = 0;
  int64_t moved = 0;  // inputs that do not stay as they are
  int64_t steps = 0;  // of their plans

  static MoveTotal impossible() { return {kImpossible, 0, 0, 0, 0}; }
  bool is_possible() const { return ps < kImpossible; }
  MoveTotal& operator+=(const MoveTotal& other);
  void add_ps(int64_t more);
  auto operator<=>(const MoveTotal&) const = default;
};

class SlotCosts {
 public:
  // Keeps its memory from one call to the next.
  void reset(int radix, int digits);
  int radix() const { return radix_; }
  void set(uint64_t code, const MoveTotal& cost);
  // The least cost set of all codes that begin with `prefix` of `level` digits; impossible if none
  // was set.
  const MoveTotal& least(int level, uint64_t prefix) const;

 private:
  static constexpr uint64_t kDenseLimit = 1 << 16;  // codes of one level

  struct Level {
    bool is_dense = true;
    std::vector<MoveTotal> dense;
    std::vector<uint32_t> touched;
    absl::flat_hash_map<uint64_t, MoveTotal> sparse;
  };

  int radix_ = 1;
  int digits_ = 0;
  std::vector<Level> levels_;  // by number of digits
};

}  // namespace onedim
