#include "core/exec/op_program.hpp"

#include <algorithm>

#include "core/exec/joint_settling.hpp"
#include "core/layout/partition.hpp"
#include "core/pack/local_call.hpp"

namespace onedim {
namespace {

// The mesh dims of more than one rank over which a layout is partial.
MeshDimSet partial_dims(const Layout& layout, const Mesh& mesh) {
  MeshDimSet dims = 0;
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (layout.placements[d].is_partial() && mesh.size(d) > 1) dims |= MeshDimSet{1} << d;
  }
  return dims;
}

Layout without_partials(Layout layout) {
  for (Placement& placement : layout.placements) {
    if (placement.is_partial()) placement = Placement::replicate();
  }
  return layout;
}

bool adds(const Layout& layout) {
  return std::any_of(layout.placements.begin(), layout.placements.end(), [](const Placement& p) {
    return p.is_partial() && is_linear_partial(p.partial);
  });
}

Plan one_step_plan(PlanStep step) {
  Plan plan;
  plan.from = step.from;
  plan.to = step.to;
  plan.steps.push_back(std::move(step));
  return plan;
}

}  // namespace

// What brings outputs from partial to whole: one reduction of one value, which may be several
// tensors. Without mesh dims to reduce over nothing is posted.
struct OpProgram::Settling {
  std::unique_ptr<JointSettling> joint;  // of a pack's kind; null: of the one output
  const JointGroup* group = nullptr;
  int output = 0;
  Plan plan;
  std::unique_ptr<RankPlan> run;
  bool has_magnitudes = false;
};

OpProgram::OpProgram(const ShardedOp& op, const WholeResult& whole, std::vector<Tensor> locals,
                     const RankSite& site)
    : op_(op), whole_(whole), site_(site), locals_(std::move(locals)) {}

OpProgram::~OpProgram() = default;

Dims OpProgram::coordinate() const { return op_.mesh.coordinate_of(site_.communicator->rank()); }

Status OpProgram::prepare() {
  Result<std::vector<JointGroup>> groups =
      joint_groups(joint_placements(op_.output_layouts), *op_.registry);
  if (!groups.ok()) return groups.status();
  groups_ = *std::move(groups);
  if (Status status = prepare_call(); !status.ok()) return status;
  add_moves();
  stages_.push_back({});  // the local call
  add_settlings();
  return {};
}

Status OpProgram::prepare_call() {
  const std::string where = fmt::format("{}, the local call of {}", op_.op->name(),
                                        describe_rank(op_.mesh, site_.communicator->rank()));
  Result<LocalCall> local = make_local_call(*op_.op, op_.call, op_.outputs, op_.inputs,
                                            op_.output_layouts, op_.mesh, coordinate(), op_.tags);
  if (!local.ok()) return annotate(local.status(), where);
  if (!local->matches_layouts)
    return invalid_argument("{}: the outputs that it infers are not those of the layouts", where);
  Result<std::unique_ptr<RankCall>> call = RankCall::create(*op_.op, *std::move(local));
  if (!call.ok()) return annotate(call.status(), where);
  call_ = *std::move(call);
  return {};
}

void OpProgram::add_moves() {
  moves_.resize(op_.plans.size());
  for (size_t slot = 0; slot < moves_.size(); ++slot) {
    if (op_.plans[slot] == nullptr) continue;
    RunSetting setting{op_.mesh, {op_.call.inputs[slot]->shape}, {}};
    setting.subject = fmt::format("{}, input {}", op_.op->name(), slot);
    moves_[slot] = std::make_unique<RankPlan>(*op_.plans[slot], std::move(setting), site_);
    moves_[slot]->start({locals_[slot]});
    for (size_t step = 0; step < moves_[slot]->step_count(); ++step)
      stages_.push_back({moves_[slot].get(), step, nullptr});
  }
}

void OpProgram::add_settlings() {
  for (const JointGroup& group : groups_) {
    auto settling = std::make_unique<Settling>();
    settling->group = &group;
    settling->joint =
        std::make_unique<JointSettling>(group, op_.output_layouts[group.outputs[0]], op_.mesh,
                                        *op_.registry, site_, op_.op->name(), "check");
    settlings_.push_back(std::move(settling));
  }
  for (size_t output = 0; output < op_.outputs.size(); ++output) {
    if (!op_.outputs[output]) continue;
    const Layout& layout = op_.output_layouts[output];
    if (std::any_of(layout.placements.begin(), layout.placements.end(), is_joint)) continue;
    auto settling = std::make_unique<Settling>();
    settling->output = static_cast<int>(output);
    settlings_.push_back(std::move(settling));
  }
  for (const std::unique_ptr<Settling>& settling : settlings_)
    stages_.push_back({nullptr, 0, settling.get()});
}

