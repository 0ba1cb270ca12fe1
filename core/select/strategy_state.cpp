#include "core/select/strategy_state.hpp"

#include <algorithm>

#include "core/pack/variant.hpp"

namespace onedim {
namespace {

const Placement& placement_of(const Rule& rule, size_t slot) {
  const size_t inputs = rule.inputs.size();
  return slot < inputs ? rule.inputs[slot] : rule.outputs[slot - inputs];
}

std::string slot_name(const StrategyFrame& frame, size_t slot) {
  const bool is_input = slot < frame.input_count();
  return fmt::format("{} {}", is_input ? "input" : "output",
                     is_input ? slot : slot - frame.input_count());
}

}  // namespace

bool cuts_in_order(const Layout& layout, const Dims& order, int ndim) {
  if (layout.order.empty() && order.empty()) return true;
  for (int dim = 0; dim < ndim; ++dim) {
    const Dims cuts = layout.shard_order(dim);
    auto next = cuts.begin();
    for (const int64_t mesh_dim : order) {
      if (next != cuts.end() && *next == mesh_dim) ++next;
    }
    if (next != cuts.end()) return false;
  }
  return true;
}

StrategyFrame::StrategyFrame(const SelectSubject& subject, const Dims& order) : subject_(subject) {
  first_dims_.push_back(0);
  for (size_t slot = 0; slot < slot_count(); ++slot) {
    const TensorMeta* meta = this->meta(slot);
    first_dims_.push_back(first_dims_.back() + (meta == nullptr ? 0 : meta->shape.size()));
    has_elements_.push_back(meta != nullptr && volume(meta->shape) != 0);
    inputs_behind_.push_back(slot < input_count() ? static_cast<int>(slot) : -1);
    if (slot >= input_count()) continue;
    keeps_order_.push_back(meta == nullptr || cuts_in_order(subject.current[slot], order,
                                                            static_cast<int>(meta->shape.size())));
  }
  if (subject.op.plain == nullptr) return;
  const std::vector<int> written = written_slots(subject.op, subject.call);
  for (size_t output = 0; output < written.size() && output < subject.outputs.size(); ++output)
    inputs_behind_[input_count() + output] = written[output];
}

const TensorMeta* StrategyFrame::meta(size_t slot) const {
  if (slot < input_count()) {
    const OptionalMeta& input = subject_.call.inputs[slot];
    return input ? &*input : nullptr;
  }
  const OptionalOutput& output = subject_.outputs[slot - input_count()];
  return output ? &output->meta : nullptr;
}

StrategyState::StrategyState(const StrategyFrame& frame) {
  for (size_t slot = 0; slot < frame.slot_count(); ++slot) {
    if (const TensorMeta* meta = frame.meta(slot)) {
      for (const int64_t length : meta->shape) lengths_.emplace_back(length);
    }
  }
  kinds_.resize(frame.slot_count());
  for (size_t slot = 0; slot < frame.input_count(); ++slot)
    as_given_.push_back(frame.keeps_order(slot));
}

void StrategyState::note_given(const StrategyFrame& frame, const Rule& rule, int mesh_dim) {
  for (size_t slot = 0; slot < frame.input_count(); ++slot) {
    if (frame.meta(slot) == nullptr || !as_given_[slot]) continue;
    as_given_[slot] = rule.inputs[slot] == frame.subject().current[slot].placements[mesh_dim];
  }
}

// By the policy.
bool StrategyState::is_bound(const StrategyFrame& frame, size_t slot) const {
  const int input = frame.input_behind(slot);
  return frame.has_elements(slot) && (input < 0 || !as_given_[static_cast<size_t>(input)]);
}

Refusal StrategyState::cut(const StrategyFrame& frame, const Rule& rule, size_t slot,
                           const Placement& placement, int mesh_dim) {
  CutLengths& lengths = lengths_[frame.first_dim(slot) + placement.dim];
  const CutEffect effect = lengths.cut(cut_of(placement, frame.subject().mesh.size(mesh_dim)));
  if (rule.even_only && !effect.divides) return {Refusal::Why::kUneven, slot, placement.dim, 0};
  if (is_bound(frame, slot) && !allows(frame.subject().policy, effect))
    return {Refusal::Why::kPolicy, slot, placement.dim, 0};
  return {};
}

Refusal StrategyState::meet(size_t slot, const Placement& placement) {
  Kinds& kinds = kinds_[slot];
  for (const Placement* kind : kinds) {
    if (*kind == placement) return {};
    if (!can_stand_together(*kind, placement)) return {Refusal::Why::kPartials, slot, 0, 0};
  }
  kinds.push_back(&placement);
  return {};
}

Refusal StrategyState::apply(const StrategyFrame& frame, const Rule& rule, int mesh_dim) {
  if (frame.subject().mesh.size(mesh_dim) == 1) return {};
  note_given(frame, rule, mesh_dim);
  for (size_t slot = 0; slot < frame.slot_count(); ++slot) {
    const Placement& placement = placement_of(rule, slot);
    if (frame.meta(slot) == nullptr) continue;
    Refusal refusal;
    if (placement.is_partial()) refusal = meet(slot, placement);
    if (placement.is_shard()) refusal = cut(frame, rule, slot, placement, mesh_dim);
    if (refusal.refused()) return refusal;
  }
  for (const Requirement& need : rule.requirements) {
    const size_t slot = need.is_output ? frame.input_count() + need.slot : need.slot;
    if (frame.meta(slot) == nullptr) continue;
    const auto& lengths = lengths_[frame.first_dim(slot) + need.dim].lengths();
    const bool divides = std::all_of(lengths.begin(), lengths.end(),
                                     [&](int64_t length) { return length % need.multiple == 0; });
    if (!divides) return {Refusal::Why::kRequirement, slot, need.dim, need.multiple};
  }
  return {};
}

Status refusal_status(const StrategyFrame& frame, const Rule& rule, int mesh_dim,
                      const Refusal& refusal) {
  const Mesh& mesh = frame.subject().mesh;
  const std::string where = fmt::format(
      "{}: rule {} on mesh dim {} of size {}: {}", frame.subject().op.name(), format_rule(rule),
      mesh.name(mesh_dim), mesh.size(mesh_dim), slot_name(frame, refusal.slot));
  switch (refusal.why) {
    case Refusal::Why::kUneven:
      return invalid_argument("{} dim {} does not divide, which the rule needs", where,
                              refusal.dim);
    case Refusal::Why::kRequirement:
      return invalid_argument("{} dim {} needs local lengths that are multiples of {}", where,
                              refusal.dim, refusal.multiple);
    case Refusal::Why::kPolicy:
      return invalid_argument("{} dim {} is cut as the policy {} forbids", where, refusal.dim,
                              policy_name(frame.subject().policy));
    case Refusal::Why::kPartials:
      return invalid_argument("{} would hold two partial kinds that do not mix", where);
    case Refusal::Why::kNone:
      break;
  }
  return absl::OkStatus();
}

}  // namespace onedim
