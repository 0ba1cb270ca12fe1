#pragma once
// Graph write: the text of `onedim.graph/1` (see graph_read.hpp) on one line, byte for byte the
// same for equal graphs, and read back to an equal one. What a key may leave out is left out.

#include <string>

#include "core/graph/graph.hpp"

namespace onedim {

// The invariants of `graph` hold.
std::string format_graph(const Graph& graph);

}  // namespace onedim
