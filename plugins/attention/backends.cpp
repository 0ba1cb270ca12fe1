// PyTorch's forms of attention, forward and backward. What PyTorch calls an undefined tensor is an
// absent one (`Tensor?`), and so are the lengths that some forms return as plain numbers. The
// random state is that of this library: (seed, call id), from which a backward pass draws again.
//
//   _scaled_dot_product_flash_attention_for_cpu   q [2,4,5,8], k [2,2,7,8], v [2,2,7,3]
//     -> output [2,4,5,3], logsumexp [2,4,5]

#include "backends.hpp"

#include "backward.hpp"
#include "forward.hpp"
#include "rules.hpp"

namespace attention {
namespace {

using enum Result;

// Inputs beside the floats: masks and the random state.
constexpr uint64_t kKernelDTypes =
    (dtype_mask<float, double>() & ~kF8DTypes) | kBoolDTypes | dtype_bit(DType::kI64);

// Of the numbers in these lists, the lengths are what an exported graph holds; no kernel reads
// them.
void require_dense(const Call& call) {
  for (const char* name : {"cum_seq_q", "cum_seq_k"}) {
    const onedim_call_t* raw = call.raw();
    for (uint64_t i = 0; i < raw->argument_count; ++i) {
      if (view_of(raw->arguments[i].name) == name)
        require(!call.has_tensor(name), "nested tensors are not supported, expected no cum_seq");
    }
  }
}

OpBuilder& declare(Registrar& r, std::string_view schema, const Backend& backend) {
  OpBuilder& op = r.op(schema);
  op.position_aware()
      .infer([backend](const Call& call, OutputSink& outputs) {
        require_dense(call);
        (backend.is_backward() ? infer_backward : infer_forward)(call, backend, outputs);
      })
      .rules([backend](const Call& call, RuleSink& rules) { emit_rules(call, backend, rules); })
      .accept_local([backend](const Call& call) { accept_local(call, backend); })
      .workspace([backend](const Call& call) {
        return (backend.is_backward() ? backward_workspace : forward_workspace)(call, backend);
      })
      .cost([backend](const Call& call, onedim_cost_t& cost) {
        (backend.is_backward() ? add_backward_cost : add_forward_cost)(call, backend, cost);
      })
      .compute(kKernelDTypes, [backend](const Call& call, const onedim_execution_t& execution) {
        (backend.is_backward() ? compute_backward : compute_forward)(call, backend, execution);
      });
  if (backend.has_random_state && !backend.is_backward()) op.flags(ONEDIM_OP_RANDOM);
  return op;
}

// The backward form of a backend, with a gradient of the bias where it has one.
Backend backward_of(Backend backend, bool has_bias_gradient = false) {
  backend.results = {kGradQuery, kGradKey, kGradValue};
  if (has_bias_gradient) backend.results.push_back(kGradBias);
  return backend;
}

void declare_flash_for_cpu(Registrar& r) {
  const Backend cpu{
      .bias = "attn_mask", .has_lse_rows_outside = true, .results = {kOut, kLogsumexp}};
  declare(r,
          "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
          "float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? "
          "scale=None) -> (Tensor output, Tensor logsumexp)",
          cpu)
      .summary("softmax(scale q k^T + mask) v and its log-sum-exp, as PyTorch's CPU kernel")
      .samples({"f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,3]; -",
                "f64[1,4,3,2]; f64[1,2,4,2]; f64[1,2,4,2]; -; is_causal=true",
                "f64[2,4,3,2]; f64[2,2,3,2]; f64[2,2,3,2]; f64[1,4,3,3]; scale=0.5",
                "f64[2,2,3,2]; f64[2,1,3,2]; f64[2,1,3,2]; f64[2,1,1,3]; is_causal=true",
                "f32[2,2,3,2]; f32[2,2,3,2]; f32[2,2,3,2]; f32[3,3]",
                "f32[2,2,3,2]; f32[2,2,4,2]; f32[2,2,4,2]; bool[2,1,3,4]",
                "bf16[2,2,3,2]; bf16[2,2,3,2]; bf16[2,2,3,2]; -; is_causal=true"})
      .gradient({"_scaled_dot_product_flash_attention_for_cpu_backward"});
  declare(r,
          "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, "
          "Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool "
          "is_causal, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor "
          "grad_key, Tensor grad_value)",
          backward_of(cpu))
      .summary("gradients of query, key and value from the saved output and log-sum-exp")
      .samples({"f64[2,2,3,3]; f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,3]; f64[2,2,3,3]; "
                "f64[2,2,3]; -; dropout_p=0.0; is_causal=false",
                "f64[1,4,3,2]; f64[1,4,3,2]; f64[1,2,4,2]; f64[1,2,4,2]; f64[1,4,3,2]; "
                "f64[1,4,3]; -; dropout_p=0.0; is_causal=true",
                "f64[2,2,3,2]; f64[2,2,3,2]; f64[2,1,3,2]; f64[2,1,3,2]; f64[2,2,3,2]; "
                "f64[2,2,3]; f64[2,1,3,3]; dropout_p=0.0; is_causal=false; scale=0.5",
                "f32[2,2,3,2]; f32[2,2,3,2]; f32[2,2,3,2]; f32[2,2,3,2]; f32[2,2,3,2]; "
                "f32[2,2,3]; f32[3,3]; dropout_p=0.0; is_causal=true",
                "bf16[2,2,3,2]; bf16[2,2,3,2]; bf16[2,2,3,2]; bf16[2,2,3,2]; bf16[2,2,3,2]; "
                "f32[2,2,3]; -; dropout_p=0.0; is_causal=true"});
}

}  // namespace

void declare_backends(Registrar& r) { declare_flash_for_cpu(r); }

}  // namespace attention
