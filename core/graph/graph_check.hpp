#pragma once
// Graph check: whether the invariants of a Graph hold. It asks no pack. The first fault is told, by
// the names of value and node.

#include "core/graph/graph.hpp"

namespace onedim {

Status check_graph(const Graph& graph);

// Sizes and strides that a value may have.
Status check_value_meta(const TensorMeta& meta);

}  // namespace onedim
