#pragma once
// Llama: the graphs of Llama 3 models, from their sizes. D is the width, H heads of which K have
// keys and values, h = D / H; one layer on x [B,S,D]:
//   x + wo(attention(rope(wq n), rope(wk n), wv n)),  n = x * rsqrt(mean(x^2) + eps) * weight
//   h + w2(silu(w1 m) * w3 m),                        m the same of h
// Linear maps are einsum `abk,kn->abn` with the transposed weight, keys and values are repeated H/K
// times, and attention is the fused op of the CPU: node by node what PyTorch makes of the model
// (tests/tools/llama_test.cpp compares), but for the exported graph's `alias` nodes: these stand
// there for values with several users and for outputs, and move nothing.

#include <span>

#include "core/graph/graph.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct LlamaConfig {
  std::string name;  // llama3-8b
  int64_t width = 0;
  int layers = 0;
  int64_t heads = 0;
  int64_t key_heads = 0;
  int64_t hidden = 0;  // of the feed-forward part
  int64_t vocabulary = 0;
  int64_t sequence = 8192;
  bool ties_output = false;  // the output's weight is the embedding's
};

// llama3-debug, -1b, -8b, -70b, -405b.
std::span<const LlamaConfig> llama_configs();
// NotFound with the nearest name.
Result<LlamaConfig> find_llama(std::string_view name);

struct LlamaShape {
  int64_t batch = 16;
  int64_t sequence = 0;  // 0: the model's
  int layers = 0;        // 0: the model's
  // Weights and their gradients lie in `stored`; they are cast to `computed`, and gradients from
  // it, where the two differ. Norms and rotations are in f32.
  DType stored = DType::kF32;
  DType computed = DType::kBF16;
};

// Inputs: tokens i64[B,S]; output: logits [B,S,V]. NotFound where the packs lack an op.
Result<Graph> build_llama_forward(const LlamaConfig& config, const LlamaShape& shape,
                                  const Registry& registry);
// Forward and backward: the gradient of the logits is given, those of all weights come out behind
// the logits, in the order of the weights; for the buffer and the tokens there are none. Nodes of
// the forward layers are tagged as selective activation checkpointing of every second linear map
// does it: wq, wv, w1 and w2 must be saved, the rest is better made again.
Result<Graph> build_llama_joint(const LlamaConfig& config, const LlamaShape& shape,
                                const Registry& registry);

}  // namespace onedim
