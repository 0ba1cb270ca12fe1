#pragma once
// LeastMemory: the least memory cap under which something can be planned, by bisection. Whatever
// fits under one cap fits under a larger one, and needs what it says.

#include <cstdint>
#include <limits>
#include <optional>

namespace onedim {

// Enough for whatever there is a plan for, but a cap still, under which slices copy.
inline constexpr int64_t kWidestCap = std::numeric_limits<int64_t>::max() - 1;

// In bytes, above `too_little`, under which nothing fits; something needs `enough`. `needs(cap)`
// plans under a cap and returns what that plan needs, at most the cap; nothing if none fits.
template <typename Needs>
int64_t least_memory(int64_t too_little, int64_t enough, Needs&& needs) {
  while (too_little + 1 < enough) {
    const int64_t cap = too_little + (enough - too_little) / 2;
    if (const std::optional<int64_t> needed = needs(cap)) {
      enough = *needed;
    } else {
      too_little = cap;
    }
  }
  return enough;
}

}  // namespace onedim
