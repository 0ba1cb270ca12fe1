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

// What the path's steps need of a rank at most, in bytes.
int64_t peak_bytes(std::span<const PathStep> path);

}  // namespace onedim
