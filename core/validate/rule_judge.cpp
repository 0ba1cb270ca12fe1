#include "core/validate/rule_judge.hpp"

#include <algorithm>

#include "core/validate/explain.hpp"
#include "core/validate/joint_partial.hpp"

namespace onedim {
namespace {

// Calls `body(placement, meta)` for every slot that is there.
template <typename Body>
bool all_slots(const Rule& rule, const Subject& subject, Body&& body) {
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    if (subject.call.inputs[slot] && !body(rule.inputs[slot], *subject.call.inputs[slot]))
      return false;
  }
  for (size_t output = 0; output < rule.outputs.size(); ++output) {
    if (subject.outputs[output] && !body(rule.outputs[output], subject.outputs[output]->meta))
      return false;
  }
  return true;
}

bool meets(const Requirement& requirement, const Rule& rule, const Subject& subject,
           int64_t world) {
  const OptionalMeta& input = subject.call.inputs[requirement.is_output ? 0 : requirement.slot];
  const TensorMeta* meta =
      requirement.is_output
          ? (subject.outputs[requirement.slot] ? &subject.outputs[requirement.slot]->meta : nullptr)
          : (input ? &*input : nullptr);
  if (meta == nullptr || requirement.dim >= static_cast<int>(meta->shape.size())) return true;
  const Placement& placement =
      (requirement.is_output ? rule.outputs : rule.inputs)[requirement.slot];
  const bool is_cut = placement.is_shard() && placement.dim == requirement.dim;
  const Layout layout{{placement}, {}};
  for (int64_t rank = 0; rank < world; ++rank) {
    const int64_t length = is_cut ? index_map(meta->shape, layout, Mesh::line(world), {rank})
                                        .local_shape()[requirement.dim]
                                  : meta->shape[requirement.dim];
    if (requirement.multiple > 0 && length % requirement.multiple != 0) return false;
  }
  return true;
}

RuleVerdict refuted(std::string reason) {
  return {RuleVerdict::Word::kRefuted, -1, std::move(reason)};
}

// The candidates of a single rule: one an output; joint outputs are judged apart.
void single_candidates(const Rule& rule, const Subject& subject,
                       std::vector<std::vector<Placement>>& candidates,
                       std::vector<PlacementSet>& wanted) {
  for (size_t output = 0; output < rule.outputs.size(); ++output) {
    const Placement& placement = rule.outputs[output];
    const bool plain = subject.outputs[output] &&
                       !(placement.is_partial() && !is_builtin_partial(placement.partial));
    candidates.push_back({placement});
    wanted.push_back(plain ? 1 : 0);
  }
}

// The op does not offer the rule here; what is said of it are the shapes only.
RuleVerdict judge_unoffered(Place& place, const Trial& trial, const Rule& rule,
                            std::span<const std::vector<Placement>> candidates,
                            std::span<const PlacementSet> wanted) {
  for (size_t output = 0; output < wanted.size(); ++output) {
    const int slot = static_cast<int>(output);
    if (wanted[output] != 0 && trial.fitting(slot, candidates[output], wanted[output]) == 0)
      return refuted(explain_refutation(place, rule, slot, 0));
  }
  return {RuleVerdict::Word::kNotJudged, -1,
          fmt::format("accept_local refuses it: {}", message_of(trial.acceptance()))};
}

}  // namespace

bool rule_divides(const Rule& rule, const Subject& subject, int64_t world) {
  return all_slots(rule, subject, [&](const Placement& placement, const TensorMeta& meta) {
    return divides(placement, meta.shape, world);
  });
}

bool rule_applies(const Rule& rule, const Subject& subject, int64_t world) {
  const bool fits =
      all_slots(rule, subject, [](const Placement& placement, const TensorMeta& meta) {
        return is_splittable(placement, meta.shape);
      });
  if (!fits || (rule.even_only && !rule_divides(rule, subject, world))) return false;
  return std::all_of(
      rule.requirements.begin(), rule.requirements.end(),
      [&](const Requirement& requirement) { return meets(requirement, rule, subject, world); });
}

