#pragma once
// AutoParallel solution: a solution that AutoParallel found for a graph, with the prices that it
// took everything to have, as a file says it:
//   {"model", "note", "mesh": {"shape", "dim_names"}, "summary": {"total", "comm", "compute",
//    "transition"},
//    "nodes": {NAME: {"placement": LAYOUTS, "compute_us",
//                     "inputs": [{"from": NAME, "src": LAYOUT, "dst": LAYOUT, "comm_us"}]}}}
// A node is one of the graph or a value that is given, which has no inputs; inputs stand in the
// order of the op's tensor arguments, absent ones left out. A layout is a placement per mesh dim,
// one behind the other, `S(0)P(sum)`; of a node with several outputs `(S(0)R, S(0)R)`. AutoParallel
// has nodes of its own for each of several outputs, `getitem_3`: as sources they stand for the
// output that takes their place in our graph. model, note, summary and all prices may be left out.
// There is no order of cuts, and no move is shared.

#include "core/graph/resolved_graph.hpp"

namespace onedim {

struct AutoParallelEdge {
  Layout from, to;           // of the value in an input slot; without placements where absent
  std::optional<double> us;  // its price
};

struct AutoParallelNode {
  std::vector<AutoParallelEdge> inputs;  // per input slot of the node's call
  std::vector<Layout> outputs;           // per output; without placements where absent
  std::optional<double> compute_us;

  std::vector<Layout> input_layouts() const;
};

struct AutoParallelSolution {
  Mesh mesh = Mesh::line(1);
  std::vector<Layout> given;            // per value; without placements where a node makes it
  std::vector<AutoParallelNode> nodes;  // as in the graph
  std::optional<double> communication_us, compute_us;
};

// A file, plain or gzip. Every node of the graph and every given value stands in it once, every
// layout can place its tensor, every edge begins as its source lies; an unknown key is an error,
// with the nearest one that is known. Errors name the place.
Result<AutoParallelSolution> read_autoparallel_solution(const std::string& path,
                                                        const ResolvedGraph& resolved);
// `name` stands for the text in errors.
Result<AutoParallelSolution> parse_autoparallel_solution(const std::string& text,
                                                         const std::string& name,
                                                         const ResolvedGraph& resolved);

}  // namespace onedim
