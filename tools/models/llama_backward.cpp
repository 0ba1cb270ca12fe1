#include "tools/models/llama_backward.hpp"

namespace onedim {
namespace {

class BackwardPass {
 public:
  BackwardPass(LlamaSteps& steps, const LlamaForward& forward)
      : steps_(steps), builder_(steps.builder), forward_(forward) {}

  std::vector<ValueId> run() {
    builder_.set_phase(Phase::kBackward);
    const ValueId normed = through_linear(forward_.output, forward_.logits_gradient);
    ValueId gradient = through_norm(forward_.norm, normed, kNoValue);
    for (size_t layer = forward_.layers.size(); layer-- > 0;)
      gradient = through_layer(forward_.layers[layer], gradient);
    through_embedding(gradient);
    std::vector<ValueId> gradients;
    for (const ValueId param : forward_.params) gradients.push_back(gradients_[param]);
    return gradients;
  }

 private:
  // `gradient` is in the dtype of computation. What comes second is added, for weights used twice.
  void add_gradient(ValueId param, ValueId gradient) {
    const ValueId own = steps_.cast_weight(gradient, steps_.shape.stored);
    const auto [found, is_first] = gradients_.try_emplace(param, own);
    if (!is_first) found->second = steps_.plus(found->second, own);
  }

  // The gradient of x; with `other`, what x has from elsewhere, their sum, which stands at
  // `sum_module`.
  ValueId through_linear(const LlamaLinear& linear, ValueId gradient, ValueId other = kNoValue,
                         const std::string& sum_module = "") {
    builder_.set_place(linear.module, linear.layer);
    const ValueId weight = steps_.einsum("abn,abk->kn", gradient, linear.x);
    const ValueId transposed = steps_.permute(linear.transposed, {1, 0});
    ValueId x = steps_.einsum("abk,kn->abn", gradient, transposed);
    if (other != kNoValue) {
      builder_.set_place(sum_module, linear.layer);
      x = steps_.plus(other, x);
      builder_.set_place(linear.module, linear.layer);
    }
    add_gradient(linear.param, steps_.permute(weight, {1, 0}));
    return x;
  }

  // The gradient of x; with `residual`, what x has from beside the norm, their sum. Of the mean of
  // squares it is -1/2 scale^3 times the sum of gradient * wide, spread over D, times 2 wide / D.
  ValueId through_norm(const LlamaNorm& norm, ValueId gradient, ValueId residual) {
    const int64_t width = steps_.config.width;
    builder_.set_place(norm.module, norm.layer);
    const ValueId wide = steps_.cast(gradient, DType::kF32);
    const ValueId by_weight = steps_.times(wide, norm.normed);
    const ValueId by_normed = steps_.times(wide, norm.weight);
    const ValueId weight =
        steps_.cast(steps_.view(steps_.sum(by_weight, {0, 1}), {width}), steps_.shape.computed);
    const ValueId by_scale = steps_.times(by_normed, norm.wide);
    const ValueId direct = steps_.times(by_normed, norm.scale);
    const ValueId scale_sum = steps_.sum(by_scale, {2});
    const ValueId cube = steps_.scalar("pow.Tensor_Scalar", norm.scale, "exponent", {int64_t{3}});
    const ValueId half = steps_.scalar("mul.Scalar", scale_sum, "other", {-0.5});
    const ValueId spread =
        steps_.expand(steps_.times(half, cube), {steps_.shape.batch, steps_.shape.sequence, width});
    const ValueId mean = steps_.scalar("div.Scalar", spread, "other", {width});
    const ValueId power = steps_.scalar("pow.Tensor_Scalar", norm.wide, "exponent", {1.0});
    const ValueId twice = steps_.scalar("mul.Scalar", power, "other", {2.0});
    ValueId x = steps_.cast(steps_.plus(direct, steps_.times(mean, twice)), steps_.shape.computed);
    if (residual != kNoValue) x = steps_.plus(residual, x);
    add_gradient(norm.param, weight);
    return x;
  }

  // y = x sigmoid(x): sigmoid(x) (1 + x (1 - sigmoid(x))) times the gradient.
  ValueId through_silu(ValueId x, ValueId gradient) {
    const ValueId wide = steps_.cast(gradient, DType::kF32);
    const ValueId wide_x = steps_.cast(x, DType::kF32);
    const ValueId sigmoid = steps_.unary("sigmoid", wide_x);
    const ValueId outer = steps_.times(wide, sigmoid);
    const ValueId rest =
        builder_.add("sub.Tensor", {{"other", sigmoid}}, {{"self", Value{int64_t{1}}}});
    const ValueId inner = steps_.times(wide_x, rest);
    const ValueId one_more = steps_.scalar("add.Tensor", inner, "other", {int64_t{1}});
    return steps_.cast(steps_.times(outer, one_more), steps_.shape.computed);
  }

  // The gradient of the norm's output.
  ValueId through_feed_forward(const LlamaFeedForward& part, const std::string& layer_module,
                               ValueId gradient) {
    const int layer = part.w2.layer;
    const ValueId product = through_linear(part.w2, gradient);
    builder_.set_place(part.module, layer);
    const ValueId up = steps_.times(product, part.open);
    const ValueId open = steps_.times(product, part.w3.y);
    const ValueId x = through_linear(part.w3, up);
    builder_.set_place(part.module, layer);
    const ValueId gate = through_silu(part.w1.y, open);
    return through_linear(part.w1, gate, x, layer_module);
  }

