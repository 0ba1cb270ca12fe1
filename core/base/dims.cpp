#include "core/base/dims.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace onedim {

int64_t volume(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

int64_t checked_volume(std::span<const int64_t> sizes) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t product = 1;
  bool is_empty = false;
  for (int64_t size : sizes) {
    if (size < 0) return -1;
    if (size == 0) {
      is_empty = true;
      continue;
    }
    if (product > kLimit / size) return -1;
    product *= size;
  }
  return is_empty ? 0 : product;
}

Dims row_major_strides(std::span<const int64_t> sizes) {
  Dims strides(sizes.size(), 1);
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

std::string format_dims(std::span<const int64_t> dims) {
  return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ","));
}

}  // namespace onedim
