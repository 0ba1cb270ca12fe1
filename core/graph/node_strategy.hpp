#pragma once
// Node strategy: the strategy of one node from rules, or from layouts, that someone wrote down,
// with the layouts that follow from it.

#include "core/graph/resolved_graph.hpp"
#include "core/graph/solution.hpp"
#include "core/layout/policy.hpp"

namespace onedim {

// `rules` one a mesh dim, `order` all mesh dims in cutting order. It is valid where select would
// offer it under the policy `any`. InvalidArgument says which rule or which local call is at fault.
Result<NodeStrategy> make_node_strategy(const ResolvedNode& node, const Registry& registry,
                                        const Mesh& mesh, std::span<const Rule> rules,
                                        const Dims& order);

// The strategy whose layouts these are, one per input slot of the call and one per output, whatever
// the order of their cuts: all orders are tried, left to right first, so the layouts of the result
// may have another. NotFound says on which mesh dim the op has no such rule, InvalidArgument why
// those that it has do not hold on this mesh under `policy`.
Result<NodeStrategy> find_node_strategy(const ResolvedNode& node, const Registry& registry,
                                        const Mesh& mesh, std::span<const Layout> inputs,
                                        std::span<const Layout> outputs, Policy policy);

}  // namespace onedim
