#pragma once
// PlanSearch: the cheapest chains of single steps over a StateGraph, exactly: A* to one target,
// Dijkstra to all. Costs are compared by (picoseconds, collectives, bytes received, steps), and
// what is then equal by the codes of the states before, so the plan does not depend on how the
// search ran. The bound of A* (search_bound.hpp) assumes nothing of a model but that prices do not
// fall with bytes. Not thread-safe: one object a thread; it keeps its memory for the next search.

#include <limits>

#include "core/redistribute/rest_bound.hpp"
#include "core/redistribute/search_bound.hpp"

namespace onedim {

struct PathCost {
  int64_t ps = kImpossible;
  int64_t bytes = 0;
  int32_t collectives = 0;
  int32_t steps = 0;
  auto operator<=>(const PathCost& other) const {
    if (const auto order = ps <=> other.ps; order != 0) return order;
    if (const auto order = collectives <=> other.collectives; order != 0) return order;
    if (const auto order = bytes <=> other.bytes; order != 0) return order;
    return steps <=> other.steps;
  }
  bool operator==(const PathCost&) const = default;
};

struct SearchRequest {
  const CostModel* model = nullptr;
  std::span<const GroupMember> group;
  Policy policy = Policy::kNonempty;
  int64_t memory_bytes = 0;
  bool allow_shard_to_partial = false;
  // Tensor dims, of source and target, or of all that `begin` settles; find_all knows row-major
  // order alone.
  int from_outermost = 0;
  int to_outermost = 0;

  // Then slices copy: a view would keep its source's storage, and what a later step needs would
  // depend on the way to it.
  bool is_capped() const { return memory_bytes != std::numeric_limits<int64_t>::max(); }
};

// A step of the path found, in order.
struct PathStep {
  int from = 0;  // state
  StateStep step;
  StepPrice price;
  int from_outermost = 0;
  int to_outermost = 0;
};

class PlanSearch {
 public:
  // The path to `target`, empty if it is the source; nothing if there is none under the memory cap.
  std::optional<std::vector<PathStep>> find(StateGraph& graph, const SearchRequest& request,
                                            int source, int target);
  // The cost of every state of a complete graph, kImpossible where there is no path or the policy
  // forbids the state.
  std::span<const PathCost> find_all(StateGraph& graph, const SearchRequest& request, int source);

  // The same in portions: `begin`, then `settle` with rising limits. settled() holds, in order, all
  // states that cost at most the last limit with what `rest`, which is borrowed, says is still to
  // be paid; no other does.
  void begin(StateGraph& graph, const SearchRequest& request, int source,
             const RestBound* rest = nullptr);
  void settle(int64_t limit_ps);
  // From here on nothing that costs more is looked for: once exhausted, all else does.
  void forget_above(int64_t most_ps) { most_ps_ = std::min(most_ps_, most_ps); }
  std::span<const int32_t> settled() const { return settled_; }
  // Of a settled state in the request's target order.
  const PathCost& cost(int state) const { return nodes_[target_node(state)].cost; }
  bool is_settled(int state) const {
    const auto node = static_cast<size_t>(target_node(state));
    return node < nodes_.size() && nodes_[node].round == round_ && nodes_[node].is_done;
  }
  // The path from the source to a settled state.
  std::vector<PathStep> path_to(int state) { return path_to_node(target_node(state)); }
  bool is_exhausted() const { return queue_.empty(); }
  // No state that is not settled costs less, with its rest; kImpossible if none is left.
  int64_t next_ps() const { return queue_.empty() ? kImpossible : queue_.front().cost.ps; }

  int64_t expanded() const { return expanded_; }  // states, of the last search

 private:
  // Nodes are states, once for each memory order that source and target bring: number
  // state * order_count_ + order.
  struct Node {
    PathCost cost;
    StateSizes sizes;
    int32_t parent = -1;
    StateStep step;  // of the parent's
    int64_t floor_ps = 0;
    uint32_t round = 0;  // of the search that last touched it: else it holds nothing
    bool is_done = false;
  };
  // A node, or a step whose price is not worked out yet: then `cost` is what it leads to at least.
  struct QueueEntry {
    PathCost cost;  // with the floor
    int32_t node = 0;
    int32_t to = -1;  // node; -1: no step
    StateStep step;
    bool is_step() const { return to >= 0; }
  };

  class WorthSteps;

  void start(StateGraph& graph, const SearchRequest& request, int source, int target,
             const RestBound* rest = nullptr);
  void run();
  void expand(int node);
  void list_steps(int node);
  void relax_all(int node, const StateStep& step, int64_t least_ps);
  void reorder(int node);
  // Whether no step of the kind and over the mesh dims of `step` is worth looking at.
  bool is_group_too_dear(int node, const StateStep& step, const StepFloor& floor) const;
  void relax(int node, int to, const StateStep& step, int64_t least_ps);
  void relax_priced(int node, int to, const StateStep& step);
  StepPrice price(int node, int to, const StateStep& step);
  void set_orders(int from_outermost, int to_outermost);
  int node_of(int state, int outermost) const;
  int target_node(int state) const {
    return order_count_ == 1 ? state : node_of(state, request_.to_outermost);
  }
  std::vector<PathStep> path_to_node(int node);
  int state_of(int node) const { return order_count_ == 1 ? node : node / order_count_; }
  int outermost_of(int node) const {
    return order_count_ == 1 ? 0 : outermosts_[static_cast<size_t>(node % order_count_)];
  }
  Node& touch(int node);
  void resize();
  PathCost least_cost(const StateStep& step, const Node& from, int64_t least_ps) const;
  int64_t limit_ps() const {
    return target_ >= 0 ? std::min(most_ps_, nodes_[target_].cost.ps) : most_ps_;
  }
  void push(const QueueEntry& entry);
  int pop();

  StateGraph* graph_ = nullptr;
  SearchRequest request_;
  StepPricer pricer_;
  std::vector<Node> nodes_;
  uint32_t round_ = 0;
  // Per state what nodes_ has as its cost in ps, apart, since it decides most steps; kClosed where
  // no step may lead: settled states and those that the policy forbids.
  std::vector<int64_t> reached_ps_;
  static constexpr int64_t kClosed = -1;
  std::vector<PathCost> costs_;
  std::vector<QueueEntry> queue_;
  std::vector<int32_t> settled_;
  int order_count_ = 1;
  std::array<int, 3> outermosts_{};  // by order
  int source_ = 0;                   // node
  int target_ = -1;                  // node; -1: all
  int64_t most_ps_ = kImpossible;
  SearchBound bound_;                // where there is one target
  const RestBound* rest_ = nullptr;  // where there are many
  bool may_rename_ = false;          // an all_to_all may move nothing
  int64_t expanded_ = 0;
};

}  // namespace onedim
