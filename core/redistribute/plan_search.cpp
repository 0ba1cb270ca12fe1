#include "core/redistribute/plan_search.hpp"

#include <algorithm>

namespace onedim {
namespace {

// std heaps put the largest first.
constexpr auto kLater = [](const auto& a, const auto& b) {
  if (a.cost.ps != b.cost.ps) return a.cost.ps > b.cost.ps;
  if (const auto order = a.cost <=> b.cost; order != 0) return order > 0;
  if (a.is_step() != b.is_step()) return b.is_step();  // a step may lead to a state of this cost
  return a.state > b.state;
};

// Steps of one kind over one set of mesh dims stand together.
uint32_t group_of(const StateStep& step) {
  return static_cast<uint32_t>(step.kind) << 8 | step.mesh_dims;
}

bool is_flat(int dim, const StateSizes& sizes) {
  return dim >= 0 && (sizes.flat_before >> dim & 1) != 0;
}

}  // namespace

void PlanSearch::resize() {
  const auto size = static_cast<size_t>(graph_->size());
  if (nodes_.size() < size) nodes_.resize(size);
  if (reached_ps_.size() < size) reached_ps_.resize(size, kImpossible);
}

PlanSearch::Node& PlanSearch::node(int state) {
  Node& node = nodes_[state];
  if (node.round == round_) return node;
  node = Node();
  node.round = round_;
  const StateCode code = graph_->code(state);
  node.sizes = measure_state(graph_->alphabet(), request_.group, request_.policy, code);
  if (!node.sizes.is_allowed) {
    reached_ps_[state] = kClosed;
  } else if (target_ >= 0) {
    node.floor_ps = bound_.floor_ps(code);
  }
  return node;
}

void PlanSearch::start(StateGraph& graph, const SearchRequest& request, int source, int target) {
  graph_ = &graph;
  request_ = request;
  pricer_.start(*request.model, graph, request.group);
  if (++round_ == 0) {
    nodes_.clear();  // rounds begin anew
    round_ = 1;
  }
  reached_ps_.clear();
  resize();
  queue_.clear();
  source_ = source;
  target_ = target;
  most_ps_ = kImpossible;
  expanded_ = 0;
  const StateSizes sizes =
      measure_state(graph.alphabet(), request.group, request.policy, graph.code(source));
  // An all_to_all may move nothing only with strided shards and where cuts leave ranks empty.
  may_rename_ =
      graph.alphabet().has_strided() || request.policy == Policy::kAny || !sizes.is_allowed;
  if (target >= 0) {
    bound_.start(graph, request.group, graph.code(target), may_rename_,
                 request.allow_shard_to_partial, pricer_);
    node(target);
  }
  node(source);
  nodes_[source].sizes.is_allowed = true;
  nodes_[source].cost = {0, 0, 0, 0};
  reached_ps_[source] = 0;
  queue_.push_back({nodes_[source].cost, source, -1});
}

void PlanSearch::push(const QueueEntry& entry) {
  queue_.push_back(entry);
  std::push_heap(queue_.begin(), queue_.end(), kLater);
}

// What the step leads to at least, without counting what it moves.
PathCost PlanSearch::least_cost(const StateStep& step, const Node& from, int64_t least_ps) const {
  PathCost least = from.cost;
  least.ps = least_ps;
  ++least.steps;
  if (step.kind == StepKind::kAllToAll && !may_rename_ && from.sizes.bytes != 0)
    ++least.collectives;
  return least;
}

void PlanSearch::relax(int state, int32_t number, const StateStep& step, int64_t least_ps) {
  const Node& to = node(step.to);
  if (reached_ps_[step.to] == kClosed) return;
  const Node& from = nodes_[state];
  if (pricer_.is_quick(step, from.sizes, to.sizes)) {
    relax_priced(state, number, step);
    return;
  }
  // Counting takes long and most such steps turn out too dear: it waits until the step's turn.
  PathCost least = least_cost(step, from, least_ps);
  if (least > to.cost || least_ps + to.floor_ps > limit_ps()) return;
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
  reached_ps_[step.to] = cost.ps;
  if (is_tie) return;
  cost.ps += to.floor_ps;
  push({cost, step.to, -1});
}

bool PlanSearch::is_group_too_dear(int state, const StateStep& step, const StepFloor& floor) const {
  const Node& from = nodes_[state];
  const int64_t least = from.cost.ps + floor.ps;
  if (least > limit_ps()) return true;
  if (step.kind != StepKind::kAllToAll || target_ < 0 || may_rename_ || from.sizes.bytes == 0)
    return false;
  // What it leaves to do costs no less than what it found.
  return least + bound_.rest_ps(graph_->code(state)) > limit_ps();
}

void PlanSearch::expand(int state) {
  ++expanded_;
  graph_->expand(state);
  resize();
  const std::span<const StateStep> steps = graph_->steps(state);
  const StateSizes sizes = nodes_[state].sizes;
  const int64_t so_far_ps = nodes_[state].cost.ps;
  uint32_t group = ~uint32_t{0};
  bool is_too_dear = false;
  StepFloor floor;
  for (int32_t number = 0; number < static_cast<int32_t>(steps.size()); ++number) {
    const StateStep& step = steps[number];
    if (group_of(step) != group) {
      group = group_of(step);
      floor = pricer_.floor(step, graph_->code(state), sizes, may_rename_);
      is_too_dear = is_group_too_dear(state, step, floor);
    }
    if (is_too_dear) continue;
    const int64_t least_ps =
        so_far_ps + (is_flat(step.pack_dim, sizes) ? floor.ps : floor.copied_ps);
    if (least_ps <= reached_ps_[step.to]) relax(state, number, step, least_ps);
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
  reached_ps_[entry.state] = kClosed;
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
  if (!is_settled(target)) return std::nullopt;
  return path_to(target);
}

std::vector<PathStep> PlanSearch::path_to(int state) {
  std::vector<PathStep> path;
  for (; state != source_; state = nodes_[state].parent) {
    const Node& node = nodes_[state];
    PathStep step{node.parent, graph_->steps(node.parent)[node.step], {}};
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
  costs_.assign(graph.size(), PathCost());
  for (int state = 0; state < graph.size(); ++state) {
    if (nodes_[state].round == round_) costs_[state] = nodes_[state].cost;
  }
  return costs_;
}

}  // namespace onedim
