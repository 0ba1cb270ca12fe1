#include "core/plan/plan_network.hpp"

#include <algorithm>
#include <map>

#include "core/base/text.hpp"
#include "core/layout/index_map.hpp"
#include "core/layout/layout_check.hpp"
#include "core/pack/variant.hpp"
#include "core/select/equal_layouts.hpp"
#include "core/select/strategy.hpp"

namespace onedim {
namespace {

std::vector<Wants> one_each(std::span<const LayoutId> layouts) {
  std::vector<Wants> column;
  for (const LayoutId layout : layouts) column.push_back({layout});
  return column;
}

std::string value_text(const GraphValue& value) { return "value " + quoted_excerpt(value.name); }

}  // namespace

NetworkBuilder::NetworkBuilder(const ResolvedGraph& resolved, const NamedPlacements& named,
                               Planner& planner, const Roofline& roofline,
                               const NetworkOptions& options)
    : resolved_(resolved),
      graph_(*resolved.graph),
      named_(named),
      mesh_(planner.mesh()),
      options_(options),
      tables_(*resolved.registry, planner.model(), roofline, options.select, result_.layouts),
      prices_(planner, plan_options(options.select), result_.layouts),
      moves_(prices_, result_.network),
      orders_(cutting_orders(mesh_)),
      natural_(graph_.values.size()),
      given_(graph_.values.size()) {
  result_.network.name = graph_.name;
  result_.values.resize(graph_.values.size());
  for (PlannedValue& value : result_.values) value.groups.resize(2);
}

Status NetworkBuilder::build() {
  note_written();
  if (options_.parameter_bytes) result_.network.memory_limit = *options_.parameter_bytes;
  for (ValueId value = 0; value < graph_.value_count(); ++value) {
    if (!graph_.values[value].is_given()) continue;
    if (Status status = add_given(value); !status.ok())
      return annotate(status, value_text(graph_.values[value]));
  }
  result_.first_node = static_cast<int>(result_.network.nodes.size());
  for (int node = 0; node < graph_.node_count(); ++node) {
    if (Status status = add_node(node); !status.ok())
      return annotate(status, node_text(graph_.nodes[node]));
  }
  for (int node = 0; node < graph_.node_count(); ++node) add_consumers(node);
  if (Status status = add_outputs(); !status.ok()) return status;
  for (ValueId value = 0; value < graph_.value_count(); ++value) {
    if (Status status = connect(value); !status.ok())
      return annotate(status, value_text(graph_.values[value]));
  }
  return absl::OkStatus();
}

void NetworkBuilder::note_written() {
  std::vector<ValueId> roots(graph_.values.size());
  std::vector<bool> is_written(graph_.values.size());
  for (ValueId value = 0; value < graph_.value_count(); ++value) roots[value] = value;
  for (int node = 0; node < graph_.node_count(); ++node) {
    const ResolvedNode& resolved = resolved_.nodes[node];
    for (size_t slot = 0; slot < resolved.outputs.size(); ++slot) {
      const OptionalOutput& output = resolved.outputs[slot];
      if (output && output->view_of_input >= 0)
        roots[graph_.nodes[node].outputs[slot]] = roots[resolved.slots[output->view_of_input]];
    }
    for (const int slot : written_slots(*resolved.op, resolved.call)) {
      if (resolved.slots[slot] != kNoValue) is_written[roots[resolved.slots[slot]]] = true;
    }
  }
  for (ValueId value = 0; value < graph_.value_count(); ++value)
    result_.values[value].may_move = !is_written[roots[value]];
}

LayoutId NetworkBuilder::intern(const Layout& layout, const TensorMeta& tensor) {
  return result_.layouts.intern(without_unit_dims(layout, mesh_, tensor.shape));
}

// All of R and S that the policy allows, in every order of cuts.
Result<std::vector<LayoutId>> NetworkBuilder::free_layouts(const TensorMeta& tensor) {
  const auto [known, is_new] =
      free_.try_emplace(std::make_pair(static_cast<int>(tensor.dtype), tensor.shape));
  if (!is_new) return known->second;
  std::vector<std::vector<Placement>> products{{}};
  for (int mesh_dim = 0; mesh_dim < mesh_.ndim(); ++mesh_dim) {
    std::vector<std::vector<Placement>> longer;
    for (const std::vector<Placement>& product : products) {
      for (int dim = -1; dim < static_cast<int>(tensor.shape.size()); ++dim) {
        if (dim >= 0 && (mesh_.size(mesh_dim) == 1 || tensor.shape[dim] == 1)) continue;
        longer.push_back(product);
        longer.back().push_back(dim < 0 ? Placement::replicate() : Placement::shard(dim));
      }
    }
    products = std::move(longer);
  }
  std::vector<LayoutId> layouts;
  for (const Dims& order : orders_) {
    for (const std::vector<Placement>& product : products) {
      const Layout layout = layout_in_order(product, order);
      if (!check_policy(tensor, layout, mesh_, options_.select.policy).ok()) continue;
      const LayoutId id = intern(layout, tensor);
      if (std::find(layouts.begin(), layouts.end(), id) == layouts.end()) layouts.push_back(id);
    }
  }
  return free_.at(std::make_pair(static_cast<int>(tensor.dtype), tensor.shape)) = layouts;
}

// Of rank 0, which holds most.
int64_t NetworkBuilder::local_bytes(const TensorMeta& tensor, LayoutId layout) const {
  const Dims origin(static_cast<size_t>(mesh_.ndim()), 0);
  const IndexMap map = index_map(tensor.shape, result_.layouts.layout(layout), mesh_, origin);
  return volume(map.local_shape()) * size_of(tensor.dtype);
}

Status NetworkBuilder::add_given(ValueId value) {
  const TensorMeta& tensor = graph_.values[value].meta;
  PlannedValue& planned = result_.values[value];
  if (const std::optional<Layout>& placed = named_.values[value]) {
    if (Status status = check_placements(tensor, *placed, mesh_); !status.ok()) return status;
    given_[value] = {intern(*placed, tensor)};
    for (const Placement& placement : placed->placements) {
      if (placement.is_partial() && !is_builtin_partial(placement.partial)) {
        return invalid_argument("{} is a partial of a pack, which only a node can make",
                                format_placement(placement));
      }
      if (is_special(placement)) insert(natural_[value], placement);
    }
  } else {
    Result<std::vector<LayoutId>> layouts = free_layouts(tensor);
    if (!layouts.ok()) return layouts.status();
    given_[value] = *std::move(layouts);
  }
  planned.variable = result_.network.add_node(std::vector<Cost>(given_[value].size(), 0));
  planned.made = planned.source = moves_.add_column(one_each(given_[value]));
  if (graph_.values[value].kind != ValueKind::kParam || !options_.parameter_bytes)
    return absl::OkStatus();
  MemoryUse use{0, 1, {}};
  for (const LayoutId layout : given_[value]) use.bytes.push_back(local_bytes(tensor, layout));
  result_.network.nodes[planned.variable].uses.push_back(std::move(use));
  return absl::OkStatus();
}

Status NetworkBuilder::add_node(int node) {
  const ResolvedNode& resolved = resolved_.nodes[node];
  std::vector<const PlacementSet*> inputs;
  for (const ValueId value : resolved.slots)
    inputs.push_back(value == kNoValue ? nullptr : &natural_[value]);
  const auto rules = named_.rules.find(node);
  const Result<const StrategyTable*> table =
      tables_.of(resolved, inputs, rules == named_.rules.end() ? nullptr : &rules->second);
  if (!table.ok()) return table.status();
  result_.tables.push_back(*table);
  std::vector<Cost> costs;
  for (const PricedStrategy& priced : (*table)->strategies)
    costs.push_back(priced.compute_ps + priced.settling_ps);
  result_.network.add_node(std::move(costs));
  const std::vector<ValueId>& outputs = graph_.nodes[node].outputs;
  for (size_t slot = 0; slot < outputs.size(); ++slot) {
    if (outputs[slot] == kNoValue) continue;
    if (Status status = place_output(node, slot); !status.ok())
      return annotate(status, fmt::format("output {}", slot));
  }
  return absl::OkStatus();
}

Status NetworkBuilder::place_output(int node, size_t slot) {
  const ValueId value = graph_.nodes[node].outputs[slot];
  const TensorMeta& tensor = graph_.values[value].meta;
  const StrategyTable& table = *result_.tables[node];
  PlannedValue& planned = result_.values[value];
  planned.variable = result_.first_node + node;
  planned.made = planned.source = moves_.add_column(one_each(table.outputs[slot]));
  natural_[value] = table.natural[slot];
  if (!named_.values[value]) return absl::OkStatus();
  const Layout& placed = *named_.values[value];
  if (Status status = check_placements(tensor, placed, mesh_); !status.ok()) return status;
  planned.placed = intern(placed, tensor);
  planned.source = moves_.add_column(std::vector<Wants>(table.size(), Wants{planned.placed}));
  natural_[value].clear();
  for (const Placement& placement : placed.placements) {
    if (is_special(placement)) insert(natural_[value], placement);
  }
  std::vector<Cost>& costs = result_.network.nodes[planned.variable].costs;
  for (int strategy = 0; strategy < table.size(); ++strategy) {
    const LayoutId made = table.outputs[slot][strategy];
    if (made == planned.placed) continue;
    const Result<Cost> cost =
        planned.may_move ? moves_.price(tensor, made, planned.placed) : Result<Cost>(kForbidden);
    if (!cost.ok()) return cost.status();
    costs[strategy] = std::min(kForbidden, costs[strategy] + *cost);
  }
  return absl::OkStatus();
}

void NetworkBuilder::add_consumer(ValueId value, Phase phase, PlanConsumer consumer) {
  result_.values[value].groups[phase == Phase::kBackward ? 1 : 0].consumers.push_back(consumer);
}

// One consumer for each value, however many slots it stands in.
void NetworkBuilder::add_consumers(int node) {
  const ResolvedNode& resolved = resolved_.nodes[node];
  const StrategyTable& table = *result_.tables[node];
  std::map<ValueId, std::vector<size_t>> slots;
  for (size_t slot = 0; slot < resolved.slots.size(); ++slot) {
    if (resolved.slots[slot] != kNoValue) slots[resolved.slots[slot]].push_back(slot);
  }
  for (const auto& [value, of_value] : slots) {
    std::vector<Wants> column(table.size());
    for (int strategy = 0; strategy < table.size(); ++strategy) {
      Wants& wants = column[strategy];
      for (const size_t slot : of_value) wants.push_back(table.inputs[slot][strategy]);
      std::sort(wants.begin(), wants.end());
      wants.erase(std::unique(wants.begin(), wants.end()), wants.end());
    }
    add_consumer(value, graph_.nodes[node].phase,
                 {node, result_.first_node + node, moves_.add_column(std::move(column))});
  }
}

Status NetworkBuilder::add_outputs() {
  const Phase last = graph_.nodes.empty() ? Phase::kForward : graph_.nodes.back().phase;
  std::vector<bool> is_done(graph_.values.size());
  for (const Gradient& pair : graph_.gradients) {
    if (is_done[pair.gradient]) continue;
    is_done[pair.gradient] = true;
    if (result_.values[pair.gradient].placed != kNoLayout) continue;
    const PlannedValue& param = result_.values[pair.param];
    add_consumer(pair.gradient, last, {PlanConsumer::kOutput, param.variable, param.made});
  }
  for (const ValueId value : graph_.outputs) {
    if (value == kNoValue || is_done[value]) continue;
    is_done[value] = true;
    if (result_.values[value].placed != kNoLayout || natural_[value].empty()) continue;
    if (Status status = add_output(value); !status.ok())
      return annotate(status, value_text(graph_.values[value]));
  }
  return absl::OkStatus();
}

// Any layout but a partial.
Status NetworkBuilder::add_output(ValueId value) {
  PlannedValue& planned = result_.values[value];
  Result<std::vector<LayoutId>> layouts = free_layouts(graph_.values[value].meta);
  if (!layouts.ok()) return layouts.status();
  for (const Wants& made : moves_.column(planned.source)) {
    const Layout& layout = result_.layouts.layout(made[0]);
    const bool is_whole = std::none_of(layout.placements.begin(), layout.placements.end(),
                                       [](const Placement& p) { return p.is_partial(); });
    const bool is_known = std::find(layouts->begin(), layouts->end(), made[0]) != layouts->end();
    if (is_whole && !is_known) layouts->push_back(made[0]);
  }
  const int variable = result_.network.add_node(std::vector<Cost>(layouts->size(), 0));
  const Phase last = graph_.nodes.empty() ? Phase::kForward : graph_.nodes.back().phase;
  add_consumer(value, last,
               {PlanConsumer::kOutput, variable, moves_.add_column(one_each(*layouts))});
  return absl::OkStatus();
}

Status NetworkBuilder::connect(ValueId value) {
  std::vector<ConsumerGroup>& groups = result_.values[value].groups;
  std::erase_if(groups, [](const ConsumerGroup& group) { return group.consumers.empty(); });
  for (ConsumerGroup& group : groups) {
    if (Status status = connect_group(value, group); !status.ok()) return status;
  }
  return absl::OkStatus();
}

Status NetworkBuilder::connect_group(ValueId value, ConsumerGroup& group) {
  size_t wants = 0;
  for (const PlanConsumer& consumer : group.consumers) {
    size_t most = 0;
    for (const Wants& some : moves_.column(consumer.wants)) most = std::max(most, some.size());
    wants += most;
  }
  if (wants <= 1 || !result_.values[value].may_move) return connect_directly(value, group);
  return wants == 2 ? connect_pair(value, group) : connect_many(value, group);
}

Status NetworkBuilder::connect_directly(ValueId value, const ConsumerGroup& group) {
  const PlannedValue& planned = result_.values[value];
  for (const PlanConsumer& consumer : group.consumers) {
    const Result<int> table =
        moves_.direct(graph_.values[value].meta, planned.source, consumer.wants, planned.may_move);
    if (!table.ok()) return table.status();
    add_edge(planned.variable, consumer.variable, *table);
  }
  return absl::OkStatus();
}

Status NetworkBuilder::connect_pair(ValueId value, ConsumerGroup& group) {
  const PlannedValue& planned = result_.values[value];
  const TensorMeta& tensor = graph_.values[value].meta;
  std::vector<ColumnId> ends{planned.source};
  for (const PlanConsumer& consumer : group.consumers) ends.push_back(consumer.wants);
  const std::vector<LayoutId> layouts = moves_.layouts_of(ends);
  group.copy = moves_.add_column(one_each(layouts));
  group.copy_variable = result_.network.add_node(std::vector<Cost>(layouts.size(), 0));
  const Result<int> made = moves_.direct(tensor, planned.source, group.copy, true);
  if (!made.ok()) return made.status();
  add_edge(planned.variable, group.copy_variable, *made);
  for (const PlanConsumer& consumer : group.consumers) {
    const Result<int> table = moves_.direct(tensor, group.copy, consumer.wants, true);
    if (!table.ok()) return table.status();
    add_edge(group.copy_variable, consumer.variable, *table);
  }
  return absl::OkStatus();
}

Status NetworkBuilder::connect_many(ValueId value, ConsumerGroup& group) {
  const PlannedValue& planned = result_.values[value];
  const TensorMeta& tensor = graph_.values[value].meta;
  std::vector<ColumnId> wants;
  for (const PlanConsumer& consumer : group.consumers) wants.push_back(consumer.wants);
  std::sort(wants.begin(), wants.end());
  const Result<int> hub = moves_.hub(tensor, planned.source, wants);
  if (!hub.ok()) return hub.status();
  group.hub = *hub;
  group.copy_variable = result_.network.add_node(moves_.hub(*hub).costs);
  add_edge(planned.variable, group.copy_variable, moves_.source_to_hub(planned.source, *hub));
  for (const PlanConsumer& consumer : group.consumers) {
    const Result<int> table = moves_.hub_to_consumer(tensor, *hub, consumer.wants);
    if (!table.ok()) return table.status();
    add_edge(group.copy_variable, consumer.variable, *table);
  }
  return absl::OkStatus();
}

// An edge from a variable to itself costs what stands on the diagonal.
void NetworkBuilder::add_edge(int from, int to, int table) {
  if (from != to) return result_.network.add_edge(from, to, table);
  const CostTable& cells = result_.network.tables[table];
  std::vector<Cost>& costs = result_.network.nodes[from].costs;
  for (size_t value = 0; value < costs.size(); ++value)
    costs[value] = std::min(kForbidden, costs[value] + cells.cells[value * cells.columns + value]);
}

}  // namespace onedim
