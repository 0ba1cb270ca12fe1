#pragma once
// Joint draw: states of a pack's partial kind, to check a plan with. How states arise is known to
// the ops that make them; but whatever the kind, its identity is neutral. So of the parts that
// stand for an element one, drawn at random, holds a drawn value and the others the identity, and
// merging is exact in any order. The components' leading dims of equal size are taken as one index:
// an element has the same holder in all of them.

#include <random>

#include "core/pack/partial_kind.hpp"

namespace onedim {

struct JointParts {
  std::vector<std::vector<Tensor>> parts;  // [part][component]: whole tensors
  std::vector<Tensor> merged;              // per component
};

// `group` has one meta a component, `count` is 1 or more. What the kind's hooks refuse is
// InvalidArgument.
Result<JointParts> draw_joint_parts(const PartialKind& kind, std::span<const TensorMeta> group,
                                    int64_t count, std::mt19937_64& random);

// All parts merged in their order; they stay as they are.
Result<std::vector<Tensor>> merge_parts(const PartialKind& kind,
                                        std::span<const std::vector<Tensor>> parts);

}  // namespace onedim
