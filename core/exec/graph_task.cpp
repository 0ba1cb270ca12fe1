#include "core/exec/graph_task.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/graph/liveness.hpp"
#include "core/pack/variant.hpp"
#include "core/select/strategy.hpp"

namespace onedim {
namespace {

class TaskMaker {
 public:
  TaskMaker(const ResolvedGraph& resolved, const Solution& solution)
      : graph_(*resolved.graph), resolved_(resolved), solution_(solution) {
    task_.resolved = &resolved;
    task_.solution = &solution;
  }

  Result<GraphTask> make() {
    if (solution_.nodes.size() != graph_.nodes.size() ||
        solution_.given.size() != graph_.values.size()) {
      return invalid_argument("the solution is of a graph of {} nodes and {} values, not of {}",
                              solution_.nodes.size(), solution_.given.size(), graph_.name);
    }
    task_.resting = resting_layouts(graph_, solution_);
    if (Status status = note_nodes(); !status.ok()) return status;
    if (Status status = bind_moves(); !status.ok()) return status;
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (Status status = bind_inputs(node); !status.ok())
        return annotate(status, node_text(graph_.nodes[node]));
    }
    note_ends();
    for (int node = 0; node < graph_.node_count(); ++node) {
      if (Status status = check_written(node); !status.ok())
        return annotate(status, node_text(graph_.nodes[node]));
    }
    add_stages();
    return std::move(task_);
  }

 private:
  const std::string& name(ValueId value) const { return graph_.values[value].name; }
  std::string text(const Layout& layout) const { return format_layout(layout, solution_.mesh); }

  bool is_same(ValueId value, const Layout& a, const Layout& b) const {
    const Dims& shape = graph_.values[value].meta.shape;
    return without_unit_dims(a, solution_.mesh, shape) ==
           without_unit_dims(b, solution_.mesh, shape);
  }

  Status note_nodes() {
    roots_.resize(graph_.values.size());
    for (ValueId value = 0; value < graph_.value_count(); ++value) roots_[value] = value;
    for (int node = 0; node < graph_.node_count(); ++node) {
      const ResolvedNode& resolved = resolved_.nodes[node];
      const NodeStrategy& strategy = solution_.nodes[node];
      std::vector<uint64_t> tags;
      for (const Rule& rule : strategy.rules) tags.push_back(rule.tag);
      task_.tags.push_back(std::move(tags));
      Result<std::vector<JointGroup>> groups =
          joint_groups(joint_placements(strategy.outputs), *resolved_.registry);
      if (!groups.ok()) return annotate(groups.status(), node_text(graph_.nodes[node]));
      task_.groups.push_back(*std::move(groups));
      task_.writes.push_back(!written_slots(*resolved.op, resolved.call).empty());
      for (size_t output = 0; output < resolved.outputs.size(); ++output) {
        const OptionalOutput& described = resolved.outputs[output];
        if (described && described->view_of_input >= 0)
          roots_[graph_.nodes[node].outputs[output]] =
              roots_[resolved.slots[described->view_of_input]];
      }
    }
    return absl::OkStatus();
  }

  Status bind_moves() {
    task_.move_sources.assign(solution_.moves.size(), kItself);
    for (size_t move = 0; move < solution_.moves.size(); ++move) {
      const Status status = bind_move(static_cast<int>(move));
      if (!status.ok()) return annotate(status, fmt::format("move {}", move));
    }
    return absl::OkStatus();
  }

  Status bind_move(int number) {
    const ValueMove& move = solution_.moves[number];
    const ValueId value = move.values[0];
    if (is_settling(move)) return check_settling(move);
    if (move.values.size() != 1) {
      return invalid_argument("{} values move as one, but only partials of packs do",
                              move.values.size());
    }
    if (move.consumers.empty() && !move.is_output) {
      const bool is_source = std::any_of(solution_.moves.begin() + number + 1,
                                         solution_.moves.end(), [&](const ValueMove& next) {
                                           return next.values[0] == value && !is_settling(next) &&
                                                  is_same(value, next.from, move.to);
                                         });
      if (!is_source)
        return invalid_argument("nobody uses the copy of {}", quoted_excerpt(name(value)));
    }
    if (is_same(value, move.from, task_.resting[value])) return absl::OkStatus();
    for (int earlier = number - 1; earlier >= 0; --earlier) {
      const ValueMove& other = solution_.moves[earlier];
      if (other.values[0] != value || is_settling(other)) continue;
      if (!is_same(value, other.to, move.from)) continue;
      task_.move_sources[number] = earlier;
      return absl::OkStatus();
    }
    return invalid_argument("it starts from {} under {}, which lies under {}",
                            quoted_excerpt(name(value)), text(move.from),
                            text(task_.resting[value]));
  }

