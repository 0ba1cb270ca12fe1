#include "core/exec/graph_program.hpp"

#include <algorithm>
#include <map>

namespace onedim {

// A node with partials of packs, from its call until the last of them is settled.
struct GraphProgram::JointNode {
  std::vector<Tensor*> inputs;
  std::unique_ptr<RankCall> call;
  std::unique_ptr<JointSettling> settling;
  size_t settled = 0;  // groups
  NodeOutputs made;
};

GraphProgram::GraphProgram(const GraphTask& task, std::vector<Tensor> given, const RankSite& site,
                           const Roofline* roofline, GraphWatcher* watcher)
    : task_(task),
      site_(site),
      watcher_(watcher),
      runner_(task, site, roofline),
      held_(task.graph().values.size() + task.solution->moves.size(), *site.memory),
      drops_(task.graph().nodes.size()),
      move_drops_(task.solution->moves.size()) {
  const Graph& graph = task.graph();
  site_.memory->set_cause("given");
  for (size_t value = 0; value < graph.values.size(); ++value) {
    if (graph.values[value].is_given()) {
      site_.memory->note(given[value], graph.values[value].name);
      held_.hold_given(value, std::move(given[value]),
                       graph.values[value].kind == ValueKind::kTangent);
    }
  }
  plan_drops();
}

GraphProgram::~GraphProgram() = default;

bool GraphProgram::is_used_by(size_t place, int node) const {
  const std::vector<ValueId>& slots = task_.resolved->nodes[node].slots;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] != kNoValue && place_of(slots[slot], task_.sources[node][slot]) == place)
      return true;
  }
  const std::vector<ValueId>& outputs = task_.graph().nodes[node].outputs;
  return std::count(outputs.begin(), outputs.end(), static_cast<ValueId>(place)) > 0;
}

void GraphProgram::plan_drops() {
  std::map<std::pair<int, size_t>, int> last_moves;  // by the node they run before and their source
  for (const GraphStage& stage : task_.stages) {
    if (stage.kind != GraphStage::Kind::kMove) continue;
    const ValueId value = task_.solution->moves[stage.move].values[0];
    last_moves[{stage.node, place_of(value, task_.move_sources[stage.move])}] = stage.move;
  }
  const int end = task_.graph().node_count();
  const size_t values = task_.value_ends.size();
  for (size_t place = 0; place < values + task_.move_ends.size(); ++place) {
    const int last = place < values ? task_.value_ends[place] : task_.move_ends[place - values];
    if (last < 0 || last >= end) continue;
    const auto move = last_moves.find({last, place});
    const bool is_by_move = move != last_moves.end() && !is_used_by(place, last);
    (is_by_move ? move_drops_[move->second] : drops_[last]).push_back(place);
  }
}

size_t GraphProgram::place_of(ValueId value, int source) const {
  return source == kItself ? static_cast<size_t>(value) : place_of_move(source);
}

const Tensor& GraphProgram::output(ValueId value) const {
  return held_.at(place_of(value, task_.output_source(value)));
}

Status GraphProgram::annotated(const Status& status, int node) const {
  // That another rank has failed is no news of this node.
  if (absl::IsAborted(status) || node == task_.graph().node_count()) return status;
  return annotate(status, node_text(task_.graph().nodes[node]));
}

Status GraphProgram::begin(size_t number) {
  const GraphStage& stage = task_.stages[number];
  switch (stage.kind) {
    case GraphStage::Kind::kMove:
      return annotated(begin_move(stage), stage.node);
    case GraphStage::Kind::kCall:
      return call(stage.node);
    case GraphStage::Kind::kSettle:
      return annotated(begin_settling(stage), stage.node);
  }
  return {};
}

Status GraphProgram::end(size_t number) {
  const GraphStage& stage = task_.stages[number];
  if (stage.kind == GraphStage::Kind::kMove) return annotated(end_move(stage), stage.node);
  if (stage.kind == GraphStage::Kind::kSettle) return annotated(end_settling(stage), stage.node);
  return {};
}

Status GraphProgram::begin_move(const GraphStage& stage) {
  const ValueMove& move = task_.solution->moves[stage.move];
  const ValueId value = move.values[0];
  if (stage.step == 0) {
    const Registry& registry = *task_.resolved->registry;
    RunSetting setting{task_.mesh(), {task_.graph().values[value].meta.shape}, {}};
    setting.kinds = [&registry](std::string_view name) { return registry.find_partial_kind(name); };
    setting.subject = move_cause(task_, stage.move);
    moving_ = std::make_unique<RankPlan>(*move.plan, std::move(setting), site_);
    moving_->start({held_.at(place_of(value, task_.move_sources[stage.move]))});
  }
  return move.plan->steps.empty() ? Status() : moving_->begin(stage.step);
}

