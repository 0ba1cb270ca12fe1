#include "core/select/slot_costs.hpp"

#include <algorithm>

namespace onedim {
namespace {

constexpr MoveTotal kNothingSet{kImpossible, 0, 0, 0, 0};

}  // namespace

// Sums of impossible costs stay in range.
void MoveTotal::add_ps(int64_t more) { ps = std::min(ps + more, kImpossible); }

MoveTotal& MoveTotal::operator+=(const MoveTotal& other) {
  add_ps(other.ps);
  collectives += other.collectives;
  bytes += other.bytes;
  moved += other.moved;
  steps += other.steps;
  return *this;
}

void SlotCosts::reset(int radix, int digits) {
  for (Level& level : levels_) {
    for (const uint32_t code : level.touched) level.dense[code] = kNothingSet;
    level.touched.clear();
    level.sparse.clear();
  }
  radix_ = radix;
  digits_ = digits;
  if (static_cast<int>(levels_.size()) <= digits) levels_.resize(digits + 1);
  uint64_t count = 1;
  for (int i = 0; i <= digits; ++i) {
    Level& level = levels_[i];
    level.is_dense = count <= kDenseLimit;
    if (level.is_dense && level.dense.size() < count) level.dense.resize(count, kNothingSet);
    if (count <= kDenseLimit) count *= radix;
  }
}

void SlotCosts::set(uint64_t code, const MoveTotal& cost) {
  for (int i = digits_; i >= 0; --i) {
    Level& level = levels_[i];
    if (level.is_dense) {
      MoveTotal& least = level.dense[code];
      if (!(cost < least)) return;  // nor is it the least of any shorter prefix
      if (!least.is_possible()) level.touched.push_back(static_cast<uint32_t>(code));
      least = cost;
    } else {
      const auto [entry, is_new] = level.sparse.try_emplace(code, cost);
      if (!is_new) {
        if (!(cost < entry->second)) return;
        entry->second = cost;
      }
    }
    code /= radix_;
  }
}

const MoveTotal& SlotCosts::least(int level, uint64_t prefix) const {
  const Level& at = levels_[level];
  if (at.is_dense) return at.dense[prefix];
  const auto found = at.sparse.find(prefix);
  return found == at.sparse.end() ? kNothingSet : found->second;
}

}  // namespace onedim
