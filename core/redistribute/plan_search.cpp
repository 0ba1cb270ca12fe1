#include "core/redistribute/plan_search.hpp"

#include <algorithm>

namespace onedim {
namespace {

// On meshes of more dims only steps worth taking are listed, where that is known.
constexpr int kMostListedMeshDims = 5;

// std heaps put the largest first.
constexpr auto kLater = [](const auto& a, const auto& b) {
  if (a.cost.ps != b.cost.ps) return a.cost.ps > b.cost.ps;
  if (const auto order = a.cost <=> b.cost; order != 0) return order > 0;
  if (a.is_step() != b.is_step()) return b.is_step();  // a step may lead to a state of this cost
  return a.node != b.node ? a.node > b.node : a.to > b.to;
};

// Steps of one kind over one set of mesh dims stand together.
uint32_t group_of(const StateStep& step) {
  return static_cast<uint32_t>(step.kind) << 8 | step.mesh_dims;
}

// Orders that do not differ for the lengths at hand.
bool is_no_step(const StateStep& step, const StepPrice& price) {
  return step.kind == StepKind::kReorder && (price.is_view || price.memory_bytes == 0);
}

}  // namespace

// The steps that lead to states where what is to be paid with the rest is not above the limit. On
// large meshes a state has thousands of steps, most of which are not worth a number.
class PlanSearch::WorthSteps : public StepFilter {
 public:
  WorthSteps(PlanSearch& search, int node)
      : search_(search),
        from_(search.nodes_[node]),
        code_(search.graph_->code(search.state_of(node))) {}

  bool wants_any(StepKind kind, uint32_t mesh_dims) override {
    StateStep step;
    step.kind = kind;
    step.mesh_dims = static_cast<uint8_t>(mesh_dims);
    const StepFloor floor = search_.pricer_.floor(step, code_, from_.sizes, search_.may_rename_);
    least_ps_ = from_.cost.ps + floor.ps;
    return least_ps_ <= search_.limit_ps();
  }
  bool wants(StateCode to) override {
    return least_ps_ + search_.rest_->floor_ps(to) <= search_.limit_ps();
  }

