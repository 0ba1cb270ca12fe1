#pragma once
// Llama forward: the nodes of the forward pass, and a record of what the backward pass needs of it.

#include "tools/models/llama_steps.hpp"

namespace onedim {

// y = x w^T.
struct LlamaLinear {
  std::string module;
  int layer = -1;
  ValueId param, x, transposed, y;
};

// y = normed * weight, normed = wide * scale, wide = x in f32.
struct LlamaNorm {
  std::string module;
  int layer = -1;
  ValueId param, weight, wide, scale, normed, y;
};

struct LlamaAttention {
  std::string module;
  LlamaLinear wq, wk, wv, wo;
  ValueId turns;                                // the rotations [1,S,1,h/2]
  ValueId query, key, value, out, log_sum_exp;  // of the fused op
};

struct LlamaFeedForward {
  std::string module;
  LlamaLinear w1, w2, w3;
  ValueId open;  // silu of w1's
};

struct LlamaLayer {
  std::string module;
  LlamaNorm attention_norm, feed_forward_norm;
  LlamaAttention attention;
  LlamaFeedForward feed_forward;
};

struct LlamaForward {
  std::vector<ValueId> params;  // in order, each once
  ValueId embedding_param, frequencies, tokens;
  ValueId logits_gradient = kNoValue;  // given, in a joint graph
  std::vector<LlamaLayer> layers;
  LlamaNorm norm;
  LlamaLinear output;
};

// A joint graph has the gradient of the logits, and tags for recomputation in its layers.
LlamaForward add_llama_forward(LlamaSteps& steps, bool is_joint);

}  // namespace onedim