RuleVerdict judge_rule_at(Place& place, const Rule& rule, int draws, const Registry& registry) {
  const Subject& subject = place.subject();
  Trial trial(place, {rule.inputs, rule.outputs, rule.tag});
  if (!trial.status().ok())
    return refuted(fmt::format("the local call is refused: {}", message_of(trial.status())));
  std::vector<std::vector<Placement>> candidates;
  std::vector<PlacementSet> wanted;
  single_candidates(rule, subject, candidates, wanted);
  if (!trial.acceptance().ok()) return judge_unoffered(place, trial, rule, candidates, wanted);
  const bool has_plain = std::count(wanted.begin(), wanted.end(), 1) > 0;
  bool judged = rule.outputs.empty();
  if (has_plain) {
    const TrialVerdict verdict = trial.run(candidates, wanted, draws, false);
    if (!verdict.status.ok())
      return refuted(fmt::format("the local call fails: {}", message_of(verdict.status)));
    judged = true;
    for (size_t output = 0; output < wanted.size(); ++output) {
      if (wanted[output] == 0) continue;
      judged &= verdict.outputs[output].judged != 0;
      if (verdict.outputs[output].holds == 0)
        return refuted(explain_refutation(place, rule, static_cast<int>(output), draws));
    }
  }
  if (has_joint_outputs(rule)) {
    const JointVerdict joint = judge_joint(place, trial, rule, draws, registry);
    if (!joint.reason.empty()) return refuted(joint.reason);
    judged = joint.judged && (judged || !has_plain);
  }
  if (!judged)
    return {RuleVerdict::Word::kNotJudged, -1, "no draw had finite values to judge it on"};
  return {RuleVerdict::Word::kHolds, -1, {}};
}

RuleVerdict judge_rule(Case& c, const Rule& rule, const std::vector<bool>& present, int draws) {
  RuleVerdict result{RuleVerdict::Word::kNotJudged, -1, "no world and size where it applies"};
  for (int site = 0; site < static_cast<int>(c.sites.size()); ++site) {
    const Case::Site& at = c.sites[site];
    if (!present.empty() && !present[at.subject]) continue;
    if (!rule_applies(rule, at.place->subject(), at.place->world())) continue;
    RuleVerdict verdict = judge_rule_at(*at.place, rule, draws, *c.registry);
    verdict.site = site;
    if (verdict.word == RuleVerdict::Word::kRefuted) return verdict;
    if (result.word != RuleVerdict::Word::kHolds) result = std::move(verdict);
  }
  return result;
}

namespace {

Status check_side(std::span<const Placement> placements, std::span<const TensorMeta* const> metas,
                  std::string_view side) {
  if (placements.size() != metas.size()) {
    return invalid_argument("the rule has {} {} placements, but the call has {} {} slots",
                            placements.size(), side, metas.size(), side);
  }
  for (size_t slot = 0; slot < metas.size(); ++slot) {
    const Placement& placement = placements[slot];
    const std::string text = format_placement(placement);
    if (placement.is_none() != (metas[slot] == nullptr)) {
      return invalid_argument("{} {} is {}, but the rule says {}", side, slot,
                              metas[slot] == nullptr ? "absent" : "a tensor", text);
    }
    if (metas[slot] == nullptr) continue;
    if (placement.is_shard() &&
        (placement.dim < 0 || placement.dim >= static_cast<int>(metas[slot]->shape.size()))) {
      return invalid_argument("{} of {} {}: {} has no dim {}", text, side, slot,
                              format_meta(*metas[slot]), placement.dim);
    }
  }
  return absl::OkStatus();
}

}  // namespace

Status check_rule(const Case& c, const Rule& rule) {
  std::vector<const TensorMeta*> inputs, outputs;
  for (const OptionalMeta& meta : c.sample().call.inputs) inputs.push_back(meta ? &*meta : nullptr);
  for (const OptionalOutput& output : c.sample().outputs)
    outputs.push_back(output ? &output->meta : nullptr);
  if (Status status = check_side(rule.outputs, outputs, "output"); !status.ok()) return status;
  if (Status status = check_side(rule.inputs, inputs, "input"); !status.ok()) return status;
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    const Placement& placement = rule.inputs[slot];
    if (!placement.is_partial() || is_builtin_partial(placement.partial) || c.is_target[slot])
      continue;
    return unimplemented(
        "{} on an input cannot be judged: how its states arise is known to the op that makes them "
        "only",
        format_placement(placement));
  }
  for (const Placement& placement : rule.outputs) {
    if (placement.is_partial() && !is_builtin_partial(placement.partial) &&
        c.registry->find_partial_kind(placement.partial) == nullptr) {
      return invalid_argument("no pack offers the partial kind {}", placement.partial);
    }
  }
  return absl::OkStatus();
}

std::string illegal_partial(const Case& c, const Rule& rule) {
  std::string found;
  const auto look = [&](const Placement& placement, DType dtype) {
    if (!placement.is_partial() || is_legal_partial(placement.partial, dtype)) return;
    found = fmt::format("a {} tensor has no {}", name_of(dtype), format_placement(placement));
  };
  for (size_t output = 0; output < rule.outputs.size(); ++output) {
    if (c.sample().outputs[output])
      look(rule.outputs[output], c.sample().outputs[output]->meta.dtype);
  }
  for (size_t slot = 0; slot < rule.inputs.size(); ++slot) {
    if (c.sample().call.inputs[slot]) look(rule.inputs[slot], c.sample().call.inputs[slot]->dtype);
  }
  return found;
}

}  // namespace onedim
