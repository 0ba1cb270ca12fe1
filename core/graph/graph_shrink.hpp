#pragma once
// Graph shrink: the same model with smaller sizes, so that it runs at a desk: every size that is
// named becomes another, wherever it stands: in what is given and, as a number, in attributes
// (sizes of views, ends of slices, the count of a mean). All other shapes follow from these by the
// packs' infer; what a view joins is as large as its parts. Sizes that stand for a product must be
// changed alike: 4096=64 where 4096 is split in 32 heads of 128 needs 32=8,128=8; the error of a
// size that does not fit names the node. Example, Llama 3 8B:
//   128256=96,14336=48,8192=16,4096=64,1024=16,128=4,64=2,32=16,16=8,8=4

#include "core/graph/graph.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct SizeChange {
  int64_t from = 0;
  int64_t to = 0;
};

// Smaller numbers stand for dims and counts as well, so they are not sizes to change.
inline constexpr int64_t kLeastChangedSize = 8;

// `4096=64,1024=32`: each size once, from kLeastChangedSize on, to 1 or more.
Result<std::vector<SizeChange>> parse_size_changes(std::string_view text);

// A change that nothing of the graph has is an error.
Result<Graph> shrink_graph(const Graph& graph, const Registry& registry,
                           std::span<const SizeChange> changes);

}  // namespace onedim
