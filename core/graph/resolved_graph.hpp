#pragma once
// Resolved graph: every node of a graph with the op that a pack offers for it, its call on whole
// tensors, and what the op infers of it. Made once, for whoever places, checks or runs the graph.

#include "core/graph/node_call.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct ResolvedNode {
  const Op* op = nullptr;  // borrowed from the registry
  Call call;
  std::vector<ValueId> slots;  // as in NodeCall
  std::vector<OptionalOutput> outputs;
};

struct ResolvedGraph {
  const Graph* graph = nullptr;        // borrowed
  const Registry* registry = nullptr;  // borrowed
  std::vector<ResolvedNode> nodes;
};

// `seed`: of random ops. Fails where no pack offers an op, naming all such, or where a node's
// outputs are not what its op makes of its inputs.
Result<ResolvedGraph> resolve_graph(const Graph& graph, const Registry& registry,
                                    uint64_t seed = 0);

}  // namespace onedim
