#pragma once
// Hand placement: a solution from what someone wrote down about some values and nodes; all others
// take, node by node in the graph's order, the strategy that select finds cheapest for inputs that
// lie as they then lie. Greedy: no node looks ahead. Text, a line each, of which the last that fits
// wins:
//
//   GLOB: LAYOUT              values of that name or path lie so: a given one from the start, one
//                             that a node makes once it is made, by a move if need be
//   rules GLOB: RULE; RULE    nodes of that name take these rules, one a mesh dim, left to right
//
// A node, and what it makes, is also named by its module and op, `layers.*.attention.wq/einsum`.
// Empty lines and lines that begin with # are skipped. Given values that no line names lie
// replicated. At the end gradients move to where their parameters lie, unless a line places them,
// and no output stays partial.

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/select/selector.hpp"

namespace onedim {

struct PlacementLine {
  int64_t line = 0;
  bool is_rules = false;
  std::string glob;
  std::string text;
};
// Errors name the line.
Result<std::vector<PlacementLine>> parse_placement_lines(std::string_view text);

// `selector` decides for its planner's mesh. Errors name the line, or the node that has no
// strategy; a line that names nothing of the graph is one.
Result<Solution> place_graph(const ResolvedGraph& resolved, std::span<const PlacementLine> lines,
                             Selector& selector, const SelectOptions& options);

}  // namespace onedim
