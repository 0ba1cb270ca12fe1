#pragma once
// Placed call: a call whose tensors say where they lie: `f32[64,32]@S(0),R; f32[32,16]`, with
// ` outermost(1)` behind a layout where dim 1 is outermost in memory. A tensor without a layout is
// replicated.

#include "core/layout/layout.hpp"
#include "core/pack/call.hpp"

namespace onedim {

struct PlacedCall {
  Call call;
  std::vector<Domain> domains;  // one per input slot
  std::vector<Layout> layouts;  // one per input slot; of absent slots without placements
  // One per input slot: the dim that is outermost in memory (memory_order.hpp).
  std::vector<int> outermosts;
};

// `inputs` and `attributes` as parse_call reads them, but for the layouts.
Result<PlacedCall> parse_placed_call(const Schema& schema, std::string_view inputs,
                                     std::span<const std::string> attributes, const Mesh& mesh);

}  // namespace onedim
