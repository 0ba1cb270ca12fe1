#pragma once
// Location: where a local call stands, as kernels see it: the mesh, this rank's coordinate, and for
// every slot its global shape, index map and placements. A kernel can shift indices, mask foreign
// rows, place a causal mask, divide by the global count. Null locations mean a call on whole
// tensors.

#include <vector>

#include "core/layout/index_map.hpp"

namespace onedim {

struct SlotLocation {
  Dims global_shape;
  IndexMap map;
  std::vector<Placement> placements;  // one per mesh dim
};

struct Location {
  Dims mesh_shape;
  Dims coordinate;
  std::vector<SlotLocation> inputs;  // absent slots have no dims and placements `-`
  std::vector<SlotLocation> outputs;
  std::vector<uint64_t> tags;  // of the rule chosen on each mesh dim
};

}  // namespace onedim
