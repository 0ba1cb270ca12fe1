#pragma once
// Graph values: what the given values of a graph are drawn from when it is run to see whether it is
// right: parameters and inputs of both signs and about the size that keeps a model's numbers near
// one, in steps that every float dtype holds; indices within what they index (index_bounds.hpp).

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"

namespace onedim {

struct GraphValues {
  std::vector<Tensor> whole;                // per value; empty where a node makes it
  std::vector<std::vector<Tensor>> locals;  // per value, one a rank, under solution.given
};

// Partials of packs are refused: nothing says what their parts could be. The same values whatever
// the solution, and whatever the float dtypes.
Result<GraphValues> draw_graph_values(const ResolvedGraph& resolved, const Solution& solution,
                                      uint64_t seed);

}  // namespace onedim
