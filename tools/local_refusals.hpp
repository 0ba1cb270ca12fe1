#pragma once
// Local refusals: a rule may hold and yet not be offered, because the op's accept_local refuses the
// tensors that ranks would hold: their strides, or which part of the whole they are. Such a
// condition is code of the pack; it is shown by what it says on meshes of one dim, of ranks that
// hold row-major pieces.

#include <string>
#include <vector>

#include "core/pack/rule.hpp"
#include "core/validate/subject.hpp"

namespace onedim {

struct LocalRefusal {
  std::vector<int64_t> ranks;  // sizes of the mesh dim, in the order they were given
  std::string reason;          // the op's own words, of the first rank that it refuses
};

// One entry a reason. Sizes at which the rule's own conditions fail count as not refused. Calls the
// pack: keep a ForeignCall.
std::vector<LocalRefusal> local_refusals(const Subject& subject, const Rule& rule,
                                         const std::vector<int64_t>& worlds);

}  // namespace onedim
