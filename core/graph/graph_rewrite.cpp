#include "core/graph/graph_rewrite.hpp"

#include "core/base/text.hpp"
#include "core/graph/graph_check.hpp"
#include "core/graph/node_call.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/pack/written_value.hpp"

namespace onedim {
namespace {

Status make_outputs(const GraphNode& node, const Registry& registry, Graph& graph) {
  const Op* op = registry.find(node.op);
  if (op == nullptr) return absl::NotFoundError("no pack offers the op");
  const Result<NodeCall> call = make_node_call(graph, node, *op);
  if (!call.ok()) return call.status();
  const ForeignCall running(*op, "infer");
  const Result<std::vector<OptionalOutput>> outputs = op->infer(call->call);
  if (!outputs.ok()) return outputs.status();
  for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
    const bool is_there = slot < outputs->size() && (*outputs)[slot];
    if (is_there != (node.outputs[slot] != kNoValue)) {
      return invalid_argument("output {} is {}, but was {}", slot, is_there ? "there" : "absent",
                              is_there ? "absent" : "there");
    }
    if (!is_there) continue;
    GraphValue& value = graph.values[node.outputs[slot]];
    const TensorMeta& meta = (*outputs)[slot]->meta;
    if (meta.shape.size() != value.meta.shape.size()) {
      return invalid_argument("output {} has {} dims, but had {}", slot, meta.shape.size(),
                              value.meta.shape.size());
    }
    value.meta = meta;
  }
  return absl::OkStatus();
}

DType widened(DType dtype) {
  if (is_complex(dtype)) return DType::kC128;
  return is_floating(dtype) ? DType::kF64 : dtype;
}

void widen(const Schema& schema, std::string_view name, Value& value) {
  const Argument* argument = schema.find(name);
  if (argument != nullptr) value = read_written(*argument, std::move(value));
  if (DType* dtype = std::get_if<DType>(&value.data)) *dtype = widened(*dtype);
}

}  // namespace

Result<Graph> rewrite_graph(const Graph& graph, const Registry& registry,
                            const GraphChange& change) {
  Graph made = graph;
  for (GraphValue& value : made.values) {
    if (!value.is_given()) continue;
    Result<TensorMeta> meta = change.given(value);
    if (!meta.ok()) return annotate(meta.status(), "value " + quoted_excerpt(value.name));
    value.meta = *std::move(meta);
  }
  for (GraphNode& node : made.nodes) {
    Status status = change.attributes(node, graph.values, made.values);
    if (status.ok()) status = make_outputs(node, registry, made);
    if (!status.ok()) return annotate(status, node_text(node));
  }
  if (Status status = check_graph(made); !status.ok()) return status;
  return made;
}

Result<Graph> widen_graph(const Graph& graph, const Registry& registry) {
  GraphChange change;
  change.given = [](const GraphValue& value) -> Result<TensorMeta> {
    TensorMeta meta = value.meta;
    meta.dtype = widened(meta.dtype);
    return meta;
  };
  change.attributes = [&registry](GraphNode& node, const auto&, const auto&) -> Status {
    const Op* op = registry.find(node.op);
    if (op == nullptr) return absl::NotFoundError("no pack offers the op");
    for (auto& [name, value] : node.attributes) widen(op->schema, name, value);
    return absl::OkStatus();
  };
  return rewrite_graph(graph, registry, change);
}

}  // namespace onedim
