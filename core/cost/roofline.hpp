#pragma once
// Roofline: the time of one kernel from what it computes and moves: the slower of arithmetic and
// memory, both at the share of their peak that kernels reach, and never less than a launch.
// Selection and whole plans ask the same object, made beside the cost model that prices their
// moves.

#include <string_view>

#include "core/cost/cluster.hpp"

namespace onedim {

// `flops` operations on elements of `dtype`, `bytes` read and written in all. A dtype without a
// peak is priced by its bytes alone.
double roofline_us(const ClusterCompute& compute, double flops, double bytes, DType dtype);

class Roofline {
 public:
  // The cluster's compute figures.
  explicit Roofline(const ClusterCompute& compute) : compute_(compute) {}
  // That which goes with a cost model of make_cost_model: `autoparallel-h100` has its own.
  static Roofline of_model(const Cluster& cluster, std::string_view model);

  double us(double flops, double bytes, DType dtype) const;

 private:
  ClusterCompute compute_;
  bool is_autoparallel_ = false;
};

}  // namespace onedim
