#pragma once
// Graph rewrite: the same nodes with other sizes or dtypes. What is given and what attributes say
// is changed by the caller; every value that a node makes is then what its op makes of the changed
// inputs, so the new graph agrees with the packs and has the structure of the old one.

#include <functional>

#include "core/graph/graph.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct GraphChange {
  // The new description of a given value.
  std::function<Result<TensorMeta>(const GraphValue&)> given;
  // Changes a node's attributes, inputs being made already: `before` and `behind` hold the values
  // of the old and the new graph.
  std::function<Status(GraphNode&, const std::vector<GraphValue>& before,
                       const std::vector<GraphValue>& behind)>
      attributes;
};

// Fails where an op takes the changed inputs no more, naming the node.
Result<Graph> rewrite_graph(const Graph& graph, const Registry& registry,
                            const GraphChange& change);

// All floats as f64 and all complex numbers as c128, in values and in attributes that are dtypes.
Result<Graph> widen_graph(const Graph& graph, const Registry& registry);

}  // namespace onedim
