#pragma once
// Shrink: the smallest case on which a wrong rule still fails: the smallest world, then every size
// as small as it goes, then attributes at their defaults, over and over until nothing more gives.
// The op must still claim the rule for the smaller call, so that what is shown is a mistake of the
// op and not of the shrinking.

#include <optional>
#include <string>

#include "core/validate/case_setup.hpp"

namespace onedim {

struct SmallestCase {
  Subject subject;
  int64_t world = 0;
  std::string reason;
};

// `rule` was refuted on `subject` in `world`. nullopt if a claim of just that call does not fail
// again, which happens where only other sizes or draws refute it.
std::optional<SmallestCase> shrink(const Subject& subject, const Rule& rule, int64_t world,
                                   const Registry& registry, const CaseOptions& options);

}  // namespace onedim
