#include "core/graph/solution_price.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/text.hpp"
#include "core/graph/settling_plan.hpp"
#include "core/redistribute/plan_price.hpp"
#include "core/select/compute_time.hpp"

namespace onedim {
namespace {

Result<double> node_us(const ResolvedNode& node, const NodeStrategy& strategy, const Mesh& mesh,
                       const Roofline& roofline) {
  const std::vector<Layout> current(node.slots.size(), Layout::replicated(mesh.ndim()));
  const SelectSubject subject{*node.op, node.call, node.outputs, current, mesh, Policy::kAny};
  std::vector<uint64_t> tags;
  for (const Rule& rule : strategy.rules) tags.push_back(rule.tag);
  ComputeTime time(subject, roofline);
  Status fault;
  const Result<int64_t> ps =
      longest_ps(subject, strategy.inputs, strategy.outputs, tags, time, fault);
  if (!ps.ok()) return ps.status();
  return static_cast<double>(*ps) / 1e6;
}

// Prices the moves of one solution.
class MovePricing {
 public:
  MovePricing(const ResolvedGraph& resolved, const Solution& solution, const CostModel& model)
      : resolved_(resolved),
        solution_(solution),
        model_(model),
        graphs_(model.mesh()),
        makers_(makers_of(*resolved.graph)) {}

  Result<std::vector<double>> step_us(const ValueMove& move) {
    if (is_settling(move)) return settling_us(move);
    return price_steps(*move.plan, resolved_.graph->values[move.values[0]].meta, model_, graphs_);
  }

 private:
  // Of the state that merges, which the solution does not describe.
  Result<std::vector<double>> settling_us(const ValueMove& move) const {
    const int maker = makers_[move.values[0]];
    if (maker < 0) return invalid_argument("no node makes what is settled");
    const NodeStrategy& strategy = solution_.nodes[maker];
    const Result<std::vector<JointGroup>> groups =
        joint_groups(joint_placements(strategy.outputs), *resolved_.registry);
    if (!groups.ok()) return groups.status();
    const std::vector<ValueId>& outputs = resolved_.graph->nodes[maker].outputs;
    for (const JointGroup& group : *groups) {
      if (outputs[group.outputs[0]] != move.values[0]) continue;
      const Result<std::shared_ptr<const Plan>> plan =
          make_settling_plan(resolved_.nodes[maker], strategy, group, model_);
      if (!plan.ok()) return plan.status();
      return std::vector<double>{(*plan)->cost_us};
    }
    return invalid_argument("its node makes nothing that must be settled");
  }

  const ResolvedGraph& resolved_;
  const Solution& solution_;
  const CostModel& model_;
  GraphStore graphs_;
  const std::vector<int> makers_;
};

}  // namespace

double PricedSolution::move_us(int move) const {
  return std::accumulate(step_us[move].begin(), step_us[move].end(), 0.0);
}

Result<PricedSolution> price_solution(const ResolvedGraph& resolved, const Solution& solution,
                                      const CostModel& model, const Roofline& roofline) {
  const Graph& graph = *resolved.graph;
  PricedSolution priced;
  for (int node = 0; node < graph.node_count(); ++node) {
    const Result<double> us =
        node_us(resolved.nodes[node], solution.nodes[node], model.mesh(), roofline);
    if (!us.ok()) return annotate(us.status(), node_text(graph.nodes[node]));
    priced.node_us.push_back(*us);
    priced.compute_us += *us;
  }
  MovePricing pricing(resolved, solution, model);
  for (const ValueMove& move : solution.moves) {
    Result<std::vector<double>> us = pricing.step_us(move);
    if (!us.ok()) {
      return annotate(us.status(), fmt::format("the move of {}",
                                               quoted_excerpt(graph.values[move.values[0]].name)));
    }
    priced.step_us.push_back(*std::move(us));
    priced.communication_us += priced.move_us(static_cast<int>(priced.step_us.size()) - 1);
  }
  return priced;
}

}  // namespace onedim
