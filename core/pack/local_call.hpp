#pragma once
// LocalCall: the call that one rank makes under a strategy: local input metas from each input's
// layout, size attributes rewritten to the local sizes of the outputs, the location filled in.
// Where the op's infer on the local call disagrees with the local shape of the outputs' layouts,
// the strategy is not valid for this rank.

#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

struct LocalCall {
  Call call;
  std::vector<OptionalOutput> outputs;  // as inferred from the local call
  Location location;
  bool matches_layouts = false;  // inferred output shapes equal those of the layouts
};

// One layout per slot; those of absent slots are ignored. `outputs` are the global call's. `tags`
// has one entry per mesh dim. Fails where the local call itself is refused (infer or accept_local).
Result<LocalCall> make_local_call(const Op& op, const Call& call,
                                  std::span<const OptionalOutput> outputs,
                                  std::span<const Layout> input_layouts,
                                  std::span<const Layout> output_layouts, const Mesh& mesh,
                                  const Dims& coordinate, std::span<const uint64_t> tags);

}  // namespace onedim
