#include "core/validate/joint_partial.hpp"

#include <algorithm>
#include <map>

#include "core/validate/lane_text.hpp"

namespace onedim {
namespace {

JointState clone_state(const JointState& state) {
  JointState copy;
  for (const Tensor& tensor : state) copy.push_back(tensor.clone());
  return copy;
}

Result<JointState> identity_state(const PartialKind& kind, const JointState& like) {
  JointState state = clone_state(like);
  if (Status status = kind.identity(state); !status.ok()) return status;
  return state;
}

// Orders and groupings in which the states are merged.
enum class Order { kForward, kBackward, kPairs, kWithIdentities };

Result<JointState> merge(const PartialKind& kind, std::vector<JointState> states, Order order) {
  if (order == Order::kBackward) std::reverse(states.begin(), states.end());
  if (order == Order::kWithIdentities) {
    Result<JointState> one = identity_state(kind, states[0]), two = identity_state(kind, states[0]);
    if (!one.ok()) return one.status();
    if (!two.ok()) return two.status();
    states.insert(states.begin(), {*std::move(one), *std::move(two)});
    Result<JointState> last = identity_state(kind, states[0]);
    if (!last.ok()) return last.status();
    states.push_back(*std::move(last));
  }
  const size_t reach = order == Order::kPairs ? 2 : states.size();
  while (states.size() > 1) {
    std::vector<JointState> merged;
    for (size_t first = 0; first < states.size(); first += reach) {
      for (size_t next = first + 1; next < std::min(first + reach, states.size()); ++next) {
        if (Status status = kind.combine(states[first], states[next]); !status.ok()) return status;
      }
      merged.push_back(std::move(states[first]));
    }
    states = std::move(merged);
  }
  return std::move(states[0]);
}

// Over the finite elements of all ranks' states: what may have cancelled in the merging.
double largest_of(const std::vector<JointState>& states) {
  double largest = 0;
  for (const JointState& state : states) {
    for (const Tensor& tensor : state) largest = std::max(largest, make_truth(tensor).largest);
  }
  return largest;
}

// "" if what `merged` finishes to is the truth; `states` are those that were merged.
Result<std::string> compare(const JointGroup& group, const JointState& merged,
                            const std::vector<JointState>& states,
                            std::span<const JointTruth> truths, bool& judged) {
  JointState outputs;
  for (const JointTruth& one : truths)
    outputs.push_back(Tensor::zeros(one.truth->dtype, one.shape));
  if (Status status = group.kind->finish(merged, outputs); !status.ok()) return status;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<Lanes> lanes(1);
    read_lanes(outputs[i], lanes[0]);
    Mismatch mismatch;
    const ErrorModel& model = *truths[i].model;
    const Truth& truth = *truths[i].truth;
    Judgement judgement = judge(Placement::replicate(), truth, {}, lanes, model, &mismatch);
    if (judgement == Judgement::kFails && model.local > 0) {
      Truth of_large = truth;
      of_large.largest = std::max(truth.largest, largest_of(states));
      ErrorModel of_states = model;
      of_states.absolute = model.local;
      judgement = judge(Placement::replicate(), of_large, {}, lanes, of_states, &mismatch);
    }
    judged |= judgement == Judgement::kHolds;
    if (judgement != Judgement::kFails) continue;
    return fmt::format("output {} at {} should be {}, but is {}", group.outputs[i],
                       format_dims(index_of(outputs[i].shape(), mismatch.element)),
                       format_lane(truth.lanes, mismatch.element),
                       format_lane(lanes[0], mismatch.element));
  }
  return std::string();
}

Result<std::string> judge_group(Place& place, Trial& trial, const JointGroup& group, int draw,
                                bool& judged) {
  std::vector<JointState> states;
  for (size_t rank = 0; rank < trial.ranks().size(); ++rank) {
    Result<JointState> state =
        joint_state(group, *trial.ranks()[rank], trial.rank_inputs(draw, rank));
    if (!state.ok()) return annotate(state.status(), fmt::format("the state of rank {}", rank));
    states.push_back(*std::move(state));
  }
  std::vector<JointTruth> truths;
  for (const int output : group.outputs) {
    truths.push_back({&*place.draw(draw).truths[output],
                      place.subject().outputs[output]->meta.shape, &place.error_model(output)});
  }
  return compare_joint(group, states, truths, judged);
}

}  // namespace

bool is_joint(const Placement& placement) {
  return placement.is_partial() && !is_builtin_partial(placement.partial);
}

