#pragma once
// Subject: what is judged: a call of an op with the domains of its values and the outputs that the
// op infers.

#include <optional>
#include <vector>

#include "core/pack/op.hpp"

namespace onedim {

// A call with the domains of its inputs and its inferred outputs.
struct Subject {
  const Op* op = nullptr;
  Call call;
  std::vector<Domain> domains;  // one per input slot
  std::vector<OptionalOutput> outputs;
};

// Infers the outputs; fails where the op refuses the call.
Result<Subject> make_subject(const Op& op, CallText text);

}  // namespace onedim
