#pragma once
// Solution file: a solution in the format `onedim.plan/1`:
//   {"format", "graph_hash": "16 hex digits", "mesh": "dp=2,tp=4", "cluster", "cost_model",
//    "given": {VALUE: LAYOUT},
//    "nodes": {NAME: {"rules": [RULE a mesh dim], "order": [MESH DIM], "inputs": [LAYOUT or null],
//                     "outputs": [LAYOUT or null]}},
//    "moves": [{"value", "values": [..], "from", "to", "consumers": [NODE], "output": bool,
//               "steps": [..], "cost_us", "bytes", ..}]}
// order stands only where mesh dims do not cut left to right, values where several are settled as
// one. steps are those of `redistribute --json`. Layouts carry their order of cuts. An unknown key
// is an error, with the nearest one that is known; every error names the place.

#include <string>

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"

namespace onedim {

// What a file says beside the solution: by whose prices it was made.
struct SolutionPrices {
  std::string cluster;
  std::string cost_model;
};

std::string format_solution(const Graph& graph, const Solution& solution,
                            const SolutionPrices& prices);

struct ReadSolution {
  Solution solution;
  SolutionPrices prices;
};
// A file, plain or gzip. Every node's rules are the op's, its layouts those that follow from them;
// whether moves lead where they should is for the executor to say. `resolved` must be of the graph
// that the file was made for.
Result<ReadSolution> read_solution(const std::string& path, const ResolvedGraph& resolved);
// `name` stands for the text in errors.
Result<ReadSolution> parse_solution(const std::string& text, const std::string& name,
                                    const ResolvedGraph& resolved);

}  // namespace onedim
