#pragma once
// Source draw: what the check of a plan starts from: a value, and the locals that stand for it
// under the plan's source. Partials are independent parts that come to the value, drawn so that
// every step of any plan is exact.

#include "core/redistribute/plan.hpp"
#include "core/redistribute/plan_run.hpp"

namespace onedim {

struct DrawnSource {
  GroupLocals locals;
  std::vector<Tensor> globals;  // one a tensor of the group
};

// `kind` is that of the pack which the plan's ends name, or null. Where a dtype is too narrow for
// exact sums, f64 stands in; states of a pack's kind keep theirs. InvalidArgument: the kind does
// not take these states.
Result<DrawnSource> draw_source(const Plan& plan, std::span<const TensorMeta> group,
                                const Mesh& mesh, const PartialKind* kind, uint64_t seed);

// The mesh dims over which the layout has partials, how many parts they make, and which of them a
// rank holds.
std::vector<int> partial_dims(const Layout& layout);
int64_t size_over(const std::vector<int>& mesh_dims, const Mesh& mesh);
int64_t part_at(const std::vector<int>& mesh_dims, const Dims& coordinate, const Mesh& mesh);

}  // namespace onedim
