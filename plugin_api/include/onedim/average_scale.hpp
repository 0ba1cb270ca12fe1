#pragma once
// What a mean over cut dims owes a P(avg) output, for position-aware reductions: the merge divides
// by the mesh dim's size, so ranks that hold different elements scale up by it; ranks that hold the
// same elements, or partial values of them, do not.
//   mean of f64[4] as S(0) over 2 ranks: each rank's sum / 4, times 2 under P(avg), times 1 else

#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>
#include <vector>

namespace onedim::api {

// `reduced` says which dims of input 0 are averaged over; the output is the first.
ONEDIM_INLINE double average_scale(const Call& call, const std::vector<bool>& reduced) {
  const onedim_location_t* at = call.location();
  double scale = 1;
  for (int i = 0; at != nullptr && i < at->mesh_ndim; ++i) {
    const Placement& out = at->outputs[0].placements[i];
    const Placement& in = at->inputs[0].placements[i];
    const bool averages = out.kind == ONEDIM_PLACEMENT_PARTIAL && view_of(out.partial) == "avg";
    const bool shards =
        in.kind == ONEDIM_PLACEMENT_SHARD || in.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
    if (averages && shards && reduced[static_cast<size_t>(in.dim)])
      scale *= static_cast<double>(at->mesh_shape[i]);
  }
  return scale;
}

}  // namespace onedim::api
