#pragma once
// The backward pass as infer and kernel; rules are in rules.hpp.

#include "problem.hpp"

namespace attention {

void infer_backward(const Call& call, const Backend& backend, OutputSink& outputs);
uint64_t backward_workspace(const Call& call, const Backend& backend);
void compute_backward(const Call& call, const Backend& backend,
                      const onedim_execution_t& execution);
void add_backward_cost(const Call& call, const Backend& backend, onedim_cost_t& cost);

}  // namespace attention
