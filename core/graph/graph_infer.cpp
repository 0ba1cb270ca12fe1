#include "core/graph/graph_infer.hpp"

#include <set>

#include "core/base/text.hpp"
#include "core/graph/node_call.hpp"
#include "core/pack/foreign_call.hpp"

namespace onedim {
namespace {

// What differs, or "". Only the first difference counts: the others mostly follow from it.
std::string difference(const TensorMeta& expected, const TensorMeta& found) {
  if (expected.dtype != found.dtype) {
    return fmt::format("expected dtype {}, found {}", name_of(expected.dtype),
                       name_of(found.dtype));
  }
  if (expected.shape != found.shape) {
    return fmt::format("expected shape {}, found {}", format_dims(expected.shape),
                       format_dims(found.shape));
  }
  if (expected.strides == found.strides) return "";
  return fmt::format("expected strides {}, found {}, of shape {}", format_dims(expected.strides),
                     format_dims(found.strides), format_dims(found.shape));
}

class Inference {
 public:
  Inference(const Graph& graph, const Registry& registry)
      : graph_(graph), registry_(registry), result_{{}, {}, Storages(graph)} {}

  GraphInference run() {
    for (const GraphNode& node : graph_.nodes) {
      if (const Op* op = registry_.find(node.op)) {
        judge(node, *op);
      } else {
        unknown_.insert(node.op);
      }
    }
    result_.unknown_ops.assign(unknown_.begin(), unknown_.end());
    return std::move(result_);
  }

 private:
  void judge(const GraphNode& node, const Op& op) {
    const Result<NodeCall> call = make_node_call(graph_, node, op);
    if (!call.ok()) return add_fault(node, message_of(call.status()));
    const ForeignCall running(op, "infer");
    const Result<std::vector<OptionalOutput>> outputs = op.infer(call->call);
    if (!outputs.ok()) return add_fault(node, message_of(outputs.status()));
    if (outputs->size() != node.outputs.size()) {
      return add_fault(
          node, fmt::format("expected {} outputs, found {}", outputs->size(), node.outputs.size()));
    }
    for (size_t slot = 0; slot < outputs->size(); ++slot)
      judge_output(node, slot, (*outputs)[slot], call->slots);
  }

  void judge_output(const GraphNode& node, size_t slot, const OptionalOutput& expected,
                    const std::vector<ValueId>& inputs) {
    const ValueId found = node.outputs[slot];
    if (expected.has_value() != (found != kNoValue)) {
      return add_fault(node, fmt::format("output {}: expected {}, found {}", slot,
                                         expected ? format_meta(expected->meta) : "no tensor",
                                         expected ? "no tensor" : name_text(found)));
    }
    if (!expected) return;
    const std::string text = difference(expected->meta, graph_.values[found].meta);
    if (!text.empty())
      return add_fault(node, fmt::format("output {} {}: {}", slot, name_text(found), text));
    if (expected->view_of_input < 0) return;
    result_.storages.add_view(found, inputs[expected->view_of_input],
                              expected->storage_offset * size_of(expected->meta.dtype));
  }

  std::string name_text(ValueId value) const { return quoted_excerpt(graph_.values[value].name); }

  void add_fault(const GraphNode& node, std::string_view what) {
    result_.faults.push_back(fmt::format("{}: {}", node_text(node), what));
  }

  const Graph& graph_;
  const Registry& registry_;
  GraphInference result_;
  std::set<std::string> unknown_;
};

}  // namespace

GraphInference infer_graph(const Graph& graph, const Registry& registry) {
  return Inference(graph, registry).run();
}

std::string unknown_ops_text(const std::vector<std::string>& ops) {
  if (ops.size() == 1) return "no pack offers " + ops[0];
  const std::span<const std::string> all_but_last(ops.data(), ops.size() - 1);
  return fmt::format("no pack offers {} and {}", fmt::join(all_but_last, ", "), ops.back());
}

}  // namespace onedim
