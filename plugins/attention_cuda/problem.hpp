#pragma once
// Scaled dot-product attention on a device. query [B,H,Q,D], key [B,G,K,D], value [B,G,K,E]; query
// head h reads key head h / (H/G):
//
//   w[k] = scale q.k[k] + bias[k], -inf where the causal mask hides key k from query q
//   lse = log sum exp w,  out = sum_k exp(w[k] - lse) m[k] v[k],  m dropout's factor
//
// Positions are global ones: neither the mask, nor dropout's draws, nor a head's key head move with
// the shards. Scores live in tiles of 32 x 32 in shared memory and are made anew for the gradients.

#include <vector>

#include <onedim/device_elements.hpp>

namespace attention_cuda {

// A [B,heads,rows,columns] tensor; a bias has stride 0 where it is broadcast.
struct Heads {
  onedim::device::Elements elements;
  int64_t strides[4] = {};

  ONEDIM_ON_DEVICE int64_t at(int64_t batch, int64_t head) const {
    return batch * strides[0] + head * strides[1];
  }
};

struct Problem {
  int64_t batch = 0, heads = 0, queries = 0, depth = 0, key_heads = 0, keys = 0, width = 0;
  int64_t group = 1;  // query heads that share one key head
  double scale = 1;
  int32_t is_causal = 0;
  int32_t reserved = 0;
  int64_t shift = 0;  // key k is hidden from query q if k > q + shift
  double dropout = 0;
  uint64_t seed = 0, call_id = 0;
  const int64_t* random_state = nullptr;  // holds seed and call id instead; the second may be apart
  const int64_t* random_offset = nullptr;
  int64_t global_heads = 0, global_queries = 0, global_keys = 0;
  Heads query, key, value, bias, out, lse;
  onedim::device::Positions batch_at, head_at, query_at, key_head_at, key_at;
};

// What a backward pass needs to draw the same numbers.
struct RandomState {
  onedim::device::Elements both;  // [2], of `stride`
  int64_t stride = 1;
  onedim::device::Elements unused;
};

struct Gradients {
  Heads grad_out, grad_query, grad_key, grad_value;
  void* delta = nullptr;  // scratch [B,H,Q] of the compute type: grad_out.out
};

void run_forward(const Problem& problem, const RandomState& state,
                 const std::vector<onedim::device::Piece>& pieces,
                 const onedim_execution_t& execution);
void run_backward(const Problem& problem, const Gradients& gradients,
                  const std::vector<onedim::device::Piece>& pieces,
                  const onedim_execution_t& execution);

}  // namespace attention_cuda
