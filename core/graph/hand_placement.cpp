#include "core/graph/hand_placement.hpp"

#include <algorithm>
#include <map>

#include "core/base/text.hpp"
#include "core/graph/node_strategy.hpp"
#include "core/graph/settling_plan.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/pack/joint_group.hpp"
#include "core/select/strategy.hpp"

namespace onedim {
namespace {

bool is_partial(const Placement& placement) { return placement.is_partial(); }

class Placer {
 public:
  Placer(const ResolvedGraph& resolved, std::span<const PlacementLine> lines, Selector& selector,
         const SelectOptions& options)
      : resolved_(resolved),
        graph_(*resolved.graph),
        lines_(lines),
        selector_(selector),
        options_(options),
        plan_options_(plan_options(options)),
        mesh_(selector.planner().mesh()),
        lies_(graph_.values.size()) {}

  Result<Solution> run() {
    solution_.mesh = mesh_;
    Result<NamedPlacements> named = find_placements(graph_, mesh_, lines_);
    if (!named.ok()) return named.status();
    placed_ = std::move(named->values);
    rules_ = std::move(named->rules);
    place_given();
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (Status status = place_node(node); !status.ok())
        return annotate(status, node_text(graph_.nodes[node]));
    }
    if (Status status = place_outputs(); !status.ok()) return status;
    return std::move(solution_);
  }

 private:
  void place_given() {
    solution_.given.resize(graph_.values.size());
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      if (!graph_.values[id].is_given()) continue;
      solution_.given[id] = placed_[id] ? *placed_[id] : Layout::replicated(mesh_.ndim());
      lies_[id] = solution_.given[id];
      placed_[id].reset();
    }
  }

  // Where users of the value take it from.
  const Layout& at_hand(ValueId value) const {
    return placed_[value] ? *placed_[value] : lies_[value];
  }

  Status place_node(int node) {
    const ResolvedNode& resolved = resolved_.nodes[node];
    const ForeignCall running(*resolved.op, "a placement");
    std::vector<Layout> current;
    for (const ValueId value : resolved.slots)
      current.push_back(value == kNoValue ? Layout() : at_hand(value));
    Result<NodeStrategy> strategy = rules_.contains(node) ? given(node) : chosen(node, current);
    if (!strategy.ok()) return strategy.status();
    for (size_t slot = 0; slot < resolved.slots.size(); ++slot) {
      const ValueId value = resolved.slots[slot];
      if (value == kNoValue) continue;
      if (Status status = bring(value, strategy->inputs[slot], node); !status.ok())
        return annotate(status, fmt::format("input {}", slot));
    }
    solution_.nodes.push_back(*std::move(strategy));
    return settle(node);
  }

  Result<NodeStrategy> given(int node) {
    return make_node_strategy(resolved_.nodes[node], *resolved_.registry, mesh_, rules_[node],
                              Layout::replicated(mesh_.ndim()).cutting_order());
  }

  Result<NodeStrategy> chosen(int node, const std::vector<Layout>& current) {
    const ResolvedNode& resolved = resolved_.nodes[node];
    const SelectRequest request{resolved.op, &resolved.call, current, {}, options_};
    const Result<std::shared_ptr<const Decision>> decision = selector_.select(request);
    if (!decision.ok()) return decision.status();
    return NodeStrategy{(*decision)->rules, (*decision)->order, (*decision)->inputs,
                        (*decision)->outputs};
  }

  bool is_same(ValueId value, const Layout& a, const Layout& b) const {
    const Dims& shape = graph_.values[value].meta.shape;
    return without_unit_dims(a, mesh_, shape) == without_unit_dims(b, mesh_, shape);
  }

  // Sees to it that the node finds the value under the layout.
  Status bring(ValueId value, const Layout& to, int node) {
    if (is_same(value, to, lies_[value])) return absl::OkStatus();
    for (ValueMove& move : solution_.moves) {
      if (move.values[0] != value || is_settling(move)) continue;
      if (!is_same(value, move.to, to)) continue;
      if (!shares(move, node)) continue;
      if (move.consumers.empty() || move.consumers.back() != node) move.consumers.push_back(node);
      return absl::OkStatus();
    }
    Layout from = lies_[value];
    if (placed_[value] && !is_same(value, to, *placed_[value])) {
      if (Status status = bring(value, *placed_[value], node); !status.ok()) return status;
      from = *placed_[value];
    }
    return add_move(value, from, to, {node});
  }

