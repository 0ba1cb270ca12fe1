#include "core/cost/roofline.hpp"

#include <algorithm>

#include "core/cost/autoparallel_roofline.hpp"

namespace onedim {

double roofline_us(const ClusterCompute& compute, double flops, double bytes, DType dtype) {
  const double memory = bytes / (1e3 * compute.memory_gbs * compute.efficiency);
  const double tflops = compute.peak_tflops[static_cast<size_t>(dtype)];
  const double arithmetic = tflops > 0 ? flops / (1e6 * tflops * compute.efficiency) : 0;
  return std::max({compute.launch_us, memory, arithmetic});
}

Roofline Roofline::of_model(const Cluster& cluster, std::string_view model) {
  Roofline roofline(cluster.compute);
  roofline.is_autoparallel_ = (model.empty() ? cluster.model : model) == "autoparallel-h100";
  return roofline;
}

double Roofline::us(double flops, double bytes, DType dtype) const {
  return is_autoparallel_ ? autoparallel_roofline_us(flops, bytes, dtype)
                          : roofline_us(compute_, flops, bytes, dtype);
}

}  // namespace onedim
