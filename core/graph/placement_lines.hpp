#pragma once
// Placement lines: what someone wrote down about some values and nodes of a graph. Text, a line
// each, of which the last that fits wins:
//
//   GLOB: LAYOUT              values of that name or path lie so: a given one from the start, one
//                             that a node makes once it is made, by a move if need be
//   rules GLOB: RULE; RULE    nodes of that name take these rules, one a mesh dim, left to right
//
// A node, and what it makes, is also named by its module and op, `layers.*.attention.wq/einsum`.
// Empty lines and lines that begin with # are skipped.

#include <map>

#include "core/graph/graph.hpp"
#include "core/layout/layout.hpp"
#include "core/pack/rule.hpp"

namespace onedim {

struct PlacementLine {
  int64_t line = 0;
  bool is_rules = false;
  std::string glob;
  std::string text;
};
// Errors name the line.
Result<std::vector<PlacementLine>> parse_placement_lines(std::string_view text);

// What the lines say of one graph.
struct NamedPlacements {
  std::vector<std::optional<Layout>> values;  // per value
  std::map<int, std::vector<Rule>> rules;     // per node
};
// Errors name the line; one that names nothing of the graph is an error.
Result<NamedPlacements> find_placements(const Graph& graph, const Mesh& mesh,
                                        std::span<const PlacementLine> lines);

}  // namespace onedim
