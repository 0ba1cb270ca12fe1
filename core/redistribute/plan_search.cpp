#include "core/redistribute/plan_search.hpp"

#include <algorithm>

namespace onedim {
namespace {

// std heaps put the largest first.
constexpr auto kLater = [](const auto& a, const auto& b) {
  if (const auto order = a.cost <=> b.cost; order != 0) return order > 0;
  if (a.is_step() != b.is_step()) return b.is_step();  // a step may lead to a state of this cost
  return a.state > b.state;
};

}  // namespace

PlanSearch::Node& PlanSearch::node(int state) {
  if (static_cast<size_t>(state) >= nodes_.size()) nodes_.resize(graph_->size());
  Node& node = nodes_[state];
  if (node.sizes.bytes < 0) {
    const StateCode code = graph_->code(state);
    node.sizes = measure_state(graph_->alphabet(), request_.group, request_.policy, code);
    if (target_ >= 0 && node.sizes.is_allowed) node.floor_ps = bound_.floor_ps(code);
  }
  return node;
}

void PlanSearch::start(StateGraph& graph, const SearchRequest& request, int source, int target) {
  graph_ = &graph;
  request_ = request;
  pricer_.start(*request.model, graph, request.group);
  nodes_.clear();
  nodes_.resize(graph.size());
  queue_.clear();
  source_ = source;
  target_ = target;
  expanded_ = 0;
  const StateSizes sizes =
      measure_state(graph.alphabet(), request.group, request.policy, graph.code(source));
  // An all_to_all may move nothing only with strided shards and where cuts leave ranks empty.
  may_rename_ =
      graph.alphabet().has_strided() || request.policy == Policy::kAny || !sizes.is_allowed;
  if (target >= 0) {
    bound_.start(graph, request.group, graph.code(target), may_rename_,
                 request.allow_shard_to_partial, pricer_);
  }
  node(source);
  nodes_[source].sizes.is_allowed = true;
  nodes_[source].cost = {0, 0, 0, 0};
  queue_.push_back({nodes_[source].cost, source, -1});
}

void PlanSearch::push(const QueueEntry& entry) {
  queue_.push_back(entry);
  std::push_heap(queue_.begin(), queue_.end(), kLater);
}

// What the step costs at least, without counting what it moves.
PathCost PlanSearch::least_cost(const StateStep& step, const Node& from, const Node& to) {
  PathCost least = from.cost;
  ++least.steps;
  if (step.kind != StepKind::kAllToAll || may_rename_ || from.sizes.bytes == 0) return least;
  ++least.collectives;
  least.ps += pricer_.exchange_floor_ps(step.mesh_dims, std::max(from.sizes.bytes, to.sizes.bytes));
  return least;
}

void PlanSearch::relax(int state, int32_t number, const StateStep& step) {
  Node& to = node(step.to);
  if (to.is_done || !to.sizes.is_allowed) return;
  const Node& from = nodes_[state];
  PathCost least = least_cost(step, from, to);
  if (least.ps + to.floor_ps > limit_ps() || least > to.cost) return;
  if (pricer_.is_quick(step, from.sizes, to.sizes)) {
    relax_priced(state, number, step);
    return;
  }
  // Counting takes long and most such steps turn out too dear: it waits until the step's turn.
  least.ps += to.floor_ps;
  push({least, state, number});
}

void PlanSearch::relax_priced(int state, int32_t number, const StateStep& step) {
  Node& to = nodes_[step.to];
  if (to.is_done) return;
  const Node& from = nodes_[state];
  const StepPrice price = pricer_.price(step, {graph_, state, &from.sizes, &to.sizes});
  if (price.memory_bytes > request_.memory_bytes || price.ps >= kImpossible) return;
  PathCost cost = from.cost;
  cost.ps += price.ps;
  if (cost.ps >= kImpossible || cost.ps + to.floor_ps > limit_ps()) return;
  cost.bytes += price.bytes;
  cost.collectives += price.is_collective;
  ++cost.steps;
  const auto order = cost <=> to.cost;
  const bool is_tie = order == 0 && to.parent >= 0 && graph_->code(state) < graph_->code(to.parent);
  if (order > 0 || (order == 0 && !is_tie)) return;
  to.parent = state;
  to.step = number;
  to.cost = cost;
  if (is_tie) return;
  cost.ps += to.floor_ps;
  push({cost, step.to, -1});
}

void PlanSearch::expand(int state) {
  ++expanded_;
  graph_->expand(state);
  if (nodes_.size() < static_cast<size_t>(graph_->size())) nodes_.resize(graph_->size());
  const std::span<const StateStep> steps = graph_->steps(state);
  const int64_t bytes = nodes_[state].sizes.bytes;
  uint32_t too_dear = 0;  // an all_to_all's mesh dims
  uint32_t tried = 0;
  for (int32_t number = 0; number < static_cast<int32_t>(steps.size()); ++number) {
    const StateStep& step = steps[number];
    if (step.kind == StepKind::kAllToAll && target_ >= 0 && !may_rename_ && bytes > 0) {
      if (step.mesh_dims == too_dear) continue;
      if (step.mesh_dims != tried) {
        tried = step.mesh_dims;
        // What it leaves to do costs no less than what it found.
        const int64_t least = nodes_[state].cost.ps +
                              pricer_.exchange_floor_ps(step.mesh_dims, bytes) +
                              bound_.rest_ps(graph_->code(state));
        if (least > nodes_[target_].cost.ps) {
          too_dear = step.mesh_dims;
          continue;
        }
      }
    }
    relax(state, number, step);
  }
}

// Takes the next entry off the queue; the state that it settles, or -1.
int PlanSearch::pop() {
  std::pop_heap(queue_.begin(), queue_.end(), kLater);
  const QueueEntry entry = queue_.back();
  queue_.pop_back();
  if (entry.is_step()) {
    relax_priced(entry.state, entry.number, graph_->steps(entry.state)[entry.number]);
    return -1;
  }
  if (nodes_[entry.state].is_done) return -1;
  nodes_[entry.state].is_done = true;
  return entry.state;
}

void PlanSearch::run() {
  while (!queue_.empty()) {
    const int state = pop();
    if (state < 0) continue;
    if (state == target_) return;
    expand(state);
  }
}

std::optional<std::vector<PathStep>> PlanSearch::find(StateGraph& graph,
                                                      const SearchRequest& request, int source,
                                                      int target) {
  start(graph, request, source, target);
  run();
  if (!nodes_[target].is_done) return std::nullopt;
  std::vector<PathStep> path;
  for (int state = target; state != source; state = nodes_[state].parent) {
    const Node& node = nodes_[state];
    PathStep step{node.parent, graph.steps(node.parent)[node.step], {}};
    step.price =
        pricer_.price(step.step, {graph_, node.parent, &nodes_[node.parent].sizes, &node.sizes});
    path.push_back(step);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

void PlanSearch::begin(StateGraph& graph, const SearchRequest& request, int source) {
  start(graph, request, source, -1);
  settled_.clear();
}

void PlanSearch::settle(int64_t limit_ps) {
  while (!queue_.empty() && queue_.front().cost.ps <= limit_ps) {
    const int state = pop();
    if (state < 0) continue;
    settled_.push_back(state);
    expand(state);
  }
}

std::span<const PathCost> PlanSearch::find_all(StateGraph& graph, const SearchRequest& request,
                                               int source) {
  start(graph, request, source, -1);
  run();
  costs_.resize(nodes_.size());
  for (size_t state = 0; state < nodes_.size(); ++state) costs_[state] = nodes_[state].cost;
  return costs_;
}

}  // namespace onedim
