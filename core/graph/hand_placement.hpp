#pragma once
// Hand placement: a solution from what someone wrote down about some values and nodes
// (placement_lines.hpp); all others take, node by node in the graph's order, the strategy that
// select finds cheapest for inputs that lie as they then lie. Greedy: no node looks ahead. Given
// values that no line names lie replicated. At the end gradients move to where their parameters
// lie, unless a line places them, and no output stays partial.

#include "core/graph/placement_lines.hpp"
#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/select/selector.hpp"

namespace onedim {

// `selector` decides for its planner's mesh. Errors name the line, or the node that has no
// strategy; a line that names nothing of the graph is one.
Result<Solution> place_graph(const ResolvedGraph& resolved, std::span<const PlacementLine> lines,
                             Selector& selector, const SelectOptions& options);

}  // namespace onedim
