#pragma once
// The forward pass as infer, kernel and partial kind; rules are in rules.hpp.

#include "problem.hpp"

namespace attention {

inline constexpr std::string_view kPartialKind = "attention.softmax";

void declare_partial_kind(Registrar& r);

void infer_forward(const Call& call, const Backend& backend, OutputSink& outputs);
uint64_t forward_workspace(const Call& call, const Backend& backend);
void compute_forward(const Call& call, const Backend& backend, const onedim_execution_t& execution);
void add_forward_cost(const Call& call, const Backend& backend, onedim_cost_t& cost);

// Bytes of all tensors of a call.
double bytes_of(const Call& call);
// Strides of `shape` [B,H,Q,*] packed in the memory order that the backend gives its outputs.
Output packed(const Call& call, const Backend& backend, Shape shape);

}  // namespace attention
