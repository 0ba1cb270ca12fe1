#include "core/validate/lane_text.hpp"

namespace onedim {

std::string format_lane(const Lanes& lanes, int64_t index) {
  if (lanes.lane_class == LaneClass::kInteger) return fmt::format("{}", lanes.integers[index]);
  if (lanes.lane_class == LaneClass::kReal) return fmt::format("{:.6g}", lanes.reals[index]);
  return fmt::format("{:.6g}{:+.6g}j", lanes.reals[2 * index], lanes.reals[2 * index + 1]);
}

Dims index_of(const Dims& shape, int64_t linear) {
  Dims index(shape.size(), 0);
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = linear % shape[dim];
    linear /= shape[dim];
  }
  return index;
}

}  // namespace onedim
