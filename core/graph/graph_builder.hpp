#pragma once
// GraphBuilder: makes a graph node by node. What a node makes is described by its op's infer, so
// the graph agrees with the packs, which must offer every op used. After a fault nothing more is
// added, and `finish` tells it; so a model is written without looking at each step.

#include <initializer_list>
#include <map>

#include "core/graph/graph.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

class GraphBuilder {
 public:
  // `registry` is borrowed.
  GraphBuilder(std::string name, const Registry& registry);

  ValueId add_given(ValueKind kind, std::string name, TensorMeta meta, std::string path = "");

  using Attributes = std::vector<std::pair<std::string, Value>>;
  // The outputs of a node; kNoValue where absent. Its name is the op's with a number behind it;
  // where it stands in the model is what was last set.
  std::vector<ValueId> add_node(std::string_view op, std::vector<NodeInput> inputs,
                                Attributes attributes = {});
  // The first output. The inputs are single tensors.
  ValueId add(std::string_view op, std::initializer_list<std::pair<const char*, ValueId>> inputs,
              Attributes attributes = {});

  // For the nodes that follow.
  void set_place(std::string module, int layer = -1);
  void set_role(std::string role) { role_ = std::move(role); }
  void set_phase(Phase phase) { phase_ = phase; }
  void set_recompute(Recompute recompute) { recompute_ = recompute; }

  void add_output(ValueId value) { graph_.outputs.push_back(value); }
  void add_gradient(ValueId param, ValueId gradient) {
    graph_.gradients.push_back({param, gradient});
  }
  void set_forward_outputs(int count) { graph_.forward_outputs = count; }

  // Of a value that add_given or add_node gave; of a scalar f32 after a fault.
  const TensorMeta& meta(ValueId value) const;

  // The graph, whose invariants hold, or the first fault.
  Result<Graph> finish();

 private:
  Status try_node(GraphNode& node);

  const Registry& registry_;
  Graph graph_;
  Status status_;
  std::map<std::string, int, std::less<>> counts_;  // nodes by op
  std::optional<std::string> module_;
  int layer_ = -1;
  std::string role_;
  Phase phase_ = Phase::kForward;
  Recompute recompute_ = Recompute::kNone;
};

}  // namespace onedim
