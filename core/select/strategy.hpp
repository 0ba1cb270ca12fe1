#pragma once
// Strategy: one rule for every mesh dim and the order in which mesh dims cut, hence a layout for
// every slot. Valid if, taking mesh dims in that order, each rule holds for the local tensors that
// the mesh dims before it left: what the rule asks of lengths is asked of the lengths left, and no
// two partial kinds meet in one tensor but sum with avg. The policy binds every cut of a tensor
// with elements but those that the caller gave: of an input as far as its placements are the
// current ones, and of the output that is written into such an input. An output is chosen, and so
// bound, also where the input that it follows is as given.

#include <functional>

#include "core/layout/policy.hpp"
#include "core/pack/local_call.hpp"
#include "core/select/rule_choices.hpp"

namespace onedim {

struct Strategy {
  absl::InlinedVector<int, 8> rules;  // per mesh dim: index into RuleChoices
  Dims order;                         // all mesh dims in cutting order
  bool operator==(const Strategy&) const = default;
};

// One call as selection sees it; refers to what the caller owns.
struct SelectSubject {
  const Op& op;
  const Call& call;
  std::span<const OptionalOutput> outputs;
  std::span<const Layout> current;  // one per input slot, without unit mesh dims; absent: any
  const Mesh& mesh;
  Policy policy = Policy::kNonempty;
};

// The layout of an input slot under `strategy`, its order stored where it matters.
Layout input_layout(const RuleChoices& choices, const Strategy& strategy, size_t slot,
                    const Mesh& mesh);
Layout output_layout(const RuleChoices& choices, const Strategy& strategy, size_t slot,
                     const Mesh& mesh);

// The layout with R for what is that: shards and partials over a mesh dim of one rank, shards of a
// tensor dim of size 1.
Layout without_unit_dims(const Layout& layout, const Mesh& mesh, std::span<const int64_t> shape);

// Whether the strategy is valid; the refusal says in words which rule fails on which mesh dim.
Status check_strategy(const SelectSubject& subject, const RuleChoices& choices,
                      const Strategy& strategy);

// Shows the local call of every rank under these layouts, of ranks that cut alike one; rank 0 comes
// first. Ends at the first that may not run (its inferred shapes are not those of the layouts, or
// the op does not accept it), or that `visit` refuses, with the reason.
Status visit_local_calls(const SelectSubject& subject, std::span<const Layout> inputs,
                         std::span<const Layout> outputs, std::span<const uint64_t> tags,
                         const std::function<Status(const LocalCall&)>& visit);

// Whether every rank's local call may run.
Status check_local_calls(const SelectSubject& subject, std::span<const Layout> inputs,
                         std::span<const Layout> outputs, std::span<const uint64_t> tags);

}  // namespace onedim
