#pragma once
// Dense copies: a tensor's elements in row-major order as a vector of the compute type, and back.
// For kernels whose access pattern is their own; elementwise kernels need no copy
// (elementwise.hpp).

#include <array>
#include <onedim/convert.hpp>

namespace onedim::api {

inline constexpr int kMaxDims = 16;

// Calls f(index, offset, count, stride) for every innermost row in row-major order; `index` holds
// the row's place in the outer dims, offsets count elements.
template <typename F>
void for_each_indexed_row(const TensorView& tensor, F&& f) {
  const int ndim = tensor.ndim();
  require(ndim <= kMaxDims, "tensors of more than 16 dims are not supported");
  const int64_t inner = ndim > 0 ? tensor.size(ndim - 1) : 1;
  const int64_t stride = ndim > 0 ? tensor.stride(ndim - 1) : 1;
  const int64_t rows = inner > 0 ? tensor.element_count() / inner : 0;
  std::array<int64_t, kMaxDims> index{};
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0;
    for (int dim = 0; dim + 1 < ndim; ++dim) offset += index[dim] * tensor.stride(dim);
    f(index, offset, inner, stride);
    for (int dim = ndim - 2; dim >= 0 && ++index[dim] == tensor.size(dim); --dim) index[dim] = 0;
  }
}
// The same without the index: f(offset, count, stride).
template <typename F>
void for_each_row(const TensorView& tensor, F&& f) {
  for_each_indexed_row(tensor, [&](const std::array<int64_t, kMaxDims>&, int64_t offset,
                                   int64_t count, int64_t stride) { f(offset, count, stride); });
}

template <typename C>
std::vector<C> load_dense(const TensorView& tensor) {
  std::vector<C> values(static_cast<size_t>(tensor.element_count()));
  C* to = values.data();
  for_each_row(tensor, [&](int64_t offset, int64_t count, int64_t stride) {
    const int64_t bytes = offset * size_of(tensor.dtype());
    load_row(tensor.dtype(), tensor.data_as<const std::byte>() + bytes, stride, count, to);
    to += count;
  });
  return values;
}

// `values` holds tensor.element_count() elements.
template <typename C>
void store_dense(const C* values, const TensorView& tensor) {
  for_each_row(tensor, [&](int64_t offset, int64_t count, int64_t stride) {
    const int64_t bytes = offset * size_of(tensor.dtype());
    store_row(tensor.dtype(), values, stride, count, tensor.data_as<std::byte>() + bytes);
    values += count;
  });
}

}  // namespace onedim::api