  // The one step that JointSettling runs.
  Status check_settling(const ValueMove& move) const {
    const std::string subject = quoted_excerpt(name(move.values[0]));
    if (!move.consumers.empty() || move.is_output || move.to != settled_layout(move.from))
      return invalid_argument("{} is settled behind its node, for all that use it", subject);
    for (size_t node = 0; node < task_.groups.size(); ++node) {
      for (const JointGroup& group : task_.groups[node]) {
        std::vector<ValueId> values;
        for (const int output : group.outputs) values.push_back(graph_.nodes[node].outputs[output]);
        if (values != move.values) continue;
        if (move.plan->steps.size() == 1 && move.plan->steps[0].kind == StepKind::kAllReduce)
          return absl::OkStatus();
        return unimplemented("{} of {} is settled by other steps than one all_reduce", subject,
                             group.kind->name);
      }
    }
    return invalid_argument("{} is no partial of a pack", subject);
  }

  Status bind_inputs(int node) {
    const ResolvedNode& resolved = resolved_.nodes[node];
    std::vector<int> sources;
    for (size_t slot = 0; slot < resolved.slots.size(); ++slot) {
      const ValueId value = resolved.slots[slot];
      sources.push_back(kItself);
      if (value == kNoValue) continue;
      const Layout& wanted = solution_.nodes[node].inputs[slot];
      if (is_same(value, wanted, task_.resting[value])) continue;
      sources.back() = find_copy(value, wanted, node);
      if (sources.back() != kItself) continue;
      return invalid_argument(
          "input {} must lie under {}, but {} lies under {} and no move of it "
          "for this node leads there",
          slot, text(wanted), quoted_excerpt(name(value)), text(task_.resting[value]));
    }
    for (const JointGroup& group : task_.groups[node]) {
      const ValueId first = graph_.nodes[node].outputs[group.outputs[0]];
      const bool is_settled = std::any_of(
          solution_.moves.begin(), solution_.moves.end(),
          [&](const ValueMove& move) { return is_settling(move) && move.values[0] == first; });
      if (!is_settled)
        return invalid_argument("its partials of {} are never settled", group.kind->name);
    }
    task_.sources.push_back(std::move(sources));
    return absl::OkStatus();
  }

  int find_copy(ValueId value, const Layout& wanted, int node) const {
    for (size_t number = 0; number < solution_.moves.size(); ++number) {
      const ValueMove& move = solution_.moves[number];
      if (move.values[0] != value || is_settling(move) || !is_same(value, move.to, wanted))
        continue;
      if (std::binary_search(move.consumers.begin(), move.consumers.end(), node))
        return static_cast<int>(number);
    }
    return kItself;
  }

  // First users of copies, and until when values and copies are held.
  void note_ends() {
    const int end = graph_.node_count();
    const size_t moves = solution_.moves.size();
    starts_.assign(moves, end);
    task_.move_ends.assign(moves, -1);
    for (size_t move = moves; move-- > 0;) {
      const ValueMove& one = solution_.moves[move];
      if (!one.consumers.empty()) {
        starts_[move] = std::min(starts_[move], one.consumers.front());
        task_.move_ends[move] = std::max(task_.move_ends[move], one.consumers.back());
      }
      if (one.is_output) task_.move_ends[move] = end;
      const int source = task_.move_sources[move];
      if (source == kItself || is_settling(one)) continue;
      starts_[source] = std::min(starts_[source], starts_[move]);
      task_.move_ends[source] = std::max(task_.move_ends[source], starts_[move]);
    }
    const std::vector<LiveRange> ranges = value_ranges(graph_);
    for (const LiveRange& range : ranges) task_.value_ends.push_back(range.first);
    for (int node = 0; node < end; ++node) {
      for (size_t slot = 0; slot < task_.sources[node].size(); ++slot) {
        const ValueId value = resolved_.nodes[node].slots[slot];
        if (value != kNoValue && task_.sources[node][slot] == kItself)
          task_.value_ends[value] = node;
      }
    }
    for (size_t move = 0; move < moves; ++move) {
      const ValueMove& one = solution_.moves[move];
      if (is_settling(one) || task_.move_sources[move] != kItself) continue;
      int& value_end = task_.value_ends[one.values[0]];
      value_end = std::max(value_end, starts_[move]);
    }
    for (ValueId value = 0; value < graph_.value_count(); ++value) {
      if (ranges[value].last == end && task_.output_source(value) == kItself)
        task_.value_ends[value] = end;
    }
  }

