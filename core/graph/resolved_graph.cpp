#include "core/graph/resolved_graph.hpp"

#include "core/graph/graph_infer.hpp"
#include "core/pack/foreign_call.hpp"

namespace onedim {

Result<ResolvedGraph> resolve_graph(const Graph& graph, const Registry& registry, uint64_t seed) {
  const GraphInference inference = infer_graph(graph, registry);
  if (!inference.unknown_ops.empty())
    return absl::NotFoundError(unknown_ops_text(inference.unknown_ops));
  if (!inference.faults.empty()) return invalid_argument("{}", inference.faults[0]);
  ResolvedGraph resolved{&graph, &registry, {}};
  for (const GraphNode& node : graph.nodes) {
    const Op& op = *registry.find(node.op);
    Result<NodeCall> call = make_node_call(graph, node, op);
    if (!call.ok()) return annotate(call.status(), node_text(node));
    call->call.seed = seed;
    const ForeignCall running(op, "infer");
    Result<std::vector<OptionalOutput>> outputs = op.infer(call->call);
    if (!outputs.ok()) return annotate(outputs.status(), node_text(node));
    resolved.nodes.push_back(
        {&op, std::move(call->call), std::move(call->slots), *std::move(outputs)});
  }
  return resolved;
}

}  // namespace onedim
