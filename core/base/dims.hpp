#pragma once
// Dims: a short list of sizes, strides or indices, kept inline up to six entries so that describing
// a tensor does not allocate. Sizes and strides count elements.

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>
#include <string>

namespace onedim {

using Dims = absl::InlinedVector<int64_t, 6>;

// Product of `sizes`; 1 for none. The caller has checked that it does not overflow (see
// checked_volume).
int64_t volume(std::span<const int64_t> sizes);

// Product of `sizes`, or -1 where a size is negative or the product exceeds 2^62. Dims of size 0 do
// not excuse the others, since row-major strides multiply over them.
int64_t checked_volume(std::span<const int64_t> sizes);

// Row-major strides of `sizes`; dims of size 0 count as 1.
Dims row_major_strides(std::span<const int64_t> sizes);

// `[4,6]`.
std::string format_dims(std::span<const int64_t> dims);

}  // namespace onedim
