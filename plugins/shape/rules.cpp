// Rules that several families emit in their own words. An input of which the output has no element,
// an empty one or one that is written over, may be any partial: cat [f32[5], f32[0]] has
// P(sum) | P(sum), P(max), and copy f32[5], f32[5] has R | P(sum), R.

#include <numeric>

#include "families.hpp"

namespace shape {
namespace {

// Beyond this many, unread inputs stay as they are: each has six placements, and they multiply.
constexpr size_t kMostUnread = 2;

}  // namespace

void add_with_unread(const Call& call, RuleSink& rules, const Placement& output,
                     std::vector<Placement> inputs, std::span<const int> unread,
                     const RuleOptions& options) {
  if (unread.empty() || unread.size() > kMostUnread) {
    rules.add(std::span(&output, 1), inputs, options);
    return;
  }
  const int slot = unread[0];
  const std::span<const int> others = unread.subspan(1);
  const int32_t kind = inputs[slot].kind;
  if (kind != ONEDIM_PLACEMENT_REPLICATE && kind != ONEDIM_PLACEMENT_PARTIAL) {
    add_with_unread(call, rules, output, std::move(inputs), others, options);
    return;
  }
  inputs[slot] = replicate();
  add_with_unread(call, rules, output, inputs, others, options);
  for (const auto& [any, same] : kIdentity) {
    if (!is_legal_partial(any, call.input(slot).dtype())) continue;
    inputs[slot] = partial(any);
    add_with_unread(call, rules, output, inputs, others, options);
  }
}

std::vector<int> first_dims(int count) {
  std::vector<int> dims(static_cast<size_t>(count));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

void kept_dims_rules(const Call& call, RuleSink& rules, const std::vector<int>& from) {
  for (int dim = 0; dim < static_cast<int>(from.size()); ++dim) {
    if (from[dim] < 0) continue;
    const std::vector<Placement> outputs(static_cast<size_t>(call.output_count()), any_shard(dim));
    const Placement input = any_shard(from[dim]);
    rules.add(outputs, std::span(&input, 1));
  }
}

}  // namespace shape
