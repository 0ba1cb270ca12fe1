#pragma once
// Lanes: a tensor's elements as one flat row-major array of the widest type of its class, which is
// what the adversary writes and the judge compares: doubles for real floats, int64 for integers and
// bool, pairs of doubles for complex. Reading is exact for every dtype.

#include <vector>

#include "core/tensor/tensor.hpp"

namespace onedim {

enum class LaneClass { kReal, kInteger, kComplex };

LaneClass lane_class_of(DType dtype);

struct Lanes {
  LaneClass lane_class = LaneClass::kReal;
  std::vector<double> reals;      // kReal: one an element; kComplex: real and imaginary part
  std::vector<int64_t> integers;  // kInteger

  int64_t count() const;  // elements
  bool operator==(const Lanes&) const = default;
};

// Storage of `lanes` is reused.
void read_lanes(const Tensor& tensor, Lanes& lanes);
// Rounds floats and wraps integers to the tensor's dtype; `tensor` has as many elements as `lanes`.
void write_lanes(const Lanes& lanes, Tensor& tensor);

}  // namespace onedim
