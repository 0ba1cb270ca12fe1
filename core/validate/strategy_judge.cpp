#include "core/validate/strategy_judge.hpp"

#include <algorithm>

#include "core/validate/joint_partial.hpp"
#include "core/validate/mesh_judge.hpp"
#include "core/validate/mesh_split.hpp"
#include "core/validate/wrap_check.hpp"

namespace onedim {
namespace {

bool has_joint(const Layout& layout) {
  return std::any_of(layout.placements.begin(), layout.placements.end(), is_joint);
}

class StrategyJudge {
 public:
  StrategyJudge(Place& place, const Mesh& mesh, const MeshStrategy& strategy,
                const Registry& registry)
      : place_(place),
        mesh_(mesh),
        strategy_(strategy),
        layouts_{strategy.inputs, strategy.outputs, strategy.tags},
        ranks_(place.subject(), mesh, layouts_),
        locals_(strategy.inputs.size()) {
    why_ = prepare(registry);
  }

  StrategyVerdict run(std::span<const int> draws);

 private:
  const Subject& subject() const { return place_.subject(); }
  std::string prepare(const Registry& registry);
  std::string check_shapes() const;
  std::string check_group(const JointGroup& group) const;
  void split_inputs(int draw);
  std::string judge_draw(int draw);
  std::string judge_output(size_t output, int draw);
  std::string judge_group(const JointGroup& group, int draw);
  bool wraps(size_t output, const Draw& draw);
  std::vector<Tensor*> inputs_of(int64_t rank);

