#include "core/graph/graph_builder.hpp"

#include <algorithm>

#include "core/graph/graph_check.hpp"
#include "core/graph/node_call.hpp"
#include "core/pack/foreign_call.hpp"

namespace onedim {

GraphBuilder::GraphBuilder(std::string name, const Registry& registry) : registry_(registry) {
  graph_.name = std::move(name);
}

ValueId GraphBuilder::add_given(ValueKind kind, std::string name, TensorMeta meta,
                                std::string path) {
  graph_.values.push_back({std::move(name), std::move(meta), kind, std::move(path)});
  return graph_.value_count() - 1;
}

std::vector<ValueId> GraphBuilder::add_node(std::string_view op, std::vector<NodeInput> inputs,
                                            Attributes attributes) {
  GraphNode node;
  const int count = counts_[std::string(op)]++;
  node.name = count == 0 ? std::string(op) : fmt::format("{}_{}", op, count);
  std::replace(node.name.begin(), node.name.end(), '.', '_');
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.role = role_;
  node.phase = phase_;
  node.module = module_;
  node.layer = layer_;
  node.recompute = recompute_;
  if (status_.ok()) status_ = annotate(try_node(node), node_text(node));
  if (!status_.ok()) return {kNoValue};
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

ValueId GraphBuilder::add(std::string_view op,
                          std::initializer_list<std::pair<const char*, ValueId>> inputs,
                          Attributes attributes) {
  std::vector<NodeInput> list;
  for (const auto& [name, value] : inputs) list.push_back({name, false, {value}});
  const std::vector<ValueId> outputs = add_node(op, std::move(list), std::move(attributes));
  return outputs.empty() ? kNoValue : outputs[0];
}

Status GraphBuilder::try_node(GraphNode& node) {
  const Op* op = registry_.find(node.op);
  if (op == nullptr) return absl::NotFoundError("no pack offers the op");
  const Result<NodeCall> call = make_node_call(graph_, node, *op);
  if (!call.ok()) return call.status();
  const ForeignCall running(*op, "infer");
  const Result<std::vector<OptionalOutput>> outputs = op->infer(call->call);
  if (!outputs.ok()) return outputs.status();
  for (size_t slot = 0; slot < outputs->size(); ++slot) {
    const OptionalOutput& output = (*outputs)[slot];
    node.outputs.push_back(kNoValue);
    if (!output) continue;
    std::string name = outputs->size() == 1 ? node.name : fmt::format("{}.{}", node.name, slot);
    node.outputs.back() = add_given(ValueKind::kIntermediate, std::move(name), output->meta);
  }
  return absl::OkStatus();
}

void GraphBuilder::set_place(std::string module, int layer) {
  module_ = std::move(module);
  layer_ = layer;
}

const TensorMeta& GraphBuilder::meta(ValueId value) const {
  static const TensorMeta scalar = TensorMeta::contiguous(DType::kF32, {});
  return value == kNoValue ? scalar : graph_.values[value].meta;
}

Result<Graph> GraphBuilder::finish() {
  if (!status_.ok()) return status_;
  if (Status status = check_graph(graph_); !status.ok()) return status;
  return std::move(graph_);
}

}  // namespace onedim
