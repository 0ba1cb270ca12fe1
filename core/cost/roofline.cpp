#include "core/cost/roofline.hpp"

#include <algorithm>

namespace onedim {

double roofline_us(const ClusterCompute& compute, double flops, double bytes, DType dtype) {
  const double memory = bytes / (1e3 * compute.memory_gbs * compute.efficiency);
  const double tflops = compute.peak_tflops[static_cast<size_t>(dtype)];
  const double arithmetic = tflops > 0 ? flops / (1e6 * tflops * compute.efficiency) : 0;
  return std::max({compute.launch_us, memory, arithmetic});
}

}  // namespace onedim
