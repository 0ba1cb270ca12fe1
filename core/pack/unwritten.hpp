#pragma once
// Unwritten: tells the output elements that a kernel leaves as they were. Outputs are filled with a
// mark that results hardly ever are (NaN for floats); where it is still found after the run, the
// run is made again over another mark, and an element that follows the mark was not written. So
// whatever a kernel leaves is the same on every run and never looks right by luck.

#include <absl/functional/function_ref.h>

#include "core/tensor/tensor.hpp"

namespace onedim {

// Runs `compute` over marked `outputs`, null where there is none to mark. It is made twice if in
// doubt, so it must give the same again. DataLoss names the first element not written; `subject`
// stands in front.
Status run_marked(std::string_view subject, std::span<Tensor* const> outputs,
                  absl::FunctionRef<Status()> compute);

// The same without the search afterwards, for tensors too large to look through: marks only.
void mark_unwritten(Tensor& output);

}  // namespace onedim
