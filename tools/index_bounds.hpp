#pragma once
// Index bounds: below which number the whole-number values of a graph must stay, as far as the
// samples of its ops tell: where a sample draws an input from `index(6)`, and in all samples of the
// op that 6 is the length of a certain dim of a certain input, or a certain attribute, then so it
// is in the graph. A bound holds for whatever the input is a view of too. Where numbers are
// computed with before they index something, nothing tells: then only 0 and 1 are safe.

#include "core/graph/resolved_graph.hpp"

namespace onedim {

// Per value: the bound, or 2 where nothing is known; of whole-number values alone.
std::vector<int64_t> index_bounds(const ResolvedGraph& resolved);

}  // namespace onedim