  // [B,S,H,h] to [B,S,K,h]: the sum over the heads that share a key.
  ValueId through_repeat(ValueId gradient) {
    if (steps_.group() == 1) return gradient;
    const ValueId grouped =
        steps_.view(gradient, {steps_.shape.batch, steps_.shape.sequence, steps_.config.key_heads,
                               steps_.group(), steps_.head_size()});
    return steps_.scalar("squeeze.dim", steps_.sum(grouped, {3}), "dim", {int64_t{3}});
  }

  // Turned back: times the conjugate.
  ValueId turn_back(ValueId wide, ValueId turns, int64_t heads) {
    const ValueId pairs = steps_.view(
        wide, {steps_.shape.batch, steps_.shape.sequence, heads, steps_.head_size() / 2, 2});
    const ValueId complex = steps_.unary("view_as_complex", pairs);
    const ValueId back = steps_.unary("clone", steps_.unary("_conj", turns));
    return steps_.times(complex, back);
  }
  ValueId from_pairs(ValueId pairs, int64_t heads) {
    const ValueId real = steps_.unary("view_as_real", pairs);
    const ValueId wide =
        steps_.view(real, {steps_.shape.batch, steps_.shape.sequence, heads, steps_.head_size()});
    return steps_.cast(wide, steps_.shape.computed);
  }

  // [B,S,heads,h] to [B,S,heads h].
  ValueId join(ValueId x, int64_t heads) {
    return steps_.view(x, {steps_.shape.batch, steps_.shape.sequence, heads * steps_.head_size()});
  }

  struct HeadGradients {
    ValueId query, key, value;  // [B,H,S,h]
  };

  HeadGradients through_fused(const LlamaAttention& part, ValueId gradient) {
    const std::vector<ValueId> outputs =
        builder_.add_node("_scaled_dot_product_flash_attention_for_cpu_backward",
                          {{"grad_out", false, {gradient}},
                           {"query", false, {part.query}},
                           {"key", false, {part.key}},
                           {"value", false, {part.value}},
                           {"out", false, {part.out}},
                           {"logsumexp", false, {part.log_sum_exp}}},
                          {{"dropout_p", Value{0.0}}, {"is_causal", Value{true}}});
    if (outputs.size() != 3) return {kNoValue, kNoValue, kNoValue};  // the builder tells why
    return {outputs[0], outputs[1], outputs[2]};
  }

  // Of the three projections, [B,S,heads h].
  HeadGradients through_heads(const LlamaAttention& part, HeadGradients heads) {
    const int64_t all = steps_.config.heads, keys = steps_.config.key_heads;
    const ValueId by_token_v = steps_.permute(heads.value, {0, 2, 1, 3});
    const ValueId by_token_k = steps_.permute(heads.key, {0, 2, 1, 3});
    const ValueId by_token_q = steps_.permute(heads.query, {0, 2, 1, 3});
    const ValueId value = through_repeat(by_token_v);
    const ValueId key = through_repeat(by_token_k);
    const ValueId wide_key = steps_.cast(key, DType::kF32);
    const ValueId wide_query = steps_.cast(by_token_q, DType::kF32);
    const ValueId key_pairs = turn_back(wide_key, part.turns, keys);
    const ValueId query_pairs = turn_back(wide_query, part.turns, all);
    const ValueId turned_key = from_pairs(key_pairs, keys);
    const ValueId turned_query = from_pairs(query_pairs, all);
    const ValueId joined_value = join(value, keys);
    const ValueId joined_key = join(turned_key, keys);
    return {join(turned_query, all), joined_key, joined_value};
  }

  // The gradient of the norm's output.
  ValueId through_attention(const LlamaAttention& part, const std::string& layer_module,
                            ValueId gradient) {
    const int layer = part.wo.layer;
    const ValueId joined = through_linear(part.wo, gradient);
    builder_.set_place(part.module, layer);
    const ValueId split = steps_.view(joined, {steps_.shape.batch, steps_.shape.sequence,
                                               steps_.config.heads, steps_.head_size()});
    const ValueId out = steps_.permute(split, {0, 2, 1, 3});
    builder_.set_place(part.module + ".sdpa", layer);
    const HeadGradients fused = through_fused(part, out);
    builder_.set_place(part.module, layer);
    const HeadGradients heads = through_heads(part, fused);
    const ValueId from_value = through_linear(part.wv, heads.value);
    const ValueId from_both = through_linear(part.wk, heads.key, from_value, part.module);
    return through_linear(part.wq, heads.query, from_both, layer_module);
  }

  ValueId through_layer(const LlamaLayer& layer, ValueId gradient) {
    const ValueId fed = through_feed_forward(layer.feed_forward, layer.module, gradient);
    const ValueId h = through_norm(layer.feed_forward_norm, fed, gradient);
    const ValueId attended = through_attention(layer.attention, layer.module, h);
    return through_norm(layer.attention_norm, attended, h);
  }

  void through_embedding(ValueId gradient) {
    builder_.set_place("tok_embeddings");
    const ValueId weight = builder_.add("embedding_dense_backward",
                                        {{"grad_output", gradient}, {"indices", forward_.tokens}},
                                        {{"num_weights", Value{steps_.config.vocabulary}},
                                         {"padding_idx", Value{int64_t{-1}}},
                                         {"scale_grad_by_freq", Value{false}}});
    add_gradient(forward_.embedding_param, weight);
  }

  LlamaSteps& steps_;
  GraphBuilder& builder_;
  const LlamaForward& forward_;
  std::map<ValueId, ValueId> gradients_;  // by weight
};

}  // namespace

std::vector<ValueId> add_llama_backward(LlamaSteps& steps, const LlamaForward& forward) {
  return BackwardPass(steps, forward).run();
}

}  // namespace onedim
