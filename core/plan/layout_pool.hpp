#pragma once
// LayoutPool: the layouts that a planner meets, each once, by number. Layouts are those without
// unit dims (without_unit_dims), so of one tensor equal numbers mean equal placement by name.
// Numbers are given in the order in which layouts are met. Not thread-safe.

#include "core/base/memo.hpp"
#include "core/layout/layout.hpp"

namespace onedim {

using LayoutId = int;
inline constexpr LayoutId kNoLayout = -1;  // of an absent tensor

class LayoutPool {
 public:
  LayoutId intern(const Layout& layout);
  const Layout& layout(LayoutId id) const { return layouts_[id]; }
  int size() const { return static_cast<int>(layouts_.size()); }

 private:
  std::vector<Layout> layouts_;
  absl::flat_hash_map<MemoKey, LayoutId> ids_;
};

}  // namespace onedim
