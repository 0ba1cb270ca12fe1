#pragma once
// Moved: a tensor of distinct values taken from one layout to another on the `sim` back end.

#include "core/exec/plan_program.hpp"
#include "core/redistribute/planner.hpp"

namespace onedim {

// 0, 1, 2 ... in row-major order, `first` added.
Tensor ramp(DType dtype, const Dims& shape, int64_t first = 0);
// The elements as text, in row-major order: `[0,1,4]`.
std::string elements_text(const Tensor& tensor);

struct Moved {
  Plan plan;
  std::vector<Tensor> locals;    // under the target
  std::vector<Tensor> expected;  // by the index map
  std::vector<RankTrace> traces;
  std::vector<RankMemory> memories;
};

struct MoveOptions {
  DType dtype = DType::kF32;
  PlanOptions plan;
  SimOptions sim;
  bool is_transposed = false;  // local tensors lie column-major in memory
  int64_t first = 0;           // value of the first element
};

// Layouts as texts. Fails where there is no plan, or its run fails.
Result<Moved> move_ramp(std::string_view mesh, const Dims& shape, std::string_view from,
                        std::string_view to, const MoveOptions& options = {});
// The first rank that does not hold what it should, in words; "" if there is none.
std::string difference(const Moved& moved);
// How many spans of that name rank 0 has.
int64_t count_spans(const Moved& moved, std::string_view name);

}  // namespace onedim
