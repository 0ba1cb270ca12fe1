#pragma once
// Value draws: the global values of one input. Nine kinds alternate, each the counter-example of
// some family of false rules: values of both signs, ties and zeros, one sign only, widely spread, a
// step apart, small integers with duplicates, large ones up to what the dtype holds exactly, and
// values at the constants that the call's attributes name, however large. Index, condition and
// control tensors are redrawn like any other. A sample's domain (`positive`, `index(6)`) holds for
// these values; it does not bind the local values that a partial splits them into.

#include <vector>

#include "core/pack/call.hpp"
#include "core/validate/random.hpp"

namespace onedim {

enum class DrawKind {
  kMixed,
  kTies,
  kNegative,
  kFine,
  kPositive,
  kWide,
  kLarge,
  kConstants,
  kIntegers
};
inline constexpr int kValueKindCount = 9;

// Real numbers among the call's attributes, lists included: thresholds, weights, bounds.
std::vector<double> attribute_constants(const Call& call);

// A tensor of `meta` (its strides kept) with values of `kind` within `domain`; large ones are
// ordinary ones times at most 2^most_power.
Tensor draw_values(const TensorMeta& meta, const Domain& domain, DrawKind kind,
                   std::span<const double> constants, Random random, int most_power = 64);

// NaN and infinities are drawn.
bool is_nonfinite_domain(const Domain& domain);
// Local values outside the domain are no numbers of the tensor at all (indices, offsets): a kernel
// may refuse them.
bool binds_local_values(const Domain& domain);

}  // namespace onedim
