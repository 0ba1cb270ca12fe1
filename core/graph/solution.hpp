#pragma once
// Solution: where everything of a graph lies on a mesh: one strategy per node, hence a layout for
// each of its inputs and outputs, and the moves in between. A value lies as its node makes it, or
// as it is given; partials of packs are settled (reduced, finished) directly behind their node,
// before anyone uses them. A move makes a copy under another layout, directly before the first that
// uses it, and all its users share it; it starts from the value itself or from another copy of it.
// Plain data: solution_check.hpp says whether it holds for a graph, solution_file.hpp has it as a
// file.

#include <memory>

#include "core/graph/graph.hpp"
#include "core/pack/rule.hpp"
#include "core/redistribute/plan.hpp"

namespace onedim {

struct NodeStrategy {
  std::vector<Rule> rules;     // per mesh dim
  Dims order;                  // mesh dims in cutting order
  std::vector<Layout> inputs;  // per input slot of the node's call; without placements where absent
  std::vector<Layout> outputs;  // per output; without placements where absent
};

struct ValueMove {
  // One; or all outputs of one partial kind of a pack, in its order, which are settled.
  std::vector<ValueId> values;
  Layout from, to;
  std::vector<int> consumers;  // nodes, ascending; none where values are settled
  bool is_output = false;      // the graph gives this copy out
  std::shared_ptr<const Plan> plan;
};

struct Solution {
  Mesh mesh = Mesh::line(1);
  std::vector<Layout> given;  // per value; without placements where a node makes it
  std::vector<NodeStrategy> nodes;
  std::vector<ValueMove> moves;
};

// With R for each partial of a pack.
Layout settled_layout(Layout layout);
bool is_settling(const ValueMove& move);
// Per value: how it lies once it is settled.
std::vector<Layout> resting_layouts(const Graph& graph, const Solution& solution);

// The same on every machine; of the graph's file format.
uint64_t graph_hash(const Graph& graph);

}  // namespace onedim
