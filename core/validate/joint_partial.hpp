#pragma once
// Joint partials: a rule whose outputs are a pack's partial kind is judged as a whole. On every
// rank the state is made (by the kind's `local`, or by the op's kernel as its outputs), the states
// of all ranks are combined in several orders and groupings, with identity states among them, and
// what `finish` makes of each must be the truth. Empty shards give the empty states. That the
// orders agree is what associative and commutative mean; that identities change nothing, and merge
// with themselves to themselves, is what neutral means.

#include <string>

#include "core/pack/joint_group.hpp"
#include "core/validate/trial.hpp"

namespace onedim {

// True if an output of `rule` is a partial of a pack.
bool has_joint_outputs(const Rule& rule);

// What one output of a group must come to, and how exactly.
struct JointTruth {
  const Truth* truth = nullptr;
  Dims shape;
  const ErrorModel* model = nullptr;
};
// Says where the merged states of all ranks differ from the truths, one an output of the group; ""
// if they do not. `judged` becomes true where something was compared.
Result<std::string> compare_joint(const JointGroup& group, const std::vector<JointState>& states,
                                  std::span<const JointTruth> truths, bool& judged);
// Kinds that merge exponentials are right to rounding in what they exponentiate, which large values
// make more than the results can show: such a draw is left out.
bool is_ill_conditioned(const JointGroup& group, const Subject& subject, const Draw& draw);

struct JointVerdict {
  bool judged = false;
  std::string reason;  // why it fails; empty if it does not
};

// Judges the joint outputs of `rule` only. `trial` was made for its placements, at `place`.
JointVerdict judge_joint(Place& place, Trial& trial, const Rule& rule, int draws,
                         const Registry& registry);

}  // namespace onedim
