#pragma once
// Equal layouts: the layouts that a strategy can say of a tensor that must stay as it is: its own,
// and those under which every rank owns the same, such as `S(0),SS(0,4)` and
// `S(0)[tp,dp],SS(0,8)` of f32[32] on dp=2,tp=4. To go from one to another is no move.

#include <span>
#include <vector>

#include "core/layout/layout.hpp"

namespace onedim {

// Whether one mesh dim of an equal layout may have `placement` where the layout has `given`.
bool may_stand_for(const Placement& placement, const Placement& given,
                   std::span<const int64_t> shape);

// The layout that places each mesh dim so, where shards of one tensor dim cut in `order`, which has
// all mesh dims.
Layout layout_in_order(std::vector<Placement> placements, const Dims& order);

// Those with `placements` alone whose cuts stand in `order`; `layout` is without unit dims
// (without_unit_dims).
std::vector<Layout> equal_layouts(std::span<const int64_t> shape, const Layout& layout,
                                  std::span<const Placement> placements, const Dims& order,
                                  const Mesh& mesh);

}  // namespace onedim
