#pragma once
// Partial splits: local values, one tensor a rank, that a built-in partial kind joins to a given
// global value exactly. A rule must hold for every split that some redistribution can create, so
// each kind has several variants: random parts, large offsets of both signs, one owner an element,
// one owner a piece (what S -> P leaves), one owner of everything (what R -> P leaves), multiples,
// fractions, ties. Local values are finite unless the global value is not.

#include <string_view>
#include <vector>

#include "core/validate/random.hpp"
#include "core/validate/value_draw.hpp"

namespace onedim {

// Variants are numbered from 0; any number is taken modulo this.
inline constexpr int kSplitVariantCount = 8;
// One rank holds the value and the others what changes nothing: exact for every value.
inline constexpr int kOneOwnerVariant = 5;

struct SplitOptions {
  int variant = 0;
  uint64_t key = 0;
  bool wraps = false;  // sums and products of integers join to the value only modulo 2^w
};

// `kind` is built in and legal for the dtype; world >= 1.
std::vector<Tensor> split_partial(const Tensor& global, std::string_view kind, int64_t world,
                                  const Domain& domain, const SplitOptions& options);

}  // namespace onedim
