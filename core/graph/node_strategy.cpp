#include "core/graph/node_strategy.hpp"

#include <algorithm>
#include <set>

#include "core/select/given_rules.hpp"

namespace onedim {
namespace {

// The strategy with its layouts, if it and its local calls are valid.
Result<NodeStrategy> checked_strategy(const ResolvedNode& node, const Mesh& mesh,
                                      const RuleChoices& choices, const Strategy& strategy,
                                      Policy policy) {
  // Nothing stands as given, so every cut is checked.
  const std::vector<Layout> current(node.slots.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject subject{*node.op, node.call, node.outputs, current, mesh, policy};
  if (Status status = check_strategy(subject, choices, strategy); !status.ok()) return status;
  NodeStrategy made;
  made.order = strategy.order;
  std::vector<uint64_t> tags;
  for (const int rule : strategy.rules) {
    made.rules.push_back(choices.rules()[rule].rule);
    tags.push_back(made.rules.back().tag);
  }
  for (size_t slot = 0; slot < node.slots.size(); ++slot) {
    made.inputs.push_back(node.call.inputs[slot] ? input_layout(choices, strategy, slot, mesh)
                                                 : Layout());
  }
  for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
    made.outputs.push_back(node.outputs[slot] ? output_layout(choices, strategy, slot, mesh)
                                              : Layout());
  }
  Status status = check_local_calls(subject, made.inputs, made.outputs, tags);
  if (!status.ok()) return status;
  return made;
}

// What the layouts put on each mesh dim. Shards of what has one element are R, as rules have them.
std::vector<Rule> rules_of_layouts(const ResolvedNode& node, const Mesh& mesh,
                                   std::span<const Layout> inputs,
                                   std::span<const Layout> outputs) {
  std::vector<Rule> rules(mesh.ndim());
  const auto add = [&](std::vector<Placement> Rule::*side, const Layout& layout,
                       const TensorMeta* meta) {
    const Layout plain = meta ? without_unit_dims(layout, mesh, meta->shape) : Layout();
    for (int dim = 0; dim < mesh.ndim(); ++dim)
      (rules[dim].*side).push_back(meta ? plain.placements[dim] : Placement::none());
  };
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const OptionalMeta& input = node.call.inputs[slot];
    add(&Rule::inputs, inputs[slot], input ? &*input : nullptr);
  }
  for (size_t slot = 0; slot < outputs.size(); ++slot) {
    const OptionalOutput& output = node.outputs[slot];
    add(&Rule::outputs, outputs[slot], output ? &output->meta : nullptr);
  }
  return rules;
}

// Per mesh dim the op's rules with these placements: there may be several, under other conditions.
Result<std::vector<std::vector<int>>> rules_that_fit(const Op& op, const RuleChoices& choices,
                                                     const Mesh& mesh,
                                                     std::span<const Rule> wanted) {
  std::vector<std::vector<int>> fitting(mesh.ndim());
  for (int dim = 0; dim < mesh.ndim(); ++dim) {
    if (mesh.size(dim) == 1) fitting[dim].push_back(RuleChoices::kUnitRule);
    for (size_t i = 0; i < choices.rules().size() && mesh.size(dim) > 1; ++i) {
      if (choices.rules()[i].rule.has_same_placements(wanted[dim]))
        fitting[dim].push_back(static_cast<int>(i));
    }
    if (!fitting[dim].empty()) continue;
    return absl::NotFoundError(fmt::format("{} has no rule {}, as mesh dim {} would need",
                                           op.name(), format_rule(wanted[dim]), mesh.name(dim)));
  }
  return fitting;
}

// Whether two mesh dims cut one tensor dim: only then does it matter which cuts first.
bool cuts_a_dim_twice(std::span<const Layout> layouts) {
  return std::any_of(layouts.begin(), layouts.end(), [](const Layout& layout) {
    std::set<int> cut;
    return std::any_of(layout.placements.begin(), layout.placements.end(),
                       [&](const Placement& placement) {
                         return placement.is_shard() && !cut.insert(placement.dim).second;
                       });
  });
}

// Steps to the next combination of one rule per mesh dim; false behind the last.
bool next_combination(const std::vector<std::vector<int>>& fitting, std::vector<size_t>& at) {
  for (size_t dim = 0; dim < at.size(); ++dim) {
    if (++at[dim] < fitting[dim].size()) return true;
    at[dim] = 0;
  }
  return false;
}

}  // namespace

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
  return checked_strategy(node, mesh, *choices, *strategy, Policy::kAny);
}

Result<NodeStrategy> find_node_strategy(const ResolvedNode& node, const Registry& registry,
                                        const Mesh& mesh, std::span<const Layout> inputs,
                                        std::span<const Layout> outputs, Policy policy) {
  const std::vector<Rule> wanted = rules_of_layouts(node, mesh, inputs, outputs);
  const Result<RuleChoices> choices =
      choices_for(*node.op, node.call, node.outputs, registry, wanted);
  if (!choices.ok()) return choices.status();
  const Result<std::vector<std::vector<int>>> fitting =
      rules_that_fit(*node.op, *choices, mesh, wanted);
  if (!fitting.ok()) return fitting.status();
  const bool has_orders = cuts_a_dim_twice(inputs) || cuts_a_dim_twice(outputs);
  Status first_fault;
  Dims order = Layout::replicated(mesh.ndim()).cutting_order();
  do {
    std::vector<size_t> at(mesh.ndim(), 0);
    do {
      Strategy strategy{{}, order};
      for (int dim = 0; dim < mesh.ndim(); ++dim)
        strategy.rules.push_back((*fitting)[dim][at[dim]]);
      Result<NodeStrategy> found = checked_strategy(node, mesh, *choices, strategy, policy);
      if (found.ok()) return found;
      first_fault.Update(found.status());
    } while (next_combination(*fitting, at));
  } while (has_orders && std::next_permutation(order.begin(), order.end()));
  return first_fault;
}

}  // namespace onedim
