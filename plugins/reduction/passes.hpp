#pragma once
// Which partials pass through a cast of every element, `P(out) | P(in)`. A reduction of one element
// is that cast; a longer one keeps the passes that its own operation commutes with.
// Theory: a cast that is linear passes sum and avg, a multiplicative one product, a monotone one
// max and min. Bool is 0 and 1, so `and` of bools is their product and `x != 0` of a product is the
// `and` of its factors' `x != 0`.

#include <string_view>

#include "families.hpp"

namespace reduction {

struct Pass {
  std::string_view out;
  std::string_view in;
  bool to_rounding = false;

  bool is_linear() const { return out == in && (in == "sum" || in == "avg"); }
};

std::vector<Pass> cast_passes(DType from, DType to);

// Adds those passes of the cast from self to the output that `keep(pass)` accepts.
template <typename Keep>
void add_passes(const Call& call, RuleSink& rules, Keep keep) {
  for (const Pass& pass : cast_passes(call.input(0).dtype(), call.output().dtype())) {
    if (!keep(pass)) continue;
    RuleOptions options;
    options.flags = pass.to_rounding ? uint64_t{ONEDIM_RULE_TO_ROUNDING} : 0;
    const Placement in = partial(pass.in);
    const std::vector<Placement> outputs(static_cast<size_t>(call.output_count()),
                                         partial(pass.out));
    rules.add(outputs, std::span(&in, 1), options);
  }
}

}  // namespace reduction
