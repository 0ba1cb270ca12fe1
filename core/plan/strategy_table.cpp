#include "core/plan/strategy_table.hpp"

#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "core/graph/node_strategy.hpp"
#include "core/graph/settling_plan.hpp"
#include "core/pack/foreign_call.hpp"
#include "core/pack/joint_group.hpp"
#include "core/redistribute/step_price.hpp"
#include "core/select/strategy_state.hpp"

namespace onedim {
namespace {

constexpr size_t kMostPermuted = 3;  // mesh dims of more than one rank

std::string key_of(const ResolvedNode& node, std::span<const PlacementSet* const> inputs,
                   const std::vector<Rule>* given) {
  std::string key = node.op->name();
  for (size_t slot = 0; slot < inputs.size(); ++slot) {
    const OptionalMeta& meta = node.call.inputs[slot];
    if (!meta) {
      key += ";-";
      continue;
    }
    key += fmt::format(";{}/{}", format_meta(*meta), format_dims(meta->strides));
    for (const Placement& placement : *inputs[slot]) key += "," + format_placement(placement);
  }
  for (const SlotRange& range : node.call.arguments) key += fmt::format(";{}", range.count);
  for (const auto& [name, value] : node.call.attributes)
    key += fmt::format(";{}={}", name, format_value(value));
  if (given == nullptr) return key;
  for (const Rule& rule : *given) key += ";rule " + format_conditional_rule(rule);
  return key;
}

// Tries the rules mesh dim by mesh dim, and prices what is valid.
class Enumeration {
 public:
  Enumeration(const ResolvedNode& node, const RuleChoices& choices, const SelectSubject& subject,
              const CostModel& model, const Registry& registry, LayoutPool& pool, ComputeTime& time,
              StrategyTable& table)
      : node_(node),
        choices_(choices),
        subject_(subject),
        model_(model),
        registry_(registry),
        pool_(pool),
        time_(time),
        table_(table) {
    table_.inputs.resize(node.slots.size());
    table_.outputs.resize(node.outputs.size());
  }

  Status run(const Dims& order, std::span<const int> rules) {
    const StrategyFrame frame(subject_, order);
    rules_ = rules;
    now_ = {{}, order};
    now_.rules.assign(order.size(), RuleChoices::kUnitRule);
    return place_next(frame, StrategyState(frame), 0);
  }

  // The strategy at hand, if it is valid and not yet in the table.
  Status close(NodeStrategy strategy) {
    MemoKey key;
    std::vector<LayoutId> inputs, outputs;
    for (size_t slot = 0; slot < strategy.inputs.size(); ++slot) {
      const OptionalMeta& meta = node_.call.inputs[slot];
      inputs.push_back(meta ? number(strategy.inputs[slot], meta->shape) : kNoLayout);
      key.push_back(static_cast<uint64_t>(inputs.back()));
    }
    for (size_t slot = 0; slot < strategy.outputs.size(); ++slot) {
      const OptionalOutput& output = node_.outputs[slot];
      key.push_back(static_cast<uint64_t>(
          output ? number(strategy.outputs[slot], output->meta.shape) : kNoLayout));
      outputs.push_back(output ? number(settled_layout(strategy.outputs[slot]), output->meta.shape)
                               : kNoLayout);
    }
    if (known_.contains(key)) return absl::OkStatus();
    PricedStrategy priced;
    priced.strategy = std::move(strategy);
    Status fault;
    const Status valid = price(priced, fault);
    if (!fault.ok()) return fault;
    if (!valid.ok()) {
      refusal_ = valid;
      return absl::OkStatus();
    }
    known_.insert(std::move(key));
    table_.strategies.push_back(std::move(priced));
    for (size_t slot = 0; slot < inputs.size(); ++slot) table_.inputs[slot].push_back(inputs[slot]);
    for (size_t slot = 0; slot < outputs.size(); ++slot)
      table_.outputs[slot].push_back(outputs[slot]);
    return absl::OkStatus();
  }

