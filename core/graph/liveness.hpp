#pragma once
// Liveness: from which node to which a value, or the storage that values share, must be held. Nodes
// are counted in the order of the graph: node i makes its outputs and uses its inputs at step i, so
// both are held there; -1 is before the first node, node_count() after the last.
// Example: b = relu(a); c = t(b), a view; d = mm(c, c), the output:
//   values: a [-1,0], b [0,1], c [1,2], d [2,3]; storages: a [-1,3] (given), b [0,2], d [2,3].

#include "core/graph/storages.hpp"

namespace onedim {

struct LiveRange {
  int first = 0;
  int last = 0;  // included
  bool holds(int step) const { return first <= step && step <= last; }
  bool operator==(const LiveRange&) const = default;
};

// Per value: from the node that makes it (-1: given) to the last that uses it. Outputs of the graph
// and gradients are held to the end; what nobody uses, only where it is made.
std::vector<LiveRange> value_ranges(const Graph& graph);

// Per value: of its storage, which is held as long as any value in it. That of a param, buffer or
// input is the caller's, and there from before the first node until after the last.
std::vector<LiveRange> storage_ranges(const Graph& graph, const Storages& storages);

// Bytes of all storages that are held at each step from 0 to node_count() - 1.
std::vector<int64_t> live_bytes(const Graph& graph, const Storages& storages);

}  // namespace onedim
