#pragma once
// SelectRequest: what one decision is asked for: a call, where its inputs lie, and what the caller
// allows. It refers to what the caller owns.

#include <limits>

#include "core/layout/policy.hpp"
#include "core/pack/op.hpp"

namespace onedim {

struct PlanOptions;

struct SelectOptions {
  Policy policy = Policy::kNonempty;
  int64_t memory_bytes = std::numeric_limits<int64_t>::max();  // of a rank during one step
  bool allow_shard_to_partial = false;
  bool exact_rules = false;   // no rules that hold only to rounding
  bool forbid_moves = false;  // every input stays as it is
  bool with_compute = false;  // the objective counts the time of the local call too
};

// What an input may do on its way; `from_outermost` as in PlanOptions.
PlanOptions plan_options(const SelectOptions& options, int from_outermost = 0);

struct SelectRequest {
  const Op* op = nullptr;
  const Call* call = nullptr;
  std::span<const Layout> inputs;  // one per input slot; those of absent slots are ignored
  // One per output slot, null where any layout will do; may be empty.
  std::span<const Layout* const> required_outputs;
  SelectOptions options;
  // Per input slot, or empty: the dim that is outermost in memory (memory_order.hpp). Local calls
  // read row-major tensors, so another order is brought there by the input's plan and priced.
  std::span<const int> outermosts = {};
  // Per input slot, or empty: of an input under a partial kind of a pack whose state is hidden
  // (PartialKind::has_hidden_state) the state tensors, global, which are what moves; without them
  // such an input stays as it is. No tensors for all other inputs.
  std::span<const std::vector<TensorMeta>> states = {};
};

}  // namespace onedim