  // What a node writes must be what others see: no copy, and no copy taken before and used behind.
  Status check_written(int node) const {
    const ResolvedNode& resolved = resolved_.nodes[node];
    for (const int slot : written_slots(*resolved.op, resolved.call)) {
      const ValueId value = resolved.slots[slot];
      if (value == kNoValue) continue;
      if (task_.sources[node][slot] != kItself) {
        return invalid_argument("it writes into input {}, {}, which therefore may not be moved",
                                slot, quoted_excerpt(name(value)));
      }
      if (Status status = check_copies(value, node); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  Status check_copies(ValueId written, int node) const {
    for (size_t move = 0; move < solution_.moves.size(); ++move) {
      const ValueMove& one = solution_.moves[move];
      if (is_settling(one) || roots_[one.values[0]] != roots_[written]) continue;
      const bool is_outdated = starts_[move] <= node && task_.move_ends[move] > node;
      const bool has_views = std::any_of(
          graph_.nodes.begin(), graph_.nodes.end(),
          [&](const GraphNode& other) { return is_view_of_copy(other, static_cast<int>(move)); });
      if (!is_outdated && !has_views) continue;
      return invalid_argument("it writes into {}, of which a copy of {} under {} is used on",
                              quoted_excerpt(name(written)), quoted_excerpt(name(one.values[0])),
                              text(one.to));
    }
    return absl::OkStatus();
  }

  // A view that the graph has of a value lies, on the ranks, in a copy of it.
  bool is_view_of_copy(const GraphNode& node, int move) const {
    const auto number = static_cast<size_t>(&node - graph_.nodes.data());
    for (const OptionalOutput& output : resolved_.nodes[number].outputs) {
      if (output && output->view_of_input >= 0 &&
          task_.sources[number][output->view_of_input] == move)
        return true;
    }
    return false;
  }

  void add_stages() {
    const int end = graph_.node_count();
    std::vector<std::vector<int>> moves(end + 1);
    for (size_t move = 0; move < solution_.moves.size(); ++move) {
      if (!is_settling(solution_.moves[move]))
        moves[starts_[move]].push_back(static_cast<int>(move));
    }
    for (int node = 0; node <= end; ++node) {
      for (const int move : moves[node]) {
        // A plan without a step is one stage too, in which the copy comes to be.
        const size_t steps = std::max<size_t>(solution_.moves[move].plan->steps.size(), 1);
        for (size_t step = 0; step < steps; ++step)
          task_.stages.push_back({GraphStage::Kind::kMove, node, move, step});
      }
      if (node == end) break;
      task_.stages.push_back({GraphStage::Kind::kCall, node, kItself, 0});
      for (size_t group = 0; group < task_.groups[node].size(); ++group)
        task_.stages.push_back({GraphStage::Kind::kSettle, node, settling_of(node, group), group});
    }
  }

  int settling_of(int node, size_t group) const {
    const ValueId first = graph_.nodes[node].outputs[task_.groups[node][group].outputs[0]];
    for (size_t move = 0; move < solution_.moves.size(); ++move) {
      if (is_settling(solution_.moves[move]) && solution_.moves[move].values[0] == first)
        return static_cast<int>(move);
    }
    return kItself;
  }

  const Graph& graph_;
  const ResolvedGraph& resolved_;
  const Solution& solution_;
  GraphTask task_;
  std::vector<ValueId> roots_;  // per value: whose storage it lies in
  std::vector<int> starts_;     // per move: the node that it runs before
};

}  // namespace

int GraphTask::output_source(ValueId value) const {
  for (size_t move = 0; move < solution->moves.size(); ++move) {
    const ValueMove& one = solution->moves[move];
    if (one.is_output && one.values[0] == value) return static_cast<int>(move);
  }
  return kItself;
}

const Layout& GraphTask::output_layout(ValueId value) const {
  const int move = output_source(value);
  return move == kItself ? resting[value] : solution->moves[move].to;
}

Result<GraphTask> make_graph_task(const ResolvedGraph& resolved, const Solution& solution) {
  return TaskMaker(resolved, solution).make();
}

std::string move_cause(const GraphTask& task, int move) {
  const ValueMove& one = task.solution->moves[move];
  const Graph& graph = task.graph();
  const std::string& value = graph.values[one.values[0]].name;
  if (is_settling(one)) return fmt::format("state of {}", value);
  if (one.consumers.empty()) return fmt::format("output {}", value);
  const int node = one.consumers[0];
  for (size_t slot = 0; slot < task.sources[node].size(); ++slot) {
    if (task.sources[node][slot] == move)
      return fmt::format("{}, input {}", graph.nodes[node].name, slot);
  }
  return fmt::format("{}, of {}", graph.nodes[node].name, value);
}

}  // namespace onedim