  Place& place_;
  const Mesh& mesh_;
  const MeshStrategy& strategy_;
  RankLayouts layouts_;
  RankSet ranks_;
  std::string why_;                               // refuted before any draw
  std::vector<std::optional<MeshJudge>> judges_;  // per output that is there
  std::vector<JointGroup> groups_;
  bool runs_kernel_ = true;
  std::vector<std::vector<Tensor>> locals_;  // [slot][rank], of the draw at hand
  std::vector<std::span<Tensor>> spans_;
  std::vector<bool> judged_;  // per output
  std::unique_ptr<WrapCheck> wrap_check_;
};

// Select asked some ranks only, and said that all local calls may run and have the layouts' shapes.
std::string StrategyJudge::prepare(const Registry& registry) {
  if (!ranks_.status().ok())
    return fmt::format("it is offered, but a local call is refused: {}",
                       message_of(ranks_.status()));
  if (!ranks_.acceptance().ok())
    return fmt::format("it is offered, but accept_local refuses a local call: {}",
                       message_of(ranks_.acceptance()));
  if (std::string difference = check_shapes(); !difference.empty()) return difference;
  bool has_plain = subject().outputs.empty();
  judges_.resize(subject().outputs.size());
  judged_.assign(subject().outputs.size(), false);
  for (size_t output = 0; output < judges_.size(); ++output) {
    const OptionalOutput& described = subject().outputs[output];
    if (!described) continue;
    judges_[output].emplace(strategy_.outputs[output], described->meta.shape, mesh_);
    has_plain |= !has_joint(strategy_.outputs[output]);
  }
  Result<std::vector<JointGroup>> groups =
      joint_groups(joint_placements(strategy_.outputs), registry);
  if (!groups.ok()) return std::string(message_of(groups.status()));
  groups_ = *std::move(groups);
  runs_kernel_ = has_plain;
  for (const JointGroup& group : groups_) {
    runs_kernel_ |= !group.kind->has_local();
    if (std::string difference = check_group(group); !difference.empty()) return difference;
  }
  return "";
}

std::string StrategyJudge::check_shapes() const {
  for (size_t rank = 0; rank < ranks_.ranks().size(); ++rank) {
    const LocalCall& local = ranks_.ranks()[rank]->local();
    for (size_t output = 0; output < subject().outputs.size(); ++output) {
      const OptionalOutput &global = subject().outputs[output], &mine = local.outputs[output];
      if (global.has_value() != mine.has_value())
        return fmt::format("output {} is there on some ranks only", output);
      if (!global) continue;
      const TensorMeta wanted = TensorMeta::contiguous(
          global->meta.dtype, local.location.outputs[output].map.local_shape());
      if (mine->meta.dtype == wanted.dtype && mine->meta.shape == wanted.shape) continue;
      return fmt::format("it is offered, but output {} of the rank at {} is {}, and {} of {} is {}",
                         output, format_dims(local.location.coordinate), format_meta(mine->meta),
                         format_layout(strategy_.outputs[output], mesh_), format_meta(global->meta),
                         format_meta(wanted));
    }
  }
  return "";
}

std::string StrategyJudge::check_group(const JointGroup& group) const {
  for (int mesh_dim = 0; mesh_dim < mesh_.ndim(); ++mesh_dim) {
    size_t count = 0;
    for (const int output : group.outputs)
      count += is_joint(strategy_.outputs[output].placements[mesh_dim]) ? 1 : 0;
    if (count != 0 && count != group.outputs.size()) {
      return fmt::format("over mesh dim {} some outputs of {} are partial and some are not",
                         mesh_.name(mesh_dim), group.kind->name);
    }
  }
  return "";
}

void StrategyJudge::split_inputs(int draw) {
  spans_.assign(locals_.size(), {});
  for (size_t slot = 0; slot < locals_.size(); ++slot) {
    if (!subject().call.inputs[slot]) continue;
    const Layout& layout = strategy_.inputs[slot];
    const uint64_t key =
        mix_text(mix_key(mix_key(subject().call.seed, static_cast<uint64_t>(draw)), slot),
                 format_layout(layout, mesh_));
    locals_[slot] = split_over_mesh(place_.draw(draw).inputs[slot], layout, mesh_,
                                    subject().domains[slot], key);
    spans_[slot] = locals_[slot];
  }
}

std::vector<Tensor*> StrategyJudge::inputs_of(int64_t rank) {
  std::vector<Tensor*> inputs;
  for (const std::span<Tensor> locals : spans_)
    inputs.push_back(locals.empty() ? nullptr : &locals[static_cast<size_t>(rank)]);
  return inputs;
}

bool StrategyJudge::wraps(size_t output, const Draw& draw) {
  if (!is_integral(subject().outputs[output]->meta.dtype)) return false;
  if (wrap_check_ == nullptr) wrap_check_ = std::make_unique<WrapCheck>(subject(), mesh_, layouts_);
  return wrap_check_->wraps(static_cast<int>(output), draw, spans_);
}

std::string StrategyJudge::judge_output(size_t output, int number) {
  const Draw& draw = place_.draw(number);
  const Truth& truth = *draw.truths[output];
  const std::vector<Lanes>& locals = ranks_.results()[output];
  const ErrorModel& model = place_.error_model(static_cast<int>(output));
  const Judgement judgement = judges_[output]->judge(truth, locals, model);
  if (judgement == Judgement::kHolds) judged_[output] = true;
  if (judgement != Judgement::kFails || wraps(output, draw)) return "";
  return fmt::format("output {} {}", output, judges_[output]->explain(truth, locals));
}

std::string StrategyJudge::judge_group(const JointGroup& group, int number) {
  const Draw& draw = place_.draw(number);
  const std::vector<MeshCell>& cells = judges_[group.outputs.front()]->cells();
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    std::vector<JointState> states;
    for (const int64_t rank : cells[cell].ranks) {
      Result<JointState> state = joint_state(group, *ranks_.ranks()[rank], inputs_of(rank));
      if (!state.ok()) {
        return fmt::format("the state of the rank at {}: {}",
                           format_dims(mesh_.coordinate_of(rank)), message_of(state.status()));
      }
      states.push_back(*std::move(state));
    }
    std::vector<Truth> parts;
    std::vector<JointTruth> truths;
    parts.reserve(group.outputs.size());
    for (const int output : group.outputs) {
      const MeshCell& own = judges_[output]->cells()[cell];
      parts.push_back(part_of(*draw.truths[output], own.owned));
      truths.push_back({&parts.back(), own.shape, &place_.error_model(output)});
    }
    bool judged = false;
    Result<std::string> difference = compare_joint(group, states, truths, judged);
    const std::string at = fmt::format(" (of the part of the rank at {})",
                                       format_dims(mesh_.coordinate_of(cells[cell].ranks[0])));
    if (!difference.ok()) return std::string(message_of(difference.status())) + at;
    if (!difference->empty()) return *difference + at;
    for (const int output : group.outputs) judged_[output] = judged_[output] || judged;
  }
  return "";
}

std::string StrategyJudge::judge_draw(int number) {
  split_inputs(number);
  if (runs_kernel_) {
    const Status status = ranks_.run(spans_);
    place_.note_fault(status);
    if (!status.ok()) return fmt::format("a local call fails: {}", message_of(status));
  }
  for (const JointGroup& group : groups_) {
    if (is_ill_conditioned(group, subject(), place_.draw(number))) continue;
    if (std::string difference = judge_group(group, number); !difference.empty()) return difference;
  }
  for (size_t output = 0; output < judges_.size(); ++output) {
    if (!judges_[output] || has_joint(strategy_.outputs[output])) continue;
    if (std::string difference = judge_output(output, number); !difference.empty())
      return difference;
  }
  return "";
}

StrategyVerdict StrategyJudge::run(std::span<const int> draws) {
  if (!why_.empty()) return {StrategyVerdict::Word::kRefuted, why_};
  bool ran = false;
  std::string why = "no draw had finite values to judge it on";
  for (const int number : draws) {
    const Status& whole = place_.draw(number).status;
    if (!whole.ok() && !ran) why = fmt::format("on whole tensors: {}", message_of(whole));
    if (!whole.ok()) continue;
    ran = true;
    std::string difference = judge_draw(number);
    if (!difference.empty()) return {StrategyVerdict::Word::kRefuted, std::move(difference)};
  }
  for (size_t output = 0; output < judges_.size(); ++output)
    ran &= !judges_[output] || judged_[output];
  if (ran) return {StrategyVerdict::Word::kHolds, ""};
  return {StrategyVerdict::Word::kNotJudged, std::move(why)};
}

}  // namespace

Place strategy_place(const Subject& subject, uint64_t seed) {
  return Place(subject, 1, mix_text(seed, format_call(subject.call, subject.domains)));
}

StrategyVerdict judge_strategy(Place& place, const Mesh& mesh, const MeshStrategy& strategy,
                               std::span<const int> draws, const Registry& registry) {
  return StrategyJudge(place, mesh, strategy, registry).run(draws);
}

}  // namespace onedim
