// Device kernels of flash attention, forward and backward, with grouped heads, a causal mask by
// global position, dropout by global index, and the mask of the form for the CPU.
//   _scaled_dot_product_flash_attention q [2,4,5,8], k [2,2,7,8], v [2,2,7,3]
//     -> out [2,4,5,3], logsumexp [2,4,5], random state [2]

#include <cmath>

#include <onedim/device_call.hpp>
#include <onedim/pack.hpp>

#include "problem.hpp"

namespace attention_cuda {
namespace {

using namespace onedim::api;

// What tells the two forms apart.
enum class Form {
  kForCpu,  // a mask may be added; causal from the first row and column on
  kFlash,   // dropout with a random state; causal from the last row and column on
};

Heads heads_of(const TensorView& tensor) {
  Heads heads;
  if (!tensor.present()) return heads;
  heads.elements = elements_of(tensor);
  for (int dim = 0; dim < tensor.ndim(); ++dim) heads.strides[dim] = tensor.stride(dim);
  return heads;
}

// Aligned to the right of [B,H,Q,K].
Heads bias_of(const TensorView& mask) {
  Heads heads;
  if (!mask.present()) return heads;
  heads.elements = elements_of(mask);
  for (int dim = 0; dim < mask.ndim(); ++dim) {
    if (mask.size(dim) != 1) heads.strides[dim + 4 - mask.ndim()] = mask.stride(dim);
  }
  return heads;
}

void require_key_heads(const Call& call, const Problem& p) {
  const int query = call.slot("query"), key = call.slot("key");
  for (int64_t head = 0; head < p.heads; ++head) {
    const int64_t wanted = call.global_index(false, query, 1, head) / p.group;
    bool is_here = false;
    for (int64_t g = 0; g < p.key_heads && !is_here; ++g)
      is_here = call.global_index(false, key, 1, g) == wanted;
    require(is_here, "a query head's key head lies on another rank");
  }
}

void set_sizes(const Call& call, Problem& p) {
  const TensorView q = call.tensor("query"), k = call.tensor("key"), v = call.tensor("value");
  p.batch = q.size(0);
  p.heads = q.size(1);
  p.queries = q.size(2);
  p.depth = q.size(3);
  p.key_heads = k.size(1);
  p.keys = k.size(2);
  p.width = v.size(3);
  const int query = call.slot("query"), key = call.slot("key");
  p.global_heads = call.global_size(false, query, 1);
  p.global_queries = call.global_size(false, query, 2);
  p.global_keys = call.global_size(false, key, 2);
  const int64_t key_heads = call.global_size(false, key, 1);
  p.group = key_heads > 0 && p.global_heads > 0 ? p.global_heads / key_heads : 1;
  const auto depth = static_cast<double>(call.global_size(false, query, 3));
  p.scale = call.attribute<std::optional<double>>("scale").value_or(1 / std::sqrt(depth));
}

Problem problem_of(const Call& call, Form form, PositionLists& lists) {
  Problem p;
  set_sizes(call, p);
  require_key_heads(call, p);
  p.is_causal = call.attribute<bool>("is_causal") ? 1 : 0;
  if (form == Form::kFlash) p.shift = p.global_keys - p.global_queries;
  p.dropout = call.attribute<double>("dropout_p");
  p.seed = call.seed();
  p.call_id = call.call_id();
  p.query = heads_of(call.tensor("query"));
  p.key = heads_of(call.tensor("key"));
  p.value = heads_of(call.tensor("value"));
  if (form == Form::kForCpu) p.bias = bias_of(call.tensor("attn_mask"));
  const int query = call.slot("query"), key = call.slot("key");
  p.batch_at = lists.add(call, false, query, 0);
  p.head_at = lists.add(call, false, query, 1);
  p.query_at = lists.add(call, false, query, 2);
  p.key_head_at = lists.add(call, false, key, 1);
  p.key_at = lists.add(call, false, key, 2);
  return p;
}

// The random state of flash attention lies in these outputs.
constexpr int kRandomState = 6, kUnused = 7, kDebugMask = 8;

void forward(const Call& call, Form form, const onedim_execution_t& execution) {
  PositionLists lists(execution.workspace);
  Problem p = problem_of(call, form, lists);
  p.out = heads_of(call.output(0));
  p.lse = heads_of(call.output(1));
  RandomState state;
  if (form == Form::kFlash) {
    if (call.output(kDebugMask).present())
      fail("return_debug_mask is not supported on a device", ONEDIM_STATUS_UNIMPLEMENTED);
    state.both = elements_of(call.output(kRandomState));
    state.stride = call.output(kRandomState).stride(0);
    state.unused = elements_of(call.output(kUnused));
  }
  run_forward(p, state, lists.pieces(), execution);
}

// The backward pass draws what the forward pass drew.
void set_random_state(const Call& call, Problem& p) {
  const TensorView seed = call.tensor("philox_seed"), offset = call.tensor("philox_offset");
  p.random_state = seed.data_as<const int64_t>();
  const bool is_pair = seed.element_count() == 2;
  p.random_offset = is_pair ? p.random_state + seed.stride(0) : offset.data_as<const int64_t>();
}

uint64_t delta_bytes(const Call& call) {
  const TensorView query = call.tensor("query");
  const int64_t element = query.dtype() == DType::kF64 ? 8 : 4;
  return static_cast<uint64_t>(query.size(0) * query.size(1) * query.size(2) * element);
}

void backward(const Call& call, Form form, const onedim_execution_t& execution) {
  PositionLists lists(execution.workspace);
  Problem p = problem_of(call, form, lists);
  p.out = heads_of(call.tensor("out"));
  p.lse = heads_of(call.tensor("logsumexp"));
  if (form == Form::kFlash) set_random_state(call, p);
  Gradients g;
  g.grad_out = heads_of(call.tensor("grad_out"));
  g.grad_query = heads_of(call.output(0));
  g.grad_key = heads_of(call.output(1));
  g.grad_value = heads_of(call.output(2));
  g.delta = static_cast<std::byte*>(execution.workspace) + lists.bytes();
  run_backward(p, g, lists.pieces(), execution);
}

uint64_t position_bytes(const Call& call, Form form) {
  PositionLists lists;
  problem_of(call, form, lists);
  return lists.bytes();
}

void declare(Registrar& r, const std::string& name, Form form) {
  constexpr uint64_t kDTypes = kDeviceFloats | kBoolDTypes | dtype_bit(DType::kI64);
  r.kernel(name, ONEDIM_DEVICE_CUDA)
      .compute(kDTypes,
               [form](const Call& call, const onedim_execution_t& execution) {
                 forward(call, form, execution);
               })
      .workspace([form](const Call& call) { return position_bytes(call, form); });
  r.kernel(name + "_backward", ONEDIM_DEVICE_CUDA)
      .compute(kDTypes,
               [form](const Call& call, const onedim_execution_t& execution) {
                 backward(call, form, execution);
               })
      .workspace(
          [form](const Call& call) { return position_bytes(call, form) + delta_bytes(call); });
}

}  // namespace
}  // namespace attention_cuda

ONEDIM_PACK("attention_cuda", "1.0.0", [](onedim::api::Registrar& r) {
  using namespace attention_cuda;
  declare(r, "_scaled_dot_product_flash_attention_for_cpu", Form::kForCpu);
  declare(r, "_scaled_dot_product_flash_attention", Form::kFlash);
});