  // A copy is not kept from forward to backward, but for one that a line asked for.
  bool shares(const ValueMove& move, int node) const {
    const std::optional<Layout>& placed = placed_[move.values[0]];
    if (placed && is_same(move.values[0], move.to, *placed)) return true;
    return !move.consumers.empty() &&
           graph_.nodes[move.consumers[0]].phase == graph_.nodes[node].phase;
  }

  Status add_move(ValueId value, const Layout& from, const Layout& to, std::vector<int> consumers) {
    Result<std::shared_ptr<const Plan>> plan =
        selector_.planner().plan(graph_.values[value].meta, from, to, plan_options_);
    if (!plan.ok())
      return annotate(plan.status(), "value " + quoted_excerpt(graph_.values[value].name));
    solution_.moves.push_back({{value}, from, to, std::move(consumers), false, *std::move(plan)});
    return absl::OkStatus();
  }

  // The outputs now lie somewhere; partials of packs are brought to an end.
  Status settle(int node) {
    const std::vector<ValueId>& outputs = graph_.nodes[node].outputs;
    const NodeStrategy& strategy = solution_.nodes[node];
    for (size_t slot = 0; slot < outputs.size(); ++slot) {
      if (outputs[slot] != kNoValue) lies_[outputs[slot]] = settled_layout(strategy.outputs[slot]);
    }
    const Result<std::vector<JointGroup>> groups =
        joint_groups(joint_placements(strategy.outputs), *resolved_.registry);
    if (!groups.ok()) return groups.status();
    for (const JointGroup& group : *groups) {
      std::vector<ValueId> values;
      for (const int output : group.outputs) values.push_back(outputs[output]);
      Result<std::shared_ptr<const Plan>> plan =
          make_settling_plan(resolved_.nodes[node], strategy, group, selector_.planner().model());
      if (!plan.ok()) return plan.status();
      const Layout from = (*plan)->from, to = (*plan)->to;
      solution_.moves.push_back({std::move(values), from, to, {}, false, *std::move(plan)});
    }
    return absl::OkStatus();
  }

  Status place_outputs() {
    std::map<ValueId, Layout> targets;
    for (const Gradient& pair : graph_.gradients)
      targets[pair.gradient] = solution_.given[pair.param];
    for (const ValueId output : graph_.outputs) {
      if (output != kNoValue && !targets.contains(output)) targets[output] = whole(at_hand(output));
    }
    for (auto& [value, target] : targets) {
      if (placed_[value]) target = *placed_[value];
      if (is_same(value, target, lies_[value])) continue;
      const auto there = std::find_if(solution_.moves.begin(), solution_.moves.end(),
                                      [&, value = value, &to = target](const ValueMove& move) {
                                        return move.values[0] == value && !is_settling(move) &&
                                               is_same(value, move.to, to);
                                      });
      if (there != solution_.moves.end()) {
        there->is_output = true;
        continue;
      }
      Status status = add_move(value, lies_[value], target, {});
      if (!status.ok()) return status;
      solution_.moves.back().is_output = true;
    }
    return absl::OkStatus();
  }

  static Layout whole(Layout layout) {
    std::replace_if(layout.placements.begin(), layout.placements.end(), is_partial,
                    Placement::replicate());
    return layout;
  }

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  std::span<const PlacementLine> lines_;
  Selector& selector_;
  SelectOptions options_;
  PlanOptions plan_options_;
  const Mesh& mesh_;
  std::vector<std::optional<Layout>> placed_;  // per value, by a line; given values: none
  std::vector<Layout> lies_;                   // per value, as far as placed
  std::map<int, std::vector<Rule>> rules_;     // per node, by a line
  Solution solution_;
};

}  // namespace

Result<Solution> place_graph(const ResolvedGraph& resolved, std::span<const PlacementLine> lines,
                             Selector& selector, const SelectOptions& options) {
  return Placer(resolved, lines, selector, options).run();
}

}  // namespace onedim