Status OpProgram::compute() {
  std::vector<Tensor*> inputs(locals_.size(), nullptr);
  for (size_t slot = 0; slot < locals_.size(); ++slot) {
    if (moves_[slot] != nullptr) locals_[slot] = moves_[slot]->locals()[0];
    if (op_.call.inputs[slot]) inputs[slot] = &locals_[slot];
  }
  TraceSpan span;
  span.name = op_.op->name();
  span.category = "compute";
  span.cause = span.name;
  span.start_us = site_.clock->us();
  const bool runs_kernel =
      std::any_of(op_.output_layouts.begin(), op_.output_layouts.end(), [&](const Layout& layout) {
        return std::none_of(layout.placements.begin(), layout.placements.end(), is_joint);
      });
  const bool makes_states =
      std::any_of(groups_.begin(), groups_.end(),
                  [](const JointGroup& group) { return !group.kind->has_local(); });
  if (runs_kernel || makes_states || groups_.empty()) {
    if (Status status = call_->run(inputs); !status.ok()) {
      return annotate(status, describe_rank(op_.mesh, site_.communicator->rank()));
    }
  }
  span.us = site_.clock->us() - span.start_us;
  site_.trace->spans.push_back(std::move(span));
  site_.memory->set_cause(op_.op->name());
  for (size_t output = 0; output < op_.outputs.size(); ++output) {
    const OptionalOutput& described = call_->local().outputs[output];
    if (described && described->view_of_input < 0)
      site_.memory->note(call_->outputs()[output], fmt::format("output {}", output));
  }
  peak_bytes_ = site_.memory->peak_bytes();
  return {};
}

Status OpProgram::start_settling(Settling& settling) {
  if (settling.joint != nullptr) {
    std::vector<Tensor*> inputs(locals_.size(), nullptr);
    for (size_t slot = 0; slot < locals_.size(); ++slot) {
      if (op_.call.inputs[slot]) inputs[slot] = &locals_[slot];
    }
    return settling.joint->begin(*call_, inputs);
  }
  PlanStep step;
  step.kind = StepKind::kAllReduce;
  step.from = op_.output_layouts[settling.output];
  step.mesh_dims = partial_dims(step.from, op_.mesh);
  step.to = without_partials(step.from);
  const Dims& shape = op_.outputs[settling.output]->meta.shape;
  RunSetting setting{op_.mesh, {shape}, {}};
  setting.kinds = [this](std::string_view name) { return op_.registry->find_partial_kind(name); };
  setting.subject = fmt::format("{}, output {}", op_.op->name(), settling.output);
  const Tensor& output = call_->outputs()[settling.output];
  std::vector<Tensor> locals{output};
  settling.has_magnitudes =
      adds(step.from) && (is_floating(output.dtype()) || is_complex(output.dtype()));
  if (settling.has_magnitudes) {
    locals.push_back(magnitudes_of(output));
    setting.shapes.push_back(shape);
  }
  settling.plan = one_step_plan(std::move(step));
  settling.run = std::make_unique<RankPlan>(settling.plan, std::move(setting), site_, "check");
  settling.run->start(std::move(locals));
  if (settling.plan.steps[0].mesh_dims == 0) return {};
  return settling.run->begin(0);
}

Status OpProgram::finish_settling(Settling& settling) {
  if (settling.joint != nullptr) {
    const Result<std::vector<Tensor>> outputs = settling.joint->end(*call_);
    if (!outputs.ok()) return outputs.status();
    for (size_t i = 0; i < outputs->size(); ++i)
      compare(settling.group->outputs[i], (*outputs)[i], nullptr);
    return {};
  }
  if (settling.plan.steps[0].mesh_dims != 0) {
    if (Status status = settling.run->end(0); !status.ok()) return status;
  }
  const std::vector<Tensor>& values = settling.run->locals();
  compare(settling.output, values[0], settling.has_magnitudes ? &values[1] : nullptr);
  return {};
}

void OpProgram::compare(int output, const Tensor& settled, const Tensor* partial_magnitudes) {
  const Layout layout = without_partials(op_.output_layouts[output]);
  const Tensor& whole = *whole_.outputs[output];
  const IndexMap map = index_map(whole.shape(), layout, op_.mesh, coordinate());
  const Tensor expected = gather_elements(whole, map);
  OutputComparison compared;
  compared.output = output;
  if (op_.op->has_undefined_content()) {
    compared.comparison.is_equal = settled.shape() == expected.shape();
    comparisons_.push_back(std::move(compared));
    return;
  }
  std::optional<Tensor> magnitude;
  if (whole_.magnitudes[output]) magnitude = gather_elements(*whole_.magnitudes[output], map);
  if (partial_magnitudes != nullptr) {
    if (!magnitude) magnitude = Tensor::zeros(DType::kF64, expected.shape());
    for (int64_t i = 0; i < magnitude->element_count(); ++i) {
      const double sum = load_real(DType::kF64, magnitude->element(i)) +
                         load_real(DType::kF64, partial_magnitudes->element(i));
      store_real(DType::kF64, magnitude->element(i), sum);
    }
  }
  compared.comparison =
      compare_tensors(expected, settled, magnitude ? &*magnitude : nullptr, whole_.roundings);
  comparisons_.push_back(std::move(compared));
}

Status OpProgram::begin(size_t stage) {
  Stage& now = stages_[stage];
  if (now.plan != nullptr) return now.plan->begin(now.step);
  return now.settling != nullptr ? start_settling(*now.settling) : compute();
}

Status OpProgram::end(size_t stage) {
  Stage& now = stages_[stage];
  if (now.plan != nullptr) return now.plan->end(now.step);
  return now.settling != nullptr ? finish_settling(*now.settling) : Status();
}

}  // namespace onedim
