#pragma once
// Call check: what is wrong with a typed call and the claims on it, told before any work starts:
// the op refuses the call, its tensors are too large to be tried, a claim does not fit the call's
// slots and dims, or names a partial kind that no pack offers.

#include <span>
#include <string>

#include "core/pack/registry.hpp"

namespace onedim {

// Of all inputs and outputs of one call; validation makes each of them many times over.
inline constexpr int64_t kMostCallBytes = int64_t{1} << 28;

// The part that asks no pack: the size of the inputs, the syntax of the claims.
Status check_typed_call(const Call& call, std::span<const std::string> claims);

// All of it; asks the op's infer.
Status check_call(const Op& op, const Call& call, std::span<const std::string> claims,
                  const Registry& registry);

}  // namespace onedim
