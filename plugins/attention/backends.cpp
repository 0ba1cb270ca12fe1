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

void require_supported(const Call& call, const Backend& backend) {
  require(!call.has_tensor("cum_seq_q") && !call.has_tensor("cum_seq_k"),
          "nested tensors are not supported, expected no cum_seq");
  require(!call.has_tensor("dropout_mask"), "a given dropout mask is not supported, expected none");
  if (backend.refuses_dropout)
    require(call.attribute<double>("dropout_p") == 0, "dropout_p must be 0 on the CPU");
  if (call.find_attribute("enable_gqa") != nullptr && !call.attribute<bool>("enable_gqa"))
    require(group_size(call) == 1, "fewer key heads than query heads need enable_gqa");
}

OpBuilder& declare(Registrar& r, std::string_view schema, const Backend& backend) {
  OpBuilder& op = r.op(schema);
  op.position_aware()
      .infer([backend](const Call& call, OutputSink& outputs) {
        require_supported(call, backend);
        (backend.is_backward() ? infer_backward : infer_forward)(call, backend, outputs);
      })
      .rules([backend](const Call& call, RuleSink& rules) { emit_rules(call, backend, rules); })
      .accept_local(accept_local)
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

// Shapes of a sample, each with few dims above 1, since a case's cost grows with all of them.
struct Shapes {
  std::string query, key, value, out, lse;
};
const Shapes kPlain = {"[2,1,3,1]", "[2,1,4,1]", "[2,1,4,3]", "[2,1,3,3]", "[2,1,3]"};
const Shapes kSquare = {"[1,2,3,1]", "[1,2,3,1]", "[1,2,3,2]", "[1,2,3,2]", "[1,2,3]"};
const Shapes kGroups = {"[1,4,3,1]", "[1,2,5,1]", "[1,2,5,1]", "[1,4,3,1]", "[1,4,3]"};
const Shapes kOneKeyHead = {"[2,3,1,2]", "[2,1,5,2]", "[2,1,5,1]", "[2,3,1,1]", "[2,3,1]"};

// Narrow queries are small: the rounding of a large log-sum-exp is amplified by its exponential.
std::string forward_sample(const Shapes& s, const std::string& dtype, const std::string& rest) {
  const std::string query = dtype + s.query + (dtype == "f64" ? "; " : ":unit; ");
  return query + dtype + s.key + "; " + dtype + s.value + "; " + rest;
}

// `bias` stands before out, `rest` behind the log-sum-exp.
std::string backward_sample(const Shapes& s, const std::string& dtype, const std::string& bias,
                            const std::string& rest, const char* lse_column = "") {
  const std::string lse = s.lse.substr(0, s.lse.size() - 1) + lse_column + "]";
  // The log-sum-exp is drawn too: far below the scores, of which a mask or bias is a part, it would
  // make weights that overflow. Factors
  // of the gradient are small, so that no sum cancels what is much larger than itself, but where
  // narrow floats would not split into partials exactly.
  const auto small = [&](const std::string& shape) { return dtype + shape + ":unit; "; };
  const auto factor = [&](const std::string& shape) {
    return dtype == "bf16" ? dtype + shape + "; " : small(shape);
  };
  return dtype + s.out + "; " + small(s.query) + small(s.key) + factor(s.value) + bias +
         factor(s.out) + (dtype == "f64" ? "f64" : "f32") + lse + ":positive; " + rest;
}

const std::string kFull = "dropout_p=0.0; is_causal=false";
const std::string kCausal = "dropout_p=0.0; is_causal=true";
const std::string kDropout = "dropout_p=0.5; is_causal=false";

void declare_flash_for_cpu(Registrar& r) {
  const Backend cpu{.bias = "attn_mask",
                    .has_lse_rows_outside = true,
                    .refuses_dropout = true,
                    .results = {kOut, kLogsumexp}};
  declare(r,
          "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, "
          "float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? "
          "scale=None) -> (Tensor output, Tensor logsumexp)",
          cpu)
      .summary("softmax(scale q k^T + mask) v and its log-sum-exp, as PyTorch's CPU kernel")
      .samples({forward_sample(kPlain, "f64", "-"),
                forward_sample(kGroups, "f64", "-; is_causal=true"),
                forward_sample(kSquare, "f64", "f64[1,2,3,3]; scale=0.5"),
                forward_sample(kOneKeyHead, "f64", "f64[2,1,1,5]"),
                forward_sample(kSquare, "f32", "f32[3,3]; is_causal=true"),
                forward_sample(kPlain, "f32", "bool[2,1,3,4]"),
                forward_sample(kSquare, "bf16", "-; is_causal=true")})
      .gradient({"_scaled_dot_product_flash_attention_for_cpu_backward"});
  declare(r,
          "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, "
          "Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool "
          "is_causal, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor "
          "grad_key, Tensor grad_value)",
          backward_of(cpu))
      .summary("gradients of query, key and value from the saved output and log-sum-exp")
      .samples({backward_sample(kPlain, "f64", "", "-; " + kFull),
                backward_sample(kGroups, "f64", "", "-; " + kCausal),
                backward_sample(kSquare, "f64", "", "f64[1,2,3,3]:unit; scale=0.5; " + kFull),
                backward_sample(kOneKeyHead, "f64", "", "f64[2,1,1,5]:unit; " + kFull),
                backward_sample(kSquare, "f32", "", "f32[3,3]:unit; " + kCausal),
                backward_sample(kSquare, "bf16", "", "-; " + kCausal)});
}

void declare_flash(Registrar& r) {
  const Backend flash{.bias = {},
                      .causal = Causal::kBottomRight,
                      .is_like_query = true,
                      .has_random_state = true,
                      .results = {kOut, kLogsumexp, kAbsent, kAbsent, kAbsent, kAbsent,
                                  kRandomState, kUnused, kDebugMask}};
  declare(r,
          "_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float "
          "dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? "
          "scale=None) -> (Tensor output, Tensor logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, "
          "Tensor? max_q, Tensor? max_k, Tensor rng_state, Tensor unused, Tensor? "
          "debug_attn_mask)",
          flash)
      .summary("softmax(scale q k^T) v and its log-sum-exp; causal from the last row and column on")
      .samples({forward_sample(kPlain, "f64", kFull), forward_sample(kGroups, "f64", kDropout),
                forward_sample(kSquare, "f32", kCausal),
                forward_sample(kPlain, "f64", "return_debug_mask=true; " + kDropout),
                forward_sample(kOneKeyHead, "bf16", "scale=0.5")})
      .gradient({"_scaled_dot_product_flash_attention_backward"});
  const std::string state = "-; -; i64[2]; i64[]; max_q=3; max_k=4; ";
  declare(r,
          "_scaled_dot_product_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, "
          "Tensor value, Tensor out, Tensor logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, "
          "SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor "
          "philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor "
          "grad_value)",
          backward_of(flash))
      .summary("gradients of query, key and value; dropout as the forward pass drew it")
      .samples({backward_sample(kPlain, "f64", "", state + kFull),
                backward_sample(kGroups, "f64", "", state + kDropout),
                backward_sample(kSquare, "f32", "", state + kCausal),
                backward_sample(kOneKeyHead, "f64", "", state + "scale=0.5; " + kFull),
                backward_sample(kSquare, "bf16", "", state + kDropout)});
}

void declare_efficient(Registrar& r) {
  const Backend efficient{
      .bias = "attn_bias", .has_random_state = true, .results = {kOut, kLogsumexp, kSeed, kOffset}};
  declare(r,
          "_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? "
          "attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, "
          "float? scale=None) -> (Tensor output, Tensor? log_sumexp, Tensor philox_seed, Tensor "
          "philox_offset)",
          efficient)
      .summary("softmax(scale q k^T + bias) v and, if asked for, its log-sum-exp")
      .samples({forward_sample(kPlain, "f64", "-; compute_log_sumexp=true"),
                forward_sample(kGroups, "f64", "-; compute_log_sumexp=true; " + kCausal),
                forward_sample(kSquare, "f64", "f64[1,2,3,3]; compute_log_sumexp=true; scale=0.5"),
                forward_sample(kOneKeyHead, "f32", "f32[2,1,1,5]; compute_log_sumexp=false"),
                forward_sample(kPlain, "f32", "-; compute_log_sumexp=true; " + kDropout),
                forward_sample(kSquare, "bf16", "-; compute_log_sumexp=false; " + kCausal)})
      .gradient({"_scaled_dot_product_efficient_attention_backward"});
  const std::string bias_too = "i64[]; i64[]; grad_input_mask=[true,true,true,true]; ";
  const std::string no_bias = "i64[]; i64[]; grad_input_mask=[true,true,true,false]; ";
  declare(r,
          "_scaled_dot_product_efficient_attention_backward(Tensor grad_out_, Tensor query, Tensor "
          "key, Tensor value, Tensor? attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, "
          "Tensor philox_offset, float dropout_p, bool[4] grad_input_mask, bool is_causal=False, "
          "*, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor?)",
          backward_of(efficient, true))
      .summary("gradients of query, key, value and, if asked for, the bias")
      .samples({backward_sample(kPlain, "f64", "-; ", no_bias + kFull),
                backward_sample(kGroups, "f64", "-; ", no_bias + kCausal),
                backward_sample(kSquare, "f64", "f64[1,2,3,3]:unit; ", bias_too + kFull),
                backward_sample(kOneKeyHead, "f64", "f64[2,1,1,5]:unit; ", bias_too + kDropout),
                backward_sample(kSquare, "f32", "f32[3,3]:unit; ", no_bias + kCausal)});
}

void declare_cudnn(Registrar& r) {
  const Backend cudnn{.bias = "attn_bias",
                      .is_like_query = true,
                      .has_lse_column = true,
                      .has_random_state = true,
                      .results = {kOut, kLogsumexp, kAbsent, kAbsent, kAbsent, kAbsent, kSeed,
                                  kOffset, kDebugMask}};
  declare(r,
          "_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, Tensor? "
          "attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, bool "
          "return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor? logsumexp, "
          "Tensor? cum_seq_q, Tensor? cum_seq_k, Tensor? max_q, Tensor? max_k, Tensor "
          "philox_seed, Tensor philox_offset, Tensor? debug_attn_mask)",
          cudnn)
      .summary("softmax(scale q k^T + bias) v and, if asked for, its log-sum-exp as a column")
      .samples(
          {forward_sample(kPlain, "f64", "-; compute_log_sumexp=true"),
           forward_sample(kGroups, "f64", "-; compute_log_sumexp=true; " + kCausal),
           forward_sample(kSquare, "f64", "f64[1,2,3,3]; compute_log_sumexp=true"),
           forward_sample(kOneKeyHead, "f32", "-; compute_log_sumexp=false; " + kDropout),
           forward_sample(kSquare, "bf16", "-; compute_log_sumexp=true; return_debug_mask=true")})
      .gradient({"_scaled_dot_product_cudnn_attention_backward"});
  const std::string state = "i64[]; i64[]; ", none = "-; -; -; max_q=3; max_k=4; ";
  declare(r,
          "_scaled_dot_product_cudnn_attention_backward(Tensor grad_out, Tensor query, Tensor key, "
          "Tensor value, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, "
          "Tensor? attn_bias, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, "
          "float dropout_p, bool is_causal, *, float? scale=None) -> (Tensor, Tensor, Tensor)",
          backward_of(cudnn))
      .summary("gradients of query, key and value; dropout as the forward pass drew it")
      .samples(
          {backward_sample(kPlain, "f64", "", state + none + kFull, ",1"),
           backward_sample(kGroups, "f64", "", state + none + kCausal, ",1"),
           backward_sample(kSquare, "f64", "",
                           state + "f64[1,2,3,3]:unit; -; -; max_q=3; max_k=3; " + kFull, ",1"),
           backward_sample(kOneKeyHead, "f32", "", state + none + kDropout, ",1"),
           backward_sample(kSquare, "bf16", "", state + none + kCausal, ",1")});
}

// The plain formula, which returns the weights and keeps no log-sum-exp.
void declare_math(Registrar& r) {
  // PyTorch adds a bool mask here as 0 and 1; what users mean by one has become a float mask
  // before.
  const Backend math{.bias = "attn_mask",
                     .is_like_query = true,
                     .refuses_bool_bias = true,
                     .results = {kOut, kWeights}};
  declare(r,
          "_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? "
          "attn_mask=None, float dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, "
          "*, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
          math)
      .flags(ONEDIM_OP_RANDOM)
      .summary("softmax(scale q k^T + mask) v and the weights of the values")
      .samples({forward_sample(kPlain, "f64", "-; -"),
                forward_sample(kGroups, "f64", "-; -; is_causal=true; enable_gqa=true"),
                forward_sample(kSquare, "f64", "f64[1,2,3,3]; -; scale=0.5"),
                forward_sample(kPlain, "f32", "f32[2,1,3,4]; -"),
                forward_sample(kSquare, "bf16", "-; -; dropout_p=0.5")});
}

}  // namespace

void declare_backends(Registrar& r) {
  declare_flash_for_cpu(r);
  declare_flash(r);
  declare_efficient(r);
  declare_cudnn(r);
  declare_math(r);
}

}  // namespace attention