bool has_joint_outputs(const Rule& rule) {
  return std::any_of(rule.outputs.begin(), rule.outputs.end(), is_joint);
}

Result<std::vector<JointGroup>> joint_groups(std::span<const Placement> outputs,
                                             const Registry& registry) {
  std::map<std::string, JointGroup> groups;
  for (size_t output = 0; output < outputs.size(); ++output) {
    const Placement& placement = outputs[output];
    if (!is_joint(placement)) continue;
    JointGroup& group = groups[placement.partial];
    group.kind = registry.find_partial_kind(placement.partial);
    if (group.kind == nullptr)
      return invalid_argument("no pack offers the partial kind {}", placement.partial);
    group.outputs.resize(group.kind->output_count, -1);
    if (placement.component < group.kind->output_count)
      group.outputs[placement.component] = static_cast<int>(output);
  }
  std::vector<JointGroup> list;
  for (auto& [name, group] : groups) {
    if (std::count(group.outputs.begin(), group.outputs.end(), -1) > 0) {
      return invalid_argument("the rule must name all {} outputs of {}", group.outputs.size(),
                              name);
    }
    list.push_back(std::move(group));
  }
  return list;
}

Result<JointState> joint_state(const JointGroup& group, const RankCall& rank,
                               std::span<Tensor* const> inputs) {
  JointState state;
  if (!group.kind->has_local()) {
    for (const int output : group.outputs) state.push_back(rank.outputs()[output].clone());
    return state;
  }
  const LocalCall& local = rank.local();
  std::vector<OptionalOutput> outputs;
  for (const int output : group.outputs) outputs.push_back(local.outputs[output]);
  Result<std::vector<TensorMeta>> metas =
      group.kind->state_metas(local.call, outputs, &local.location);
  if (!metas.ok()) return metas.status();
  for (const TensorMeta& meta : *metas) state.push_back(Tensor::zeros(meta));
  Status status = group.kind->local(local.call, inputs, &local.location, state);
  if (!status.ok()) return status;
  return state;
}

Result<std::string> compare_joint(const JointGroup& group, const std::vector<JointState>& states,
                                  std::span<const JointTruth> truths, bool& judged) {
  static constexpr std::pair<Order, std::string_view> kOrders[] = {
      {Order::kForward, "in rank order"},
      {Order::kBackward, "backwards"},
      {Order::kPairs, "in pairs"},
      {Order::kWithIdentities, "with identity states"}};
  for (const auto& [order, words] : kOrders) {
    std::vector<JointState> copies;
    for (const JointState& state : states) copies.push_back(clone_state(state));
    Result<JointState> merged = merge(*group.kind, std::move(copies), order);
    if (!merged.ok()) return merged.status();
    Result<std::string> difference = compare(group, *merged, states, truths, judged);
    if (!difference.ok()) return difference.status();
    if (!difference->empty())
      return fmt::format("{} once the states of {} are merged {}", *difference, group.kind->name,
                         words);
  }
  return std::string();
}

bool is_ill_conditioned(const JointGroup& group, const Subject& subject, const Draw& draw) {
  return draw.has_large_values &&
         std::any_of(group.outputs.begin(), group.outputs.end(),
                     [&](int output) { return !is_integral(subject.outputs[output]->meta.dtype); });
}

JointVerdict judge_joint(Place& place, Trial& trial, const Rule& rule, int draws,
                         const Registry& registry) {
  JointVerdict verdict;
  const auto fail = [&](const Status& status) {
    verdict.reason = std::string(message_of(status));
    return verdict;
  };
  Result<std::vector<JointGroup>> groups = joint_groups(rule.outputs, registry);
  if (!groups.ok()) return fail(groups.status());
  const bool runs_kernel = std::any_of(groups->begin(), groups->end(), [](const JointGroup& group) {
    return !group.kind->has_local();
  });
  for (int draw = 0; draw < draws; ++draw) {
    if (!place.draw(draw).status.ok()) continue;
    if (runs_kernel) {
      if (Status status = trial.run_ranks(draw); !status.ok()) return fail(status);
    }
    for (const JointGroup& group : *groups) {
      if (is_ill_conditioned(group, place.subject(), place.draw(draw))) continue;
      Result<std::string> difference = judge_group(place, trial, group, draw, verdict.judged);
      if (!difference.ok()) return fail(difference.status());
      if (!difference->empty()) return fail(invalid_argument("{}", *difference));
    }
  }
  return verdict;
}

}  // namespace onedim
