#include "core/redistribute/plan_price.hpp"

#include <algorithm>
#include <array>

#include "core/redistribute/planner.hpp"
#include "core/redistribute/step_price.hpp"

namespace onedim {
namespace {

// One plan's steps among those of its state graph.
class StepReading {
 public:
  StepReading(const CostModel& model, const TensorMeta& tensor, StateGraph& graph)
      : model_(model), graph_(graph), group_{{{tensor.shape, size_of(tensor.dtype)}}} {}

  Result<double> us(const PlanStep& step) {
    if (step.kind == StepKind::kAlias) return 0.0;
    const std::optional<StateCode> from = graph_.alphabet().encode(step.from);
    const std::optional<StateCode> to = graph_.alphabet().encode(step.to);
    if (!from || !to) return no_step(step);
    const StateSizes from_sizes = sizes(*from), to_sizes = sizes(*to);
    const int source = graph_.intern(*from);
    StateStep found;
    if (step.kind == StepKind::kReorder) {
      if (*from != *to) return no_step(step);
      found.kind = step.kind;
      found.to = source;
    } else {
      const std::optional<StateStep> listed = find(step, source, *to);
      if (!listed) return no_step(step);
      found = *listed;
    }
    pricer_.start(model_, graph_, group_, step.is_view);
    const StepContext context{&graph_,          source, &from_sizes, &to_sizes, step.from_outermost,
                              step.to_outermost};
    const int64_t ps = pricer_.price(found, context).ps;
    if (ps >= kImpossible) return no_step(step);
    return static_cast<double>(ps) / 1e6;
  }

 private:
  StateSizes sizes(StateCode code) const {
    return measure_state(graph_.alphabet(), group_, Policy::kAny, code);
  }

  std::optional<StateStep> find(const PlanStep& step, int source, StateCode to) {
    uint8_t mesh_dims = 0;
    for (int i = 0; i < graph_.alphabet().mesh_ndim(); ++i) {
      if ((step.mesh_dims >> graph_.alphabet().mesh_dim(i) & 1) != 0)
        mesh_dims |= static_cast<uint8_t>(1 << i);
    }
    graph_.expand(source);
    for (const StateStep& listed : graph_.steps(source)) {
      if (listed.kind == step.kind && listed.mesh_dims == mesh_dims &&
          graph_.code(listed.to) == to) {
        return listed;
      }
    }
    return std::nullopt;
  }

  Status no_step(const PlanStep& step) const {
    const Mesh& mesh = model_.mesh();
    return invalid_argument("no {} leads from {} to {}", step_kind_name(step.kind),
                            format_layout(step.from, mesh), format_layout(step.to, mesh));
  }

  const CostModel& model_;
  StateGraph& graph_;
  std::array<GroupMember, 1> group_;
  StepPricer pricer_;
};

}  // namespace

Result<std::vector<double>> price_steps(const Plan& plan, const TensorMeta& tensor,
                                        const CostModel& model, GraphStore& graphs) {
  const Mesh& mesh = model.mesh();
  const auto parted = std::count_if(mesh.sizes().begin(), mesh.sizes().end(),
                                    [](int64_t size) { return size > 1; });
  const bool fills_shards =
      std::any_of(plan.steps.begin(), plan.steps.end(),
                  [](const PlanStep& step) { return step.kind == StepKind::kShardToPartial; });
  const std::array<const Layout*, 2> ends = {&plan.from, &plan.to};
  const Result<std::shared_ptr<StateGraph>> graph =
      graphs.lease({static_cast<int>(tensor.shape.size()), partial_kinds(plan.from, plan.to), ends,
                    fills_shards, parted > Planner::kMostFreeMeshDims});
  if (!graph.ok()) return graph.status();
  StepReading reading(model, tensor, **graph);
  std::vector<double> prices;
  for (const PlanStep& step : plan.steps) {
    const Result<double> us = reading.us(step);
    if (!us.ok()) return annotate(us.status(), fmt::format("steps[{}]", prices.size()));
    prices.push_back(*us);
  }
  return prices;
}

}  // namespace onedim
