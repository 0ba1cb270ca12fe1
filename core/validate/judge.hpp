#pragma once
// Judge: does a placement hold for what the ranks computed? The local results are joined by the
// placement and compared with the truth, every rank and element. A rule is an identity over finite
// values: an element whose truth is infinite is not judged, nor one whose partials are infinite or
// join to infinity. A copy (R, a shard) that is infinite where the truth is not refutes, and so
// does a NaN that the truth does not have (a local value that left the op's domain). Calls about
// non-finite values are judged on all elements, NaN equal to NaN. Integers and bool must be equal
// (sums and products modulo 2^w), -0 equals +0, and floats may differ by rounding: |error| <= slack
// eps (|truth| + |what is joined|) of the element + a little of the tensor's largest value, and of
// the local ones', for cancellation inside the op. Splits are exact, so wrong rules miss this by
// far.

#include <vector>

#include "core/layout/placement.hpp"
#include "core/validate/lanes.hpp"

namespace onedim {

struct ErrorModel {
  double relative = 0;      // of the element's truth and local values
  double absolute = 0;      // times the largest truth of the tensor
  double local = 0;         // of sums and means: times the largest local value
  double range = 0x1p1023;  // the power of two next to the dtype's largest number
  double gap = 0;           // between its numbers next to 0; each local value is rounded to them
  bool nonfinite = false;
  bool finite_inputs = true;  // of every call judged by this

  // `dtype` is the output's; `coarsest` the least exact float dtype among the call's inputs and
  // this output.
  static ErrorModel of(DType dtype, DType coarsest);
};

struct Truth {
  DType dtype = DType::kF32;
  Lanes lanes;
  double largest = 0;  // magnitude over its finite elements
};
Truth make_truth(const Tensor& tensor);

enum class Judgement { kHolds, kFails, kNothingJudged };

// Where a placement fails first: for messages.
struct Mismatch {
  int64_t element = -1;  // linear index in the global output
  int64_t rank = -1;     // R and shards; -1 for partials
};

// `owned`, for shards: per rank the linear indices in the truth of its local elements, in local
// order. `locals` has one entry a rank. Shapes have been checked. Pack kinds are not judged here.
Judgement judge(const Placement& placement, const Truth& truth,
                std::span<const std::vector<int32_t>> owned, std::span<const Lanes> locals,
                const ErrorModel& model, Mismatch* mismatch = nullptr);

// What the local values of one element join to under a built-in partial: for messages.
Lanes join_element(const Placement& placement, DType dtype, std::span<const Lanes> locals,
                   int64_t element);

}  // namespace onedim