 private:
  PlanSearch& search_;
  const Node from_;
  const StateCode code_;
  int64_t least_ps_ = 0;
};

void PlanSearch::set_orders(int from_outermost, int to_outermost) {
  order_count_ = 1;
  outermosts_[0] = 0;
  for (const int outermost : {from_outermost, to_outermost}) {
    const auto end = outermosts_.begin() + order_count_;
    if (std::find(outermosts_.begin(), end, outermost) == end)
      outermosts_[static_cast<size_t>(order_count_++)] = outermost;
  }
}

int PlanSearch::node_of(int state, int outermost) const {
  const auto found = std::find(outermosts_.begin(), outermosts_.begin() + order_count_, outermost);
  return state * order_count_ + static_cast<int>(found - outermosts_.begin());
}

void PlanSearch::resize() {
  const auto size = static_cast<size_t>(graph_->size()) * static_cast<size_t>(order_count_);
  if (nodes_.size() < size) nodes_.resize(size);
  if (reached_ps_.size() < size) reached_ps_.resize(size, kImpossible);
}

PlanSearch::Node& PlanSearch::touch(int number) {
  Node& node = nodes_[number];
  if (node.round == round_) return node;
  node = Node();
  node.round = round_;
  const StateCode code = graph_->code(state_of(number));
  node.sizes = measure_state(graph_->alphabet(), request_.group, request_.policy, code);
  if (!node.sizes.is_allowed) {
    reached_ps_[number] = kClosed;
  } else if (target_ >= 0) {
    node.floor_ps = bound_.floor_ps(code);
  } else if (rest_ != nullptr) {
    node.floor_ps = rest_->floor_ps(code);
  }
  return node;
}

void PlanSearch::start(StateGraph& graph, const SearchRequest& request, int source, int target,
                       const RestBound* rest) {
  rest_ = rest;
  graph_ = &graph;
  request_ = request;
  pricer_.start(*request.model, graph, request.group, !request.is_capped());
  if (++round_ == 0) {
    nodes_.clear();  // rounds begin anew
    round_ = 1;
  }
  set_orders(request.from_outermost, request.to_outermost);
  reached_ps_.clear();
  resize();
  queue_.clear();
  source_ = node_of(source, request.from_outermost);
  target_ = target < 0 ? -1 : node_of(target, request.to_outermost);
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
    touch(target_);
  }
  Node& first = touch(source_);
  first.sizes.is_allowed = true;
  first.cost = {0, 0, 0, 0};
  reached_ps_[source_] = 0;
  queue_.push_back({first.cost, source_, -1, {}});
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

void PlanSearch::relax(int node, int to, const StateStep& step, int64_t least_ps) {
  const Node& target = touch(to);
  if (reached_ps_[to] == kClosed) return;
  const Node& from = nodes_[node];
  if (pricer_.is_quick(step, from.sizes, target.sizes)) {
    relax_priced(node, to, step);
    return;
  }
  // Counting takes long and most such steps turn out too dear: it waits until the step's turn.
  PathCost least = least_cost(step, from, least_ps);
  if (least > target.cost || least_ps + target.floor_ps > limit_ps()) return;
  least.ps += target.floor_ps;
  push({least, node, to, step});
}

StepPrice PlanSearch::price(int node, int to, const StateStep& step) {
  return pricer_.price(step, {graph_, state_of(node), &nodes_[node].sizes, &nodes_[to].sizes,
                              outermost_of(node), outermost_of(to)});
}

void PlanSearch::relax_priced(int node, int to, const StateStep& step) {
  Node& target = nodes_[to];
  if (target.is_done) return;
  const StepPrice price = this->price(node, to, step);
  if (price.memory_bytes > request_.memory_bytes || price.ps >= kImpossible) return;
  PathCost cost = nodes_[node].cost;
  cost.ps += price.ps;
  if (cost.ps >= kImpossible || cost.ps + target.floor_ps > limit_ps()) return;
  cost.bytes += price.bytes;
  cost.collectives += price.is_collective;
  cost.steps += !is_no_step(step, price);
  const auto order = cost <=> target.cost;
  const auto text = [&](int of) { return std::pair(graph_->code(state_of(of)), outermost_of(of)); };
  const bool is_tie = order == 0 && target.parent >= 0 && text(node) < text(target.parent);
  if (order > 0 || (order == 0 && !is_tie)) return;
  target.parent = node;
  target.step = step;
  target.cost = cost;
  reached_ps_[to] = cost.ps;
  if (is_tie) return;
  cost.ps += target.floor_ps;
  push({cost, to, -1, {}});
}

bool PlanSearch::is_group_too_dear(int node, const StateStep& step, const StepFloor& floor) const {
  const Node& from = nodes_[node];
  const int64_t least = from.cost.ps + floor.ps;
  if (least > limit_ps()) return true;
  if (step.kind != StepKind::kAllToAll || target_ < 0 || may_rename_ || from.sizes.bytes == 0)
    return false;
  // What it leaves to do costs no less than what it found.
  return least + bound_.rest_ps(graph_->code(state_of(node))) > limit_ps();
}

void PlanSearch::list_steps(int node) {
  const int state = state_of(node);
  const bool may_filter = rest_ != nullptr && most_ps_ < kImpossible &&
                          graph_->alphabet().mesh_ndim() > kMostListedMeshDims;
  if (!may_filter) {
    graph_->expand(state);
    return;
  }
  WorthSteps worth(*this, node);
  graph_->expand(state, worth);
}

void PlanSearch::expand(int node) {
  ++expanded_;
  const int state = state_of(node), outermost = outermost_of(node);
  list_steps(node);
  resize();
  const std::span<const StateStep> steps = graph_->steps(state);
  const StateSizes sizes = nodes_[node].sizes;
  const int64_t so_far_ps = nodes_[node].cost.ps;
  uint32_t group = ~uint32_t{0};
  bool is_too_dear = false;
  StepFloor floor;
  for (const StateStep& step : steps) {
    if (group_of(step) != group) {
      group = group_of(step);
      floor = pricer_.floor(step, graph_->code(state), sizes, may_rename_);
      is_too_dear = is_group_too_dear(node, step, floor);
    }
    if (is_too_dear) continue;
    const bool spares_copy =
        step.pack_dim >= 0 && is_outermost(step.pack_dim, outermost, sizes.units);
    relax_all(node, step, so_far_ps + (spares_copy ? floor.ps : floor.copied_ps));
  }
  if (order_count_ > 1) reorder(node);
}

// To the step's state in every memory order.
void PlanSearch::relax_all(int node, const StateStep& step, int64_t least_ps) {
  for (int to = step.to * order_count_; to < (step.to + 1) * order_count_; ++to) {
    if (least_ps <= reached_ps_[to]) relax(node, to, step, least_ps);
  }
}

void PlanSearch::reorder(int node) {
  StateStep step;
  step.to = state_of(node);
  step.kind = StepKind::kReorder;
  for (int to = step.to * order_count_; to < (step.to + 1) * order_count_; ++to) {
    if (to == node) continue;
    touch(to).sizes.is_allowed = true;  // the source lies as it was given
    relax_priced(node, to, step);
  }
}

// Takes the next entry off the queue; the node that it settles, or -1.
int PlanSearch::pop() {
  std::pop_heap(queue_.begin(), queue_.end(), kLater);
  const QueueEntry entry = queue_.back();
  queue_.pop_back();
  if (entry.is_step()) {
    relax_priced(entry.node, entry.to, entry.step);
    return -1;
  }
  if (nodes_[entry.node].is_done) return -1;
  nodes_[entry.node].is_done = true;
  reached_ps_[entry.node] = kClosed;
  return entry.node;
}

void PlanSearch::run() {
  while (!queue_.empty()) {
    const int node = pop();
    if (node < 0) continue;
    if (node == target_) return;
    expand(node);
  }
}

std::optional<std::vector<PathStep>> PlanSearch::find(StateGraph& graph,
                                                      const SearchRequest& request, int source,
                                                      int target) {
  start(graph, request, source, target);
  run();
  if (!nodes_[target_].is_done) return std::nullopt;
  return path_to_node(target_);
}

std::vector<PathStep> PlanSearch::path_to_node(int node) {
  std::vector<PathStep> path;
  for (; node != source_; node = nodes_[node].parent) {
    const int parent = nodes_[node].parent;
    PathStep step{
        state_of(parent), nodes_[node].step, {}, outermost_of(parent), outermost_of(node)};
    step.price = price(parent, node, step.step);
    if (!is_no_step(step.step, step.price)) path.push_back(step);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

void PlanSearch::begin(StateGraph& graph, const SearchRequest& request, int source,
                       const RestBound* rest) {
  start(graph, request, source, -1, rest);
  settled_.clear();
}

void PlanSearch::settle(int64_t limit_ps) {
  while (!queue_.empty() && queue_.front().cost.ps <= limit_ps) {
    const int node = pop();
    if (node < 0) continue;
    if (node == target_node(state_of(node))) settled_.push_back(state_of(node));
    expand(node);
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
