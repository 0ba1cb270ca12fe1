// Copies between strided boxes: dims of size 1 are dropped and neighbours merged where both sides
// step alike, then one loop runs over the innermost dim: f32[4,6] at strides [1,4] into a dense one
// is 4 rows of 6 elements; into one of the same strides it is one row of 24.

#include "box.hpp"

#include <cstring>

namespace shape {
namespace {

struct Step {
  int64_t size, from, to;  // strides in bytes
};

std::vector<Step> merged_steps(const Box& from, const Box& to) {
  std::vector<Step> steps;  // innermost first
  for (size_t dim = to.sizes.size(); dim-- > 0;) {
    if (to.sizes[dim] == 1) continue;
    const Step next{to.sizes[dim], from.strides[dim] * from.item, to.strides[dim] * to.item};
    const bool merges = !steps.empty() && next.from == steps.back().from * steps.back().size &&
                        next.to == steps.back().to * steps.back().size;
    if (merges)
      steps.back().size *= next.size;
    else
      steps.push_back(next);
  }
  if (steps.empty()) steps.push_back({1, from.item, to.item});
  return steps;
}

template <size_t kItem>
void copy_row(const std::byte* from, std::byte* to, const Step& row) {
  for (int64_t i = 0; i < row.size; ++i) std::memcpy(to + i * row.to, from + i * row.from, kItem);
}

void copy_row_of(int64_t item, const std::byte* from, std::byte* to, const Step& row) {
  if (row.from == item && row.to == item) {
    std::memcpy(to, from, static_cast<size_t>(row.size * item));
    return;
  }
  switch (item) {
    case 1:
      return copy_row<1>(from, to, row);
    case 2:
      return copy_row<2>(from, to, row);
    case 4:
      return copy_row<4>(from, to, row);
    case 8:
      return copy_row<8>(from, to, row);
    default:
      return copy_row<16>(from, to, row);
  }
}

}  // namespace

Box box_of(const TensorView& tensor) {
  return {static_cast<std::byte*>(tensor.data()), size_of(tensor.dtype()), shape_of(tensor),
          Shape(tensor.strides().begin(), tensor.strides().end())};
}

Box with_dim(Box box, int dim) {
  box.sizes.insert(box.sizes.begin() + dim, 1);
  box.strides.insert(box.strides.begin() + dim, 0);
  return box;
}

void copy_box(const Box& from, const Box& to) {
  for (int64_t size : to.sizes) {
    if (size == 0) return;
  }
  const std::vector<Step> steps = merged_steps(from, to);
  Shape index(steps.size(), 0);
  const std::byte* source = from.data;
  std::byte* target = to.data;
  while (true) {
    copy_row_of(to.item, source, target, steps[0]);
    size_t dim = 1;
    for (; dim < steps.size(); ++dim) {
      source += steps[dim].from;
      target += steps[dim].to;
      if (++index[dim] < steps[dim].size) break;
      source -= steps[dim].from * steps[dim].size;
      target -= steps[dim].to * steps[dim].size;
      index[dim] = 0;
    }
    if (dim == steps.size()) return;
  }
}

void fill_box(const Box& to, const std::byte* value) {
  const Box from{const_cast<std::byte*>(value), to.item, to.sizes, Shape(to.sizes.size(), 0)};
  copy_box(from, to);
}

std::array<std::byte, 16> neutral_of_sum(DType dtype) {
  std::array<std::byte, 16> bytes{};
  const double parts[] = {-0.0, -0.0};
  if (is_complex(dtype)) {
    store_row(to_real(dtype), parts, 1, 2, bytes.data());
  } else {
    store_row(dtype, parts, 1, 1, bytes.data());
  }
  return bytes;
}

std::array<std::byte, 16> element_of(const onedim_value_t& number, DType dtype) {
  std::array<std::byte, 16> bytes{};
  const bool is_integer = number.kind == ONEDIM_VALUE_INT || number.kind == ONEDIM_VALUE_BOOL;
  if (is_integer && !is_floating(dtype) && !is_complex(dtype)) {
    store_row(dtype, &number.integer, 1, 1, bytes.data());
    return bytes;
  }
  const auto value = detail::read_value<std::complex<double>>(number, "value");
  store_row(dtype, &value, 1, 1, bytes.data());
  return bytes;
}

}  // namespace shape
