#pragma once
// Request key: everything that can change a decision on one mesh under one planner, as words.

#include "core/layout/layout_key.hpp"
#include "core/select/rule_choices.hpp"
#include "core/select/select_request.hpp"

namespace onedim {

// The request as it was made.
MemoKey request_key(const SelectRequest& request);

// What the op said of the request: its rules and outputs stand for the attributes, unless the op
// also sees the attributes of local calls.
MemoKey meaning_key(const SelectRequest& request, std::span<const OptionalOutput> outputs,
                    const RuleChoices& choices);

}  // namespace onedim
