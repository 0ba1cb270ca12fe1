#pragma once
// Brute force plan: the least that a small graph can cost on a mesh, by trying every choice: each
// rule of the closed set on each mesh dim, each order of cuts, each layout of what is given, each
// shared copy. It knows nothing of the planner's tables, prunings and bounds; prices are those of
// single plans and local calls.

#include "core/graph/placement_lines.hpp"
#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/redistribute/planner.hpp"
#include "core/select/compute_time.hpp"

namespace onedim {

// In ps; nothing if no choice is valid.
std::optional<int64_t> least_plan_ps(const ResolvedGraph& resolved, const NamedPlacements& named,
                                     Planner& planner, const Roofline& roofline);

// What a solution costs: its local calls, of the rank that takes longest, and its moves.
int64_t solution_ps(const ResolvedGraph& resolved, const Solution& solution,
                    const Roofline& roofline);

}  // namespace onedim
