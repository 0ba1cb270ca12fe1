#pragma once
// SelectRequest: what one decision is asked for: a call, where its inputs lie, and what the caller
// allows. It refers to what the caller owns.

#include <limits>

#include "core/layout/policy.hpp"
#include "core/pack/op.hpp"

namespace onedim {

struct SelectOptions {
  Policy policy = Policy::kNonempty;
  int64_t memory_bytes = std::numeric_limits<int64_t>::max();  // of a rank during one step
  bool allow_shard_to_partial = false;
  bool exact_rules = false;   // no rules that hold only to rounding
  bool forbid_moves = false;  // every input stays as it is
  bool with_compute = false;  // the objective counts the time of the local call too
};

struct SelectRequest {
  const Op* op = nullptr;
  const Call* call = nullptr;
  std::span<const Layout> inputs;  // one per input slot; those of absent slots are ignored
  // One per output slot, null where any layout will do; may be empty.
  std::span<const Layout* const> required_outputs;
  SelectOptions options;
};

}  // namespace onedim
