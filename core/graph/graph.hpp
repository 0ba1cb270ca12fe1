#pragma once
// Graph: one step of a model as plain data: values (tensors by description) and the nodes that make
// them, in the order in which they run. `check_graph` says whether these invariants hold;
// read_graph and GraphBuilder give only graphs for which they do:
//   names of values are distinct, and names of nodes;
//   an intermediate is made by one node, once; a value of another kind by none;
//   a node uses what is given or what an earlier node made (so there is no cycle);
//   sizes and strides are not negative, and all values together have at most 2^62 bytes;
//   a gradient has the shape of its parameter, which has one gradient at most.
// Ops are known by name only: whether the descriptions are what the ops make of their inputs is for
// infer_graph to say.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/tensor.hpp"
#include "core/tensor/value.hpp"

namespace onedim {

using ValueId = int;                     // index in Graph::values
inline constexpr ValueId kNoValue = -1;  // stands for an absent tensor

enum class ValueKind { kParam, kBuffer, kInput, kTangent, kIntermediate };
enum class Phase { kForward, kBackward };
// What an activation checkpointing policy asked for; kNone: nothing.
enum class Recompute { kNone, kMustSave, kPreferSave, kMustRecompute, kPreferRecompute };

struct GraphValue {
  std::string name;
  TensorMeta meta;
  ValueKind kind = ValueKind::kIntermediate;
  std::string path;  // in the model, `layers.0.attention.wq.weight`; may be ""

  bool is_given() const { return kind != ValueKind::kIntermediate; }
  bool operator==(const GraphValue&) const = default;
};

// A tensor argument, by the schema's name.
struct NodeInput {
  std::string name;
  bool is_list = false;
  std::vector<ValueId> values;  // one, unless it is a list; kNoValue where absent
  bool operator==(const NodeInput&) const = default;
};

struct GraphNode {
  std::string name;
  std::string op;
  std::vector<NodeInput> inputs;
  std::vector<std::pair<std::string, Value>> attributes;  // as files write them (value_json.hpp)
  std::vector<ValueId> outputs;                           // kNoValue where absent
  std::string role;                                       // `dtype_cast`, or ""
  Phase phase = Phase::kForward;
  // Where in the model, `layers.0.attention_norm`; "": the model itself; nullopt: not said.
  std::optional<std::string> module;
  int layer = -1;  // -1: in none of the repeated layers
  Recompute recompute = Recompute::kNone;
  bool operator==(const GraphNode&) const = default;
};

struct Gradient {
  ValueId param = kNoValue;
  ValueId gradient = kNoValue;
  bool operator==(const Gradient&) const = default;
};

struct Graph {
  std::string name;
  std::vector<GraphValue> values;
  std::vector<GraphNode> nodes;
  std::vector<ValueId> outputs;  // kNoValue where the model gives none
  std::vector<Gradient> gradients;
  int forward_outputs = -1;  // of `outputs`, those before the gradients; -1: not said

  int node_count() const { return static_cast<int>(nodes.size()); }
  int value_count() const { return static_cast<int>(values.size()); }
  bool operator==(const Graph&) const = default;
};

// The words of the file format: `param`, `forward`, `PREFER_RECOMPUTE` ("" for kNone).
std::string_view name_of(ValueKind kind);
std::string_view name_of(Phase phase);
std::string_view name_of(Recompute recompute);
Result<ValueKind> parse_value_kind(std::string_view text);
Result<Phase> parse_phase(std::string_view text);
Result<Recompute> parse_recompute(std::string_view text);

// Per value the node that makes it, -1 where it is given.
std::vector<int> makers_of(const Graph& graph);

// `node "mm_3" (mm)`, for messages.
std::string node_text(const GraphNode& node);

}  // namespace onedim
