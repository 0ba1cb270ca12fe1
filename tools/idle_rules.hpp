#pragma once
// Idle rules: rules that an op declares and that take no effect: those that name a partial kind
// which no pack offers, and those of its table that fit none of its samples. No validation judges
// them, so they are found beside it.

#include <optional>
#include <string>
#include <vector>

#include "core/pack/registry.hpp"

namespace onedim {

struct IdleRules {
  std::vector<std::string> disabled;  // with the kind: `rule "P(a.b#0) | R" is disabled: ...`
  std::vector<std::string> unfit;     // rules of the table
};

// `call` is the one call that is looked at, which says nothing of the table; nullopt for all
// samples. Runs the op's samples, infer and rules; what these refuse is left to the validation that
// they spoil. A variant's rules are its plain op's.
IdleRules idle_rules(const Op& op, const std::optional<std::string>& call,
                     const Registry& registry);

}  // namespace onedim
