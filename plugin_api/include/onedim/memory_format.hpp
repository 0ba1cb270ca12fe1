#pragma once
// Memory formats: the strides of an output in the shape of an input, as the argument
// `memory_format` asks. preserve_format, the default, keeps the order of the input's dims.
//   f32[2,3,4,5] with strides [60,1,15,3] is channels_last; preserved, it gives the same strides

#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>

#include <numeric>

namespace onedim::api {

// Strides in which the dims of `order` follow each other from the innermost one out.
ONEDIM_INLINE Shape dense_strides(const Shape& shape, std::span<const int> order) {
  Shape strides(shape.size());
  int64_t step = 1;
  for (const int dim : order) {
    strides[dim] = step;
    step *= std::max<int64_t>(shape[dim], 1);
  }
  return strides;
}

// Dims from the smallest stride to the largest; of equal strides the last comes first.
ONEDIM_INLINE std::vector<int> dims_by_stride(std::span<const int64_t> strides) {
  std::vector<int> order(strides.size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return strides[a] < strides[b]; });
  return order;
}

// Strides for an output of `shape`, which has the dims of `self`; empty for row-major ones.
ONEDIM_INLINE Shape like_strides(const Call& call, const TensorView& self, const Shape& shape) {
  std::string_view format = "preserve_format";
  if (call.has_attribute("memory_format"))
    format = call.attribute<std::string_view>("memory_format");
  const std::span<const int64_t> strides = self.strides();
  if (format == "preserve_format") {
    const bool repeats = std::find(strides.begin(), strides.end(), 0) != strides.end();
    return repeats ? Shape() : dense_strides(shape, dims_by_stride(strides));
  }
  if (format == "contiguous_format") return {};
  const int ndim = static_cast<int>(shape.size());
  const bool is_2d = format == "channels_last" && ndim == 4;
  require(is_2d || (format == "channels_last_3d" && ndim == 5),
          "memory_format must be preserve_format, contiguous_format, channels_last of 4 dims or "
          "channels_last_3d of 5 dims");
  std::vector<int> order = {1};  // the channels are innermost, then come width, height, ...
  for (int dim = ndim - 1; dim >= 0; --dim) {
    if (dim != 1) order.push_back(dim);
  }
  return dense_strides(shape, order);
}

}  // namespace onedim::api
