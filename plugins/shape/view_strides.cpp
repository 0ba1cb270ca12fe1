// A view in row-major order exists where every output dim lies inside one run of the input: dims
// [a, b) are a run if stride[i] = stride[i+1] * size[i+1] for each i but the last.
//   f32[4,6] at strides [12,1]: runs 4 (stride 12) and 6 (stride 1), so [2,2,6] has strides
//   [24,12,1] and [24] has none.

#include "view_strides.hpp"

#include <numeric>

namespace shape {
namespace {

struct Run {
  int64_t size, stride;
};

// Innermost first; dims of size 1 belong to none.
std::vector<Run> runs_of(const Shape& sizes, const Shape& strides) {
  std::vector<Run> runs;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 1) continue;
    if (!runs.empty() && strides[dim] == runs.back().stride * runs.back().size)
      runs.back().size *= sizes[dim];
    else
      runs.push_back({sizes[dim], strides[dim]});
  }
  return runs;
}

int64_t count_of(const Shape& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

Shape row_major_strides(const Shape& sizes) {
  Shape strides(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * std::max<int64_t>(sizes[dim], 1);
  return strides;
}

std::optional<Shape> reshaped_strides(const Shape& from, const Shape& strides, const Shape& sizes) {
  if (from == sizes) return strides;
  if (count_of(sizes) == 0) return row_major_strides(sizes);
  const std::vector<Run> runs = runs_of(from, strides);
  size_t run = 0;
  int64_t taken = 1;  // of the run, by output dims
  Shape result(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] != 1 && run < runs.size() && taken == runs[run].size) {
      ++run;
      taken = 1;
    }
    result[dim] = taken * (run < runs.size() ? runs[run].stride : 1);
    if (sizes[dim] == 1) continue;
    taken *= sizes[dim];
    if (run == runs.size() || runs[run].size % taken != 0) return std::nullopt;
  }
  return result;
}

Shape dense_like(const Shape& sizes, const Shape& strides) {
  std::vector<size_t> order(sizes.size());  // innermost first
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  // A dim without a stride of its own stays where it is.
  const auto lies_inside = [&](size_t a, size_t b) {
    if (strides[a] == 0 || strides[b] == 0) return false;
    return strides[a] != strides[b] ? strides[a] < strides[b] : sizes[a] < sizes[b];
  };
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && lies_inside(order[j], order[j - 1]); --j)
      std::swap(order[j], order[j - 1]);
  }
  Shape result(sizes.size(), 1);
  int64_t stride = 1;
  for (size_t dim : order) {
    result[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  bool is_dense = true;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    is_dense = is_dense && (sizes[dim] == 1 || strides[dim] == result[dim]);
  return is_dense ? strides : result;
}

Shape resolved_size(Shape size, int64_t element_count) {
  const std::string asked = format_shape(size);
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& length : size) {
    if (length < -1) fail("shape " + asked + " has a negative size; only one -1 is allowed");
    if (length >= 0) {
      known *= length;
      continue;
    }
    if (open != nullptr) fail("shape " + asked + " has more than one -1; only one can be inferred");
    open = &length;
  }
  if (open != nullptr && known == 0) {
    fail("shape " + asked + " has a 0, so its -1 could be anything; expected at most one of them");
  }
  const bool fits = open == nullptr ? known == element_count : element_count % known == 0;
  if (!fits) {
    fail("shape " + asked + " is invalid for an input of " + std::to_string(element_count) +
         " elements");
  }
  if (open != nullptr) *open = element_count / known;
  return size;
}

}  // namespace shape
