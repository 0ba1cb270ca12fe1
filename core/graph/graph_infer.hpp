#pragma once
// Graph infer: what the packs say of a graph: whether every output's shape, strides and dtype are
// what the node's op makes of its inputs, and which values are views, hence share storage. A node
// is judged by the inputs that the graph describes, so one fault is one line, however many nodes
// follow from it.

#include "core/graph/storages.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct GraphInference {
  // Ops that no pack offers, each once, sorted; their nodes are not judged.
  std::vector<std::string> unknown_ops;
  // One line each: `node "mm_3" (mm): output 0 "mm_3": expected shape [4,6], found [4,8]`.
  std::vector<std::string> faults;
  Storages storages;

  bool is_fine() const { return unknown_ops.empty() && faults.empty(); }
};

// The invariants of `graph` hold (check_graph).
GraphInference infer_graph(const Graph& graph, const Registry& registry);

// `no pack offers a, b and c`.
std::string unknown_ops_text(const std::vector<std::string>& ops);

}  // namespace onedim