  // Why the last strategy that was not valid was not.
  const Status& refusal() const { return refusal_; }

 private:
  LayoutId number(const Layout& layout, const Dims& shape) {
    return pool_.intern(without_unit_dims(layout, subject_.mesh, shape));
  }

  Status place_next(const StrategyFrame& frame, const StrategyState& state, size_t level) {
    while (level < now_.order.size() && mesh_size(level) == 1) ++level;
    if (level == now_.order.size()) return close(strategy_at_hand());
    const int mesh_dim = static_cast<int>(now_.order[level]);
    for (const int rule : rules_) {
      StrategyState next = state;
      if (next.apply(frame, choices_.rules()[rule].rule, mesh_dim).refused()) continue;
      now_.rules[mesh_dim] = rule;
      if (Status status = place_next(frame, next, level + 1); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  int64_t mesh_size(size_t level) const {
    return subject_.mesh.size(static_cast<int>(now_.order[level]));
  }

  NodeStrategy strategy_at_hand() const {
    NodeStrategy made;
    made.order = now_.order;
    for (const int rule : now_.rules) made.rules.push_back(choices_.rules()[rule].rule);
    for (size_t slot = 0; slot < node_.slots.size(); ++slot) {
      made.inputs.push_back(
          node_.call.inputs[slot] ? input_layout(choices_, now_, slot, subject_.mesh) : Layout());
    }
    for (size_t slot = 0; slot < node_.outputs.size(); ++slot) {
      made.outputs.push_back(
          node_.outputs[slot] ? output_layout(choices_, now_, slot, subject_.mesh) : Layout());
    }
    return made;
  }

  // `fault` is of the pack's own doing; the status says why the strategy is not valid.
  Status price(PricedStrategy& priced, Status& fault) {
    std::vector<uint64_t> tags;
    for (const Rule& rule : priced.strategy.rules) tags.push_back(rule.tag);
    const Result<int64_t> ps =
        longest_ps(subject_, priced.strategy.inputs, priced.strategy.outputs, tags, time_, fault);
    if (!ps.ok()) return ps.status();
    priced.compute_ps = *ps;
    const Result<std::vector<JointGroup>> groups =
        joint_groups(joint_placements(priced.strategy.outputs), registry_);
    if (!groups.ok()) return fault = groups.status();
    for (const JointGroup& group : *groups) {
      Result<std::shared_ptr<const Plan>> plan =
          make_settling_plan(node_, priced.strategy, group, model_);
      if (!plan.ok()) return fault = plan.status();
      priced.settling_ps += to_ps((*plan)->cost_us);
      priced.settling.push_back(*std::move(plan));
    }
    return absl::OkStatus();
  }

  const ResolvedNode& node_;
  const RuleChoices& choices_;
  const SelectSubject& subject_;
  const CostModel& model_;
  const Registry& registry_;
  LayoutPool& pool_;
  ComputeTime& time_;
  StrategyTable& table_;
  std::span<const int> rules_;
  Strategy now_;
  absl::flat_hash_set<MemoKey> known_;
  Status refusal_;
};

// What the outputs of the strategies can have.
void note_natural(const ResolvedNode& node, StrategyTable& table) {
  table.natural.resize(node.outputs.size());
  for (const PricedStrategy& priced : table.strategies) {
    for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
      for (const Placement& placement : priced.strategy.outputs[slot].placements) {
        if (is_special(placement)) insert(table.natural[slot], placement);
      }
    }
  }
}

// The strided shards that inputs can have, as a layout that holds them.
Layout strided_of(std::span<const PlacementSet* const> inputs) {
  Layout layout;
  for (const PlacementSet* set : inputs) {
    if (set == nullptr) continue;
    for (const Placement& placement : *set) {
      if (placement.is_shard()) layout.placements.push_back(placement);
    }
  }
  return layout;
}

}  // namespace

std::vector<Dims> cutting_orders(const Mesh& mesh) {
  const Dims plain = Layout::replicated(mesh.ndim()).cutting_order();
  Dims cuts;
  for (const int64_t mesh_dim : plain) {
    if (mesh.size(static_cast<int>(mesh_dim)) > 1) cuts.push_back(mesh_dim);
  }
  if (cuts.size() > kMostPermuted) return {plain};
  std::vector<Dims> orders;
  do {
    Dims order = plain;
    size_t next = 0;
    for (int64_t& mesh_dim : order) {
      if (mesh.size(static_cast<int>(mesh_dim)) > 1) mesh_dim = cuts[next++];
    }
    orders.push_back(std::move(order));
  } while (std::next_permutation(cuts.begin(), cuts.end()));
  return orders;
}

StrategyTables::StrategyTables(const Registry& registry, const CostModel& model,
                               const Roofline& roofline, const SelectOptions& options,
                               LayoutPool& pool)
    : registry_(registry),
      model_(model),
      roofline_(roofline),
      options_(options),
      pool_(pool),
      orders_(cutting_orders(model.mesh())) {}

Result<const StrategyTable*> StrategyTables::of(const ResolvedNode& node,
                                                std::span<const PlacementSet* const> inputs,
                                                const std::vector<Rule>* given) {
  std::string key = key_of(node, inputs, given);
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;
  const ForeignCall running(*node.op, "its strategies");
  Result<StrategyTable> table = given == nullptr ? enumerate(node, inputs) : of_given(node, *given);
  if (!table.ok()) return table.status();
  note_natural(node, *table);
  tables_.push_back(*std::move(table));
  return by_key_[std::move(key)] = &tables_.back();
}

Result<StrategyTable> StrategyTables::enumerate(const ResolvedNode& node,
                                                std::span<const PlacementSet* const> inputs) {
  const Layout strided = strided_of(inputs);
  const Layout* const present[] = {&strided};
  const Result<RuleChoices> choices = RuleChoices::create(*node.op, node.call, node.outputs,
                                                          registry_, present, options_.exact_rules);
  if (!choices.ok()) return choices.status();
  const std::vector<int> rules = rules_worth_trying(*choices, inputs);
  const Mesh& mesh = model_.mesh();
  const std::vector<Layout> current(node.slots.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject subject{*node.op, node.call, node.outputs, current, mesh, options_.policy};
  ComputeTime time(subject, roofline_);
  StrategyTable table;
  Enumeration enumeration(node, *choices, subject, model_, registry_, pool_, time, table);
  for (const Dims& order : orders_) {
    if (Status status = enumeration.run(order, rules); !status.ok()) return status;
  }
  if (table.size() > 0) return table;
  return absl::FailedPreconditionError(
      fmt::format("no strategy is valid on {} under the policy {}{}{}", mesh.format(),
                  policy_name(options_.policy), enumeration.refusal().ok() ? "" : ": ",
                  message_of(enumeration.refusal())));
}

Result<StrategyTable> StrategyTables::of_given(const ResolvedNode& node,
                                               const std::vector<Rule>& given) {
  const Mesh& mesh = model_.mesh();
  Result<NodeStrategy> strategy = make_node_strategy(
      node, registry_, mesh, given, Layout::replicated(mesh.ndim()).cutting_order());
  if (!strategy.ok()) return strategy.status();
  const std::vector<Layout> current(node.slots.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject subject{*node.op, node.call, node.outputs, current, mesh, Policy::kAny};
  ComputeTime time(subject, roofline_);
  StrategyTable table;
  const RuleChoices none;
  Enumeration enumeration(node, none, subject, model_, registry_, pool_, time, table);
  if (Status status = enumeration.close(*std::move(strategy)); !status.ok()) return status;
  if (table.size() > 0) return table;
  return enumeration.refusal();
}

}  // namespace onedim
