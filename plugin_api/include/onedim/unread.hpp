#pragma once
// Unread inputs: ops that take only the shape or dtype of their first input. It may lie anywhere
// and hold partials of any kind, whatever the output's placement is.
//   zeros_like(f32[4,6]): S(0) | R, S(0) | S(1), S(0) | P(sum)

#include <onedim/families.hpp>
#include <onedim/inline.hpp>

namespace onedim::api {

// All placements that a tensor which is not read may have.
ONEDIM_INLINE std::vector<Placement> unread_placements(const TensorView& tensor) {
  std::vector<Placement> placements = {replicate()};
  for (int dim = 0; dim < tensor.ndim(); ++dim) placements.push_back(any_shard(dim));
  for (const KindPair& kind : kIdentity) {
    if (is_legal_partial(kind.in, tensor.dtype())) placements.push_back(partial(kind.in));
  }
  return placements;
}

// Adds `output | first input, others` for each placement of a first input that is not read. `S*`
// links it to the output's dim of the same number and length only.
ONEDIM_INLINE void add_unread(const Call& call, RuleSink& rules, const Placement& output,
                              std::span<const Placement> others = {}) {
  const auto is_cut = [](const Placement& p) { return p.kind == ONEDIM_PLACEMENT_ANY_SHARD; };
  for (Placement first : unread_placements(call.input(0))) {
    Placement out = output;
    if (is_cut(out) && is_cut(first)) {
      const bool linked =
          out.dim == first.dim && call.output().size(out.dim) == call.input(0).size(first.dim);
      if (!linked) out = shard(out.dim), first = shard(first.dim);
    }
    std::vector<Placement> inputs = {first};
    inputs.insert(inputs.end(), others.begin(), others.end());
    rules.add(std::span(&out, 1), inputs);
  }
}

// The same for an output that is whole or sharded in any way.
ONEDIM_INLINE void unread_rules(const Call& call, RuleSink& rules) {
  add_unread(call, rules, replicate());
  for (int dim = 0; dim < call.output().ndim(); ++dim) add_unread(call, rules, any_shard(dim));
}

}  // namespace onedim::api