Status GraphProgram::end_move(const GraphStage& stage) {
  const ValueMove& move = task_.solution->moves[stage.move];
  if (!move.plan->steps.empty()) {
    if (Status status = moving_->end(stage.step); !status.ok()) return status;
    if (stage.step + 1 < move.plan->steps.size()) return {};
  }
  const Tensor copy = moving_->locals()[0];
  if (watcher_ != nullptr) {
    const Tensor& from = held_.at(place_of(move.values[0], task_.move_sources[stage.move]));
    watcher_->on_move(site_.communicator->rank(), stage.move, from, copy);
  }
  held_.hold(place_of_move(stage.move), copy, moving_->owned());
  moving_.reset();
  drop(move_drops_[stage.move]);
  return {};
}

Status GraphProgram::call(int node) {
  const std::vector<ValueId>& slots = task_.resolved->nodes[node].slots;
  std::vector<Tensor*> inputs(slots.size(), nullptr);
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] == kNoValue) continue;
    inputs[slot] = &held_.at(place_of(slots[slot], task_.sources[node][slot]));
  }
  if (watcher_ != nullptr) watcher_->on_inputs(site_.communicator->rank(), node, inputs);
  if (task_.groups[node].empty()) {
    Result<NodeOutputs> made = runner_.run(node, inputs);
    if (!made.ok()) return made.status();
    hold_outputs(node, *std::move(made));
    return {};
  }
  Result<std::unique_ptr<RankCall>> ran = runner_.run_joint(node, inputs);
  if (!ran.ok()) return ran.status();
  joint_ = std::make_unique<JointNode>();
  joint_->inputs = std::move(inputs);
  joint_->call = *std::move(ran);
  joint_->made.tensors.resize(joint_->call->outputs().size());
  site_.memory->set_cause(task_.graph().nodes[node].name);
  for (size_t i = 0; i < joint_->made.tensors.size(); ++i) {
    const Tensor& output = joint_->call->outputs()[i];
    if (joint_->call->local().outputs[i]) site_.memory->note(output, fmt::format("output {}", i));
  }
  return {};
}

Status GraphProgram::begin_settling(const GraphStage& stage) {
  const JointGroup& group = task_.groups[stage.node][stage.step];
  const ValueMove& move = task_.solution->moves[stage.move];
  joint_->settling =
      std::make_unique<JointSettling>(group, move.from, task_.mesh(), *task_.resolved->registry,
                                      site_, task_.graph().nodes[stage.node].name, "move");
  joint_->settling->set_price(move.plan->bytes, move.plan->cost_us);
  return joint_->settling->begin(*joint_->call, joint_->inputs);
}

Status GraphProgram::end_settling(const GraphStage& stage) {
  const JointGroup& group = task_.groups[stage.node][stage.step];
  Result<std::vector<Tensor>> outputs = joint_->settling->end(*joint_->call);
  if (!outputs.ok()) return outputs.status();
  for (size_t i = 0; i < outputs->size(); ++i) {
    joint_->made.owned.push_back((*outputs)[i]);
    joint_->made.tensors[group.outputs[i]] = std::move((*outputs)[i]);
  }
  if (++joint_->settled < task_.groups[stage.node].size()) return {};
  return finish_joint(stage.node);
}

// Outputs of no group are those of the kernel; what it wrote of the others is no longer needed.
Status GraphProgram::finish_joint(int node) {
  NodeOutputs& made = joint_->made;
  site_.memory->set_cause(task_.graph().nodes[node].name);
  for (size_t i = 0; i < made.tensors.size(); ++i) {
    if (!joint_->call->local().outputs[i]) continue;
    const Tensor& output = joint_->call->outputs()[i];
    if (made.tensors[i].data() != nullptr) {
      site_.memory->release(output);
      continue;
    }
    made.tensors[i] = output;
    made.owned.push_back(output);
  }
  hold_outputs(node, std::move(made));
  joint_.reset();
  return {};
}

void GraphProgram::hold_outputs(int node, NodeOutputs made) {
  if (watcher_ != nullptr) watcher_->on_outputs(site_.communicator->rank(), node, made.tensors);
  const std::vector<ValueId>& outputs = task_.graph().nodes[node].outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != kNoValue) held_.hold(outputs[i], std::move(made.tensors[i]), made.owned);
  }
  site_.memory->set_cause(task_.graph().nodes[node].name);
  drop(drops_[node]);
}

void GraphProgram::drop(std::span<const size_t> places) {
  for (const size_t place : places) held_.drop(place);
}

}  // namespace onedim
