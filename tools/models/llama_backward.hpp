#pragma once
// Llama backward: the nodes of the backward pass, the forward's turned around: from the gradient of
// the logits to those of all weights.

#include "tools/models/llama_forward.hpp"

namespace onedim {

// The gradient of each of `forward.params`, in its dtype. The forward is that of a joint graph.
std::vector<ValueId> add_llama_backward(LlamaSteps& steps, const LlamaForward& forward);

}  // namespace onedim
