#include "core/plan/network_solution.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/pack/joint_group.hpp"
#include "core/redistribute/step_price.hpp"

namespace onedim {
namespace {

class SolutionMaker {
 public:
  SolutionMaker(const ResolvedGraph& resolved, NetworkBuilder& builder, Planner& planner,
                const PlanOptions& options, const Assignment& assignment)
      : resolved_(resolved),
        graph_(*resolved.graph),
        builder_(builder),
        network_(builder.result()),
        planner_(planner),
        options_(options),
        assignment_(assignment) {}

  Result<TimedSolution> make() {
    Solution& solution = timed_.solution;
    solution.mesh = planner_.mesh();
    solution.given.resize(graph_.values.size());
    for (ValueId value = 0; value < graph_.value_count(); ++value) {
      if (graph_.values[value].is_given()) solution.given[value] = layout(made(value));
    }
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (Status status = add_node(node); !status.ok()) return status;
    }
    for (ValueId value = 0; value < graph_.value_count(); ++value) {
      if (Status status = add_moves(value); !status.ok())
        return annotate(status, "value " + quoted_excerpt(graph_.values[value].name));
    }
    return std::move(timed_);
  }

 private:
  const Layout& layout(LayoutId id) const { return network_.layouts.layout(id); }
  const PlannedValue& planned(ValueId value) const { return network_.values[value]; }
  const Wants& at(ColumnId column, int variable) {
    return builder_.moves().column(column)[assignment_[variable]];
  }
  LayoutId made(ValueId value) { return at(planned(value).made, planned(value).variable)[0]; }

  Status add_node(int node) {
    const PricedStrategy& priced =
        network_.tables[node]->strategies[assignment_[network_.first_node + node]];
    timed_.solution.nodes.push_back(priced.strategy);
    timed_.compute_ps.push_back(priced.compute_ps);
    timed_.total_compute_ps += priced.compute_ps;
    timed_.communication_ps += priced.settling_ps;
    if (priced.settling.empty()) return absl::OkStatus();
    const Result<std::vector<JointGroup>> groups =
        joint_groups(joint_placements(priced.strategy.outputs), *resolved_.registry);
    if (!groups.ok()) return groups.status();
    for (size_t group = 0; group < groups->size(); ++group) {
      std::vector<ValueId> values;
      for (const int output : (*groups)[group].outputs)
        values.push_back(graph_.nodes[node].outputs[output]);
      const std::shared_ptr<const Plan>& plan = priced.settling[group];
      timed_.solution.moves.push_back({std::move(values), plan->from, plan->to, {}, false, plan});
    }
    return absl::OkStatus();
  }

  Status add_moves(ValueId value) {
    std::vector<ValueMove> moves;
    const PlannedValue& planned = this->planned(value);
    if (planned.variable < 0) return absl::OkStatus();
    const LayoutId source = at(planned.source, planned.variable)[0];
    for (const ConsumerGroup& group : planned.groups) {
      if (Status status = add_group(value, source, group, moves); !status.ok()) return status;
    }
    const LayoutId made = this->made(value);
    const bool is_output = planned.placed != kNoLayout && is_given_out(value);
    if (made != source && (!moves.empty() || !taken_at_source_.empty() || is_output)) {
      Result<ValueMove> move = make_move(value, made, source);
      if (!move.ok()) return move.status();
      move->consumers = taken_at_source_;
      move->is_output = is_output;
      moves.insert(moves.begin(), *std::move(move));
    }
    taken_at_source_.clear();
    for (ValueMove& move : moves) timed_.solution.moves.push_back(std::move(move));
    return absl::OkStatus();
  }

  bool is_given_out(ValueId value) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end() ||
           std::any_of(graph_.gradients.begin(), graph_.gradients.end(),
                       [&](const Gradient& pair) { return pair.gradient == value; });
  }

  Status add_group(ValueId value, LayoutId source, const ConsumerGroup& group,
                   std::vector<ValueMove>& moves) {
    const HubValue hub = hub_of(source, group);
    std::vector<ValueMove> own;
    ValueMove shared;
    bool is_shared = false;
    for (const PlanConsumer& consumer : group.consumers) {
      for (const LayoutId want : at(consumer.wants, consumer.variable)) {
        if (want == source) {
          if (consumer.node >= 0) taken_at_source_.push_back(consumer.node);
          continue;
        }
        if (want == hub.copy) {
          is_shared = true;
          take(shared, consumer);
          continue;
        }
        const Result<LayoutId> from = builder_.moves().nearer(graph_.values[value].meta, hub, want);
        if (!from.ok()) return from.status();
        is_shared |= *from == hub.copy;
        Result<ValueMove> move = make_move(value, *from, want);
        if (!move.ok()) return move.status();
        take(*move, consumer);
        own.push_back(*std::move(move));
      }
    }
    if (is_shared) {
      Result<ValueMove> move = make_move(value, source, hub.copy);
      if (!move.ok()) return move.status();
      move->consumers = shared.consumers;
      move->is_output = shared.is_output;
      moves.push_back(*std::move(move));
    }
    std::move(own.begin(), own.end(), std::back_inserter(moves));
    return absl::OkStatus();
  }

  HubValue hub_of(LayoutId source, const ConsumerGroup& group) {
    if (group.copy_variable < 0) return {source, kNoLayout};
    if (group.hub >= 0)
      return builder_.moves().hub(group.hub).values[assignment_[group.copy_variable]];
    const LayoutId copy = at(group.copy, group.copy_variable)[0];
    return {source, copy == source ? kNoLayout : copy};
  }

  static void take(ValueMove& move, const PlanConsumer& consumer) {
    if (consumer.node == PlanConsumer::kOutput)
      move.is_output = true;
    else
      move.consumers.push_back(consumer.node);
  }

  Result<ValueMove> make_move(ValueId value, LayoutId from, LayoutId to) {
    Result<std::shared_ptr<const Plan>> plan =
        planner_.plan(graph_.values[value].meta, layout(from), layout(to), options_);
    if (!plan.ok()) return absl::InternalError(std::string(message_of(plan.status())));
    timed_.communication_ps += to_ps((*plan)->cost_us);
    return ValueMove{{value}, layout(from), layout(to), {}, false, *std::move(plan)};
  }

  const ResolvedGraph& resolved_;
  const Graph& graph_;
  NetworkBuilder& builder_;
  const PlanNetwork& network_;
  Planner& planner_;
  PlanOptions options_;
  const Assignment& assignment_;
  std::vector<int> taken_at_source_;  // nodes, of the value at hand
  TimedSolution timed_;
};

}  // namespace

Result<TimedSolution> make_solution(const ResolvedGraph& resolved, NetworkBuilder& builder,
                                    Planner& planner, const PlanOptions& options,
                                    const Assignment& assignment) {
  return SolutionMaker(resolved, builder, planner, options, assignment).make();
}

}  // namespace onedim
