#include "core/graph/node_call.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/pack/written_value.hpp"

namespace onedim {
namespace {

Status check_input(const NodeInput& input, const Schema& schema) {
  const Argument* argument = schema.find(input.name);
  if (argument == nullptr) {
    std::vector<std::string> names;
    for (const Argument& known : schema.arguments) names.push_back(known.name);
    return invalid_argument("{} has no argument {}{}", schema.name, quoted_excerpt(input.name),
                            did_you_mean(input.name, names));
  }
  if (!argument->is_tensor()) {
    return invalid_argument("argument \"{}\" is {}, not a tensor", argument->name,
                            format_type(*argument));
  }
  if (argument->is_list == input.is_list) return absl::OkStatus();
  return invalid_argument("argument \"{}\" is {}, not a {}", argument->name, format_type(*argument),
                          input.is_list ? "list" : "single tensor");
}

// FNV-1a: the same on every machine.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::vector<ValueId> slots_of(const GraphNode& node, const Call& call) {
  std::vector<ValueId> slots(call.inputs.size(), kNoValue);
  for (const NodeInput& input : node.inputs) {
    const SlotRange range = call.arguments[call.schema->index_of(input.name)];
    std::copy_n(input.values.begin(), range.count, slots.begin() + range.first);
  }
  return slots;
}

}  // namespace

Result<NodeCall> make_node_call(const Graph& graph, const GraphNode& node, const Op& op) {
  std::vector<std::vector<OptionalMeta>> tensors(op.schema.arguments.size());
  for (const NodeInput& input : node.inputs) {
    if (Status status = check_input(input, op.schema); !status.ok()) return status;
    std::vector<OptionalMeta>& metas = tensors[op.schema.index_of(input.name)];
    for (const ValueId id : input.values)
      metas.push_back(id == kNoValue ? std::nullopt : OptionalMeta(graph.values[id].meta));
  }
  std::vector<std::pair<std::string, Value>> attributes;
  for (const auto& [name, value] : node.attributes) {
    const Argument* argument = op.schema.find(name);
    attributes.emplace_back(name, argument == nullptr ? value : read_written(*argument, value));
  }
  Result<Call> call = make_call(op.schema, std::move(tensors), std::move(attributes));
  if (!call.ok()) return call.status();
  call->call_id = hash_of(node.name);
  std::vector<ValueId> slots = slots_of(node, *call);
  return NodeCall{*std::move(call), std::move(slots)};
}

}  // namespace onedim
