#pragma once
// Node call: a node of a graph as a call of its op: tensors by description in the schema's slots,
// attributes as the schema means them, and which value of the graph stands in each slot.

#include "core/graph/graph.hpp"
#include "core/pack/op.hpp"

namespace onedim {

struct NodeCall {
  // Its id follows from the node's name, so it is the same wherever and whenever the node runs.
  Call call;
  std::vector<ValueId> slots;  // per input slot of the call; kNoValue where absent
};

Result<NodeCall> make_node_call(const Graph& graph, const GraphNode& node, const Op& op);

}  // namespace onedim
