#include "core/cost/autoparallel_roofline.hpp"

#include "core/cost/roofline.hpp"

namespace onedim {
namespace {

const ClusterCompute& autoparallel_h100() {
  static const ClusterCompute compute = [] {
    ClusterCompute h100{3.35 * 1099.511627776, 0.7, 7, {}};
    const auto set = [&](DType dtype, double tflops) {
      h100.peak_tflops[static_cast<size_t>(dtype)] = tflops;
    };
    set(DType::kF64, 67);
    set(DType::kF32, 494);
    set(DType::kBF16, 989);
    set(DType::kF16, 989);
    set(DType::kF8E4M3FN, 1979);
    set(DType::kF8E5M2, 1979);
    set(DType::kI8, 1979);
    return h100;
  }();
  return compute;
}

}  // namespace

double autoparallel_copy_us(double bytes) {
  return roofline_us(autoparallel_h100(), 0, bytes, DType::kU8);
}

double autoparallel_roofline_us(double flops, double bytes, DType first) {
  return roofline_us(autoparallel_h100(), flops, bytes, first);
}

}  // namespace onedim
