#pragma once
// Placed graph: a small graph of shipped ops, made node by node, placed by hand on a mesh and run
// on simulated ranks.

#include "core/exec/graph_run.hpp"
#include "core/graph/graph_builder.hpp"
#include "core/graph/hand_placement.hpp"

namespace onedim {

struct PlacedGraph {
  Graph graph;
  ResolvedGraph resolved;  // of `graph`, which must not move
  Solution solution;
};

// `lines` as hand_placement.hpp has them. Fails the test where there is no solution.
std::unique_ptr<PlacedGraph> place(GraphBuilder& builder, std::string_view mesh,
                                   std::string_view lines);
struct RunOptions {
  bool has_threads = false;
  bool is_column_major = false;  // local tensors of two dims lie so in memory
};
// Given values are ramps modulo 7, less 3.
Result<GraphRunReport> run(const PlacedGraph& placed, const RunOptions& options = {});

}  // namespace onedim
