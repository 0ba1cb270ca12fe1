#pragma once
// Reduce: the built-in partial kinds on whole tensors, element by element in list order. Sums and
// products of bf16, f16 and f8 accumulate in f32 and round once, those of f32 in f64; integers
// wrap; max and min propagate NaN and order -0 below +0, on bool they are or and and. Kinds must be
// legal for the dtype (is_legal_partial).

#include <span>
#include <string_view>

#include "core/tensor/tensor.hpp"

namespace onedim {

// Reduces one or more tensors of one shape and dtype; avg divides by their number, once at the end.
Tensor reduce_elements(std::span<const Tensor> locals, std::string_view kind);
// The sum divided by `divisor`, which is how sum and avg over different mesh dims come together.
Tensor average_elements(std::span<const Tensor> locals, int64_t divisor);

// A tensor of `meta` filled with the kind's neutral value: sum -0.0, product 1, max -inf or the
// lowest value, min +inf or the highest. Avg has none; its tensor is the sum's.
Tensor identity_tensor(const TensorMeta& meta, std::string_view kind);

}  // namespace onedim
