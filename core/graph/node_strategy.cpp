#include "core/graph/node_strategy.hpp"

#include "core/select/given_rules.hpp"

namespace onedim {

Result<NodeStrategy> make_node_strategy(const ResolvedNode& node, const Registry& registry,
                                        const Mesh& mesh, std::span<const Rule> rules,
                                        const Dims& order) {
  if (rules.size() != static_cast<size_t>(mesh.ndim())) {
    return invalid_argument("{} rules for the {} mesh dims of {}, expected one each", rules.size(),
                            mesh.ndim(), mesh.format());
  }
  const Result<RuleChoices> choices =
      choices_for(*node.op, node.call, node.outputs, registry, rules);
  if (!choices.ok()) return choices.status();
  const Result<Strategy> strategy = find_strategy(*node.op, *choices, rules, order);
  if (!strategy.ok()) return strategy.status();
  // Nothing stands as given, so every cut is checked.
  const std::vector<Layout> current(node.slots.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject subject{*node.op, node.call, node.outputs, current, mesh, Policy::kAny};
  if (Status status = check_strategy(subject, *choices, *strategy); !status.ok()) return status;
  NodeStrategy made;
  made.order = order;
  std::vector<uint64_t> tags;
  for (const int rule : strategy->rules) {
    made.rules.push_back(choices->rules()[rule].rule);
    tags.push_back(made.rules.back().tag);
  }
  for (size_t slot = 0; slot < node.slots.size(); ++slot) {
    made.inputs.push_back(node.call.inputs[slot] ? input_layout(*choices, *strategy, slot, mesh)
                                                 : Layout());
  }
  for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
    made.outputs.push_back(node.outputs[slot] ? output_layout(*choices, *strategy, slot, mesh)
                                              : Layout());
  }
  Status status = check_local_calls(subject, made.inputs, made.outputs, tags);
  if (!status.ok()) return status;
  return made;
}

}  // namespace onedim
