#pragma once
// Whole graph: a graph run on whole tensors in this process, node by node, without layouts: what a
// sharded run of it should give.

#include "core/graph/resolved_graph.hpp"

namespace onedim {

// `given`: per value, empty where a node makes it; they are not written, as what nodes write in
// place is copied first. Per value: the outputs of the graph and gradients, all others empty.
Result<std::vector<Tensor>> run_whole_graph(const ResolvedGraph& resolved,
                                            std::span<const Tensor> given);

}  // namespace onedim
