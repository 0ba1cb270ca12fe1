#pragma once
// StateSizes: what the search needs to know of a group of tensors in one state: a rank's bytes at
// most, whether the policy allows the state, which mesh dims cut unevenly, which tensor dims are of
// length 1. Of a group, the largest parts of all tensors count, be they on different ranks.

#include "core/layout/memory_order.hpp"
#include "core/layout/policy.hpp"
#include "core/redistribute/alphabet.hpp"

namespace onedim {

struct StateSizes {
  int64_t bytes = -1;  // of the rank that holds most; -1: not measured yet
  UnitDims units = 0;  // of the local tensors of all ranks
  uint8_t uneven = 0;  // bit i: the i-th mesh dim of the code does not divide what it cuts
  bool is_allowed = true;
};

// `group` has one shape per tensor, all of the alphabet's tensor_ndim at least.
StateSizes measure_state(const Alphabet& alphabet, std::span<const GroupMember> group,
                         Policy policy, StateCode code);

}  // namespace onedim
