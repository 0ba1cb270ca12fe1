#pragma once
// InferCheck: whether what a pack's infer emitted can be true of a call: as many outputs as the
// schema returns, absent only where it says `Tensor?`, numbers without dims, strides that a tensor
// of this size can have, views that lie inside the input they name and are marked in the schema. A
// failure is a fault of the pack.

#include "core/pack/op.hpp"

namespace onedim {

Status check_outputs(const Schema& schema, const Call& call,
                     std::span<const OptionalOutput> outputs);

// Elements from the first to the last that `meta` reaches, both included; -1 above 2^62.
int64_t checked_extent(const TensorMeta& meta);
// True if two indices may mean one element: a stride of 0 on a dim longer than 1, or dims that
// interleave.
bool may_overlap_itself(const TensorMeta& meta);

// The schema's return that output `output` of `output_count` belongs to; lists share what the
// others leave.
const ReturnSlot& return_of_output(const Schema& schema, size_t output, size_t output_count);
// True if the slot stands for a number that the schema returns, not for a tensor.
bool is_number_output(const Schema& schema, size_t output, size_t output_count);

}  // namespace onedim
