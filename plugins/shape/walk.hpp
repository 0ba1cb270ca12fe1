#pragma once
// Walk: the rows start, start + step, .. before end of a dim, as slice.Tensor and its kin take
// them.

#include "movement.hpp"

namespace shape {

// Rows start, start + step, .. before `end` of a dim.
struct Walk {
  int64_t length = 0, start = 0, end = 0, step = 1;

  int64_t count() const { return end > start ? (end - start + step - 1) / step : 0; }
  // It takes one row of each `step` from first to last, so that equal cuts of both sides agree.
  bool lines_up() const { return start < step && start + count() * step >= length; }
};

// The wrapped `dim` argument of a call on a tensor of `ndim` dims.
int sliced_dim(const Call& call, int ndim);
// By the arguments start, end and step, on a dim of this length.
Walk walk_of(const Call& call, int64_t length);
// `index` counted from the front.
int64_t checked_index(int64_t index, int64_t length);

// The sources and the output are cut alike where both divide, for a walk that lines up.
void lined_up_rules(RuleSink& rules, const Movement& movement, const Walk& walk);

}  // namespace shape
