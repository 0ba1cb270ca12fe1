#pragma once
// Policy: which layouts may be chosen. It is walked mesh dim by mesh dim, in cutting order, on the
// length that is left, and binds layouts that onedim chooses and targets it is given, never a given
// source. Tensors without elements may be laid out anyhow.

#include <span>

#include "core/layout/cut_lengths.hpp"
#include "core/layout/layout.hpp"
#include "core/tensor/tensor.hpp"

namespace onedim {

enum class Policy : uint8_t {
  kEven,      // every cut divides
  kNonempty,  // no rank is left empty under the chunk rule
  kFits,      // the length that is left is at least the mesh dim's size
  kAny,
};

std::string_view policy_name(Policy policy);
Result<Policy> parse_policy(std::string_view text);

// Whether a cut with this effect may be.
inline bool allows(Policy policy, const CutEffect& effect) {
  switch (policy) {
    case Policy::kEven:
      return effect.divides;
    case Policy::kNonempty:
      return !effect.leaves_empty;
    case Policy::kFits:
      return effect.fits;
    case Policy::kAny:
      break;
  }
  return true;
}

// The refusal says in words which cut of which length is at fault. The layout must fit the mesh and
// the tensor (check_placements).
Status check_policy(const TensorMeta& meta, const Layout& layout, const Mesh& mesh, Policy policy);

}  // namespace onedim
