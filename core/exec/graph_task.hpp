#pragma once
// GraphTask: a graph under a solution, made ready to run, as all ranks know it: from which copy
// each input is taken, what runs when, and until when everything is held. Invariants: every input
// finds its value under the layout that the node's strategy wants; a copy starts from what is there
// and is not outdated by a node that writes; stages are the same on all ranks. Immutable.
//
// Order: nodes as the graph has them; a move runs directly before the first node that uses its
// copy, or at the end where only the graph gives it out; partials of packs are settled directly
// behind their node.

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/pack/joint_group.hpp"

namespace onedim {

inline constexpr int kItself = -1;  // the value, not a copy of it

struct GraphStage {
  enum class Kind { kMove, kCall, kSettle };
  Kind kind = Kind::kCall;
  int node = 0;  // that it runs before or in; the graph's node_count at the end
  int move = kItself;
  size_t step = 0;  // of the move's plan
};

struct GraphTask {
  const ResolvedGraph* resolved = nullptr;  // borrowed, as is the solution
  const Solution* solution = nullptr;
  std::vector<Layout> resting;                  // per value
  std::vector<std::vector<int>> sources;        // per node and input slot: a move or kItself
  std::vector<int> move_sources;                // per move
  std::vector<std::vector<JointGroup>> groups;  // per node
  std::vector<std::vector<uint64_t>> tags;      // per node and mesh dim
  std::vector<bool> writes;                     // per node: whether it writes into an input
  std::vector<GraphStage> stages;
  // The last node that needs the value itself, or the copy; node_count where it is kept to the end.
  std::vector<int> value_ends;
  std::vector<int> move_ends;

  const Graph& graph() const { return *resolved->graph; }
  const Mesh& mesh() const { return solution->mesh; }
  // The move whose copy of the value the graph gives out, or kItself.
  int output_source(ValueId value) const;
  // Where that lies.
  const Layout& output_layout(ValueId value) const;
};

// Both are borrowed. InvalidArgument names node, input and value.
Result<GraphTask> make_graph_task(const ResolvedGraph& resolved, const Solution& solution);

// For messages and traces: `mm_3, input 0`, of the first that uses the copy.
std::string move_cause(const GraphTask& task, int move);

}  // namespace onedim
