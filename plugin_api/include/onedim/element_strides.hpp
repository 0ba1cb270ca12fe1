#pragma once
// Element strides: the strides of what an elementwise op makes, as ATen's TensorIterator lays it
// out: dense, with the dims in the order in which they lie in the operands.
//   f32[2,3] with strides [1,2] gives [1,2]; with f32[2,3] row-major as first operand [3,1]
// Operands that all have the output's shape and lie alike, row-major, channels last or densely in
// any order, give just that, also to dims of size 1. Otherwise the order is an insertion sort of
// the dims, starting row-major, by the first operand that tells two dims apart: one whose strides
// there differ and are not 0, which they are where the operand is broadcast; where they are equal,
// the shorter dim lies further in.

#include <onedim/inline.hpp>
#include <onedim/memory_format.hpp>

namespace onedim::api {
namespace detail {

ONEDIM_INLINE Shape broadcast_strides(const TensorView& tensor, const Shape& shape) {
  Shape strides(shape.size(), 0);
  const size_t first = shape.size() - static_cast<size_t>(tensor.ndim());
  for (int dim = 0; dim < tensor.ndim(); ++dim) {
    if (tensor.size(dim) == shape[first + dim]) strides[first + dim] = tensor.stride(dim);
  }
  return strides;
}

// 1 if dim a should lie further out than dim b, -1 if further in, 0 if no operand tells.
ONEDIM_INLINE int compare_dims(const std::vector<Shape>& operands, const Shape& shape, int a,
                               int b) {
  for (const Shape& strides : operands) {
    if (strides[a] == 0 || strides[b] == 0) continue;
    if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

// From the innermost dim out.
ONEDIM_INLINE std::vector<int> element_order(const std::vector<Shape>& operands,
                                             const Shape& shape) {
  std::vector<int> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  for (int i = 1; i < static_cast<int>(order.size()); ++i) {
    for (int moved = i, at = i - 1; at >= 0; --at) {
      const int found = compare_dims(operands, shape, order[at], order[moved]);
      if (found < 0) break;
      if (found == 0) continue;
      std::swap(order[at], order[moved]);
      moved = at;
    }
  }
  return order;
}

// Without regard to dims of size 1.
ONEDIM_INLINE bool is_dense_in(const Shape& shape, const Shape& strides,
                               const std::vector<int>& order) {
  const Shape dense = dense_strides(shape, order);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] != 1 && strides[dim] != dense[dim]) return false;
  }
  return true;
}
}  // namespace detail

// Of an output of `shape`, to which the call's tensors broadcast; empty for row-major ones. With
// `has_numbers` there are also numbers of which ATen makes tensors: operands of another shape.
ONEDIM_INLINE Shape element_strides(const Call& call, const Shape& shape, bool has_numbers) {
  std::vector<Shape> operands;
  bool is_alike = !has_numbers;  // all have the output's shape
  for (int slot = 0; slot < call.input_count(); ++slot) {
    const TensorView tensor = call.input(slot);
    if (!tensor.present()) continue;
    operands.push_back(detail::broadcast_strides(tensor, shape));
    is_alike = is_alike && std::ranges::equal(tensor.shape(), shape);
  }
  std::vector<int> row_major(shape.size());
  std::iota(row_major.rbegin(), row_major.rend(), 0);
  const std::vector<int> channels_last = {1, 3, 2, 0};
  const auto all_lie = [&](const std::vector<int>& order) {
    return std::ranges::all_of(
        operands, [&](const Shape& strides) { return detail::is_dense_in(shape, strides, order); });
  };
  if (is_alike && all_lie(row_major)) return {};
  if (is_alike && shape.size() == 4 && all_lie(channels_last))
    return dense_strides(shape, channels_last);
  const bool is_one = is_alike && std::ranges::all_of(operands, [&](const Shape& strides) {
                        return strides == operands[0];
                      });
  if (is_one && detail::is_dense_in(shape, operands[0], dims_by_stride(operands[0])))
    return operands[0];
  const std::vector<int> order = detail::element_order(operands, shape);
  return order == row_major ? Shape() : dense_strides(shape, order);
}

}  // namespace onedim::api
