#pragma once
// Node strategy: the strategy of one node from rules that someone wrote down, with the layouts that
// follow from them. It is valid where select would offer it under the policy `any`.

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"

namespace onedim {

// `rules` one a mesh dim, `order` all mesh dims in cutting order. InvalidArgument says which rule
// or which local call is at fault.
Result<NodeStrategy> make_node_strategy(const ResolvedNode& node, const Registry& registry,
                                        const Mesh& mesh, std::span<const Rule> rules,
                                        const Dims& order);

}  // namespace onedim
