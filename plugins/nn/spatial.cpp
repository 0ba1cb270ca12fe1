#include "spatial.hpp"

namespace nn {

std::vector<int64_t> spatial_list(const Call& call, std::string_view name, int count,
                                  int64_t least) {
  auto values = call.attribute<std::vector<int64_t>>(name);
  if (values.size() == 1) values.resize(static_cast<size_t>(count), values[0]);
  bool fits = values.size() == static_cast<size_t>(count);
  for (const int64_t value : values) fits = fits && value >= least;
  if (!fits)
    fail(std::string(name) + " is " + format_shape(values) + ", expected " + std::to_string(count) +
         " numbers that are at least " + std::to_string(least));
  return values;
}

int64_t Window::places(size_t i, int64_t size) const {
  const int64_t room = size + 2 * padding[i] - extent(i);
  const int64_t steps = room + (rounds_up ? stride[i] - 1 : 0);
  int64_t count = (steps < 0 ? -1 : steps / stride[i]) + 1;
  if (rounds_up && (count - 1) * stride[i] >= size + padding[i]) --count;
  require(count > 0, "the window is larger than the padded input");
  return count;
}

Window window_of(const Call& call, int count) {
  Window window;
  window.kernel = spatial_list(call, "kernel_size", count, 1);
  const bool has_stride = !call.attribute<std::vector<int64_t>>("stride").empty();
  window.stride = has_stride ? spatial_list(call, "stride", count, 1) : window.kernel;
  window.padding = spatial_list(call, "padding", count, 0);
  window.dilation = call.find_attribute("dilation") != nullptr
                        ? spatial_list(call, "dilation", count, 1)
                        : std::vector<int64_t>(static_cast<size_t>(count), 1);
  window.rounds_up = call.attribute<bool>("ceil_mode");
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    require(2 * window.padding[i] <= window.kernel[i], "padding must be at most half the kernel");
  return window;
}

void check_pooled(const Call& call, int slot, int count) {
  const TensorView tensor = call.input(slot);
  const int leading = tensor.ndim() - count;
  require(leading == 1 || leading == 2,
          "the input needs channels before its spatial dims, and perhaps a batch");
  for (int dim = leading - 1; dim < tensor.ndim(); ++dim)
    require(call.global_size(false, slot, dim) > 0, "only the batch may be empty");
}

}  // namespace nn
