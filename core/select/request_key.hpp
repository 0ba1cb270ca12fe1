#pragma once
// Request key: everything that can change a decision on one mesh under one planner, as words,
// packed so that few are made, hashed and compared. Equal keys mean equal requests: what does not
// fit its bits is marked there and follows in words of its own. Both functions replace what `key`
// holds and keep its memory, so that a key that is made again and again allocates nothing.

#include "core/base/memo.hpp"
#include "core/select/rule_choices.hpp"
#include "core/select/select_request.hpp"

namespace onedim {

// The request as it was made.
void request_key(const SelectRequest& request, MemoKey& key);

// What the op said of the request: its rules and outputs stand for the attributes, unless the op
// also sees the attributes of local calls.
void meaning_key(const SelectRequest& request, std::span<const OptionalOutput> outputs,
                 const RuleChoices& choices, MemoKey& key);

}  // namespace onedim
