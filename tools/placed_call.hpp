#pragma once
// Placed call: a call whose tensors say where they lie: `f32[64,32]@S(0),R; f32[32,16]`. A tensor
// without a layout is replicated.

#include "core/layout/layout.hpp"
#include "core/pack/call.hpp"

namespace onedim {

struct PlacedCall {
  Call call;
  std::vector<Domain> domains;  // one per input slot
  std::vector<Layout> layouts;  // one per input slot; of absent slots without placements
};

// `inputs` and `attributes` as parse_call reads them, but for the layouts.
Result<PlacedCall> parse_placed_call(const Schema& schema, std::string_view inputs,
                                     std::span<const std::string> attributes, const Mesh& mesh);

}  // namespace onedim
