#pragma once
// What ops over spatial dims share: attributes with a number for each of them, and the windows that
// pooling reads. Spatial dims are the last ones; channels, and a batch, may stand before them.

#include "families.hpp"

namespace nn {

// A list attribute with one number for each of `count` dims, none below `least`; one number stands
// for all.
std::vector<int64_t> spatial_list(const Call& call, std::string_view name, int count,
                                  int64_t least);

// Kernel, stride, padding and dilation of pooling.
struct Window {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool rounds_up = false;  // a last window may reach beyond the end

  int64_t extent(size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
  int64_t places(size_t i, int64_t size) const;
};
Window window_of(const Call& call, int count);

// The pooled tensor: `count` spatial dims after channels, and perhaps a batch.
void check_pooled(const Call& call, int slot, int count);

}  // namespace nn
