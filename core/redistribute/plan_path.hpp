#pragma once
// A plan from the path that a PlanSearch found: the states' codes become layouts, picoseconds
// become us.

#include <memory>

#include "core/redistribute/plan.hpp"
#include "core/redistribute/plan_search.hpp"

namespace onedim {

// `from` and `to` as the caller wrote them; the request's group gives the lower bound of bytes.
std::shared_ptr<const Plan> make_plan(std::span<const PathStep> path, const StateGraph& graph,
                                      const SearchRequest& request, const Layout& from,
                                      const Layout& to);

// The plan between two layouts under which every rank owns the same (is_same_placement): one alias,
// by which nothing moves. The group's tensors are row-major.
std::shared_ptr<const Plan> make_alias_plan(std::span<const TensorMeta> group, const Layout& from,
                                            const Layout& to, const Mesh& mesh);

// What each of the path's steps needs of a rank at most, in bytes: its buffers, its target and the
// storage that its source lies in, which is larger than the source where that is a view.
std::vector<int64_t> memory_of_steps(std::span<const PathStep> path);
int64_t peak_bytes(std::span<const PathStep> path);

}  // namespace onedim
