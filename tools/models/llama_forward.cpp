#include "tools/models/llama_forward.hpp"

namespace onedim {
namespace {

class ForwardPass {
 public:
  ForwardPass(LlamaSteps& steps, bool is_joint)
      : steps_(steps), builder_(steps.builder), is_joint_(is_joint) {}

  LlamaForward run() {
    add_weights();
    forward_.frequencies = builder_.add_given(
        ValueKind::kBuffer, "freqs_cis",
        TensorMeta::contiguous(DType::kC64, {steps_.shape.sequence, steps_.head_size() / 2}),
        "freqs_cis");
    forward_.tokens = builder_.add_given(
        ValueKind::kInput, "tokens",
        TensorMeta::contiguous(DType::kI64, {steps_.shape.batch, steps_.shape.sequence}));
    if (is_joint_) {
      forward_.logits_gradient = builder_.add_given(
          ValueKind::kTangent, "logits_gradient",
          TensorMeta::contiguous(steps_.shape.computed, {steps_.shape.batch, steps_.shape.sequence,
                                                         steps_.config.vocabulary}));
    }
    builder_.set_phase(Phase::kForward);
    builder_.set_place("tok_embeddings");
    forward_.embedding_param = weights_["tok_embeddings"];
    ValueId x = builder_.add(
        "embedding", {{"weight", weight(forward_.embedding_param)}, {"indices", forward_.tokens}});
    if (is_joint_) builder_.set_recompute(Recompute::kPreferRecompute);
    for (int layer = 0; layer < steps_.shape.layers; ++layer) x = add_layer(x, layer);
    builder_.set_recompute(Recompute::kNone);
    forward_.norm = add_norm(x, "norm", -1);
    forward_.output = add_linear(forward_.norm.y, "output", -1, false);
    return std::move(forward_);
  }

 private:
  void add_weight(const std::string& module, Dims dims) {
    const std::string path = module + ".weight";
    weights_[module] =
        builder_.add_given(ValueKind::kParam, path,
                           TensorMeta::contiguous(steps_.shape.stored, std::move(dims)), path);
    forward_.params.push_back(weights_[module]);
  }

  void add_weights() {
    const int64_t width = steps_.config.width, hidden = steps_.config.hidden;
    const int64_t key_width = steps_.config.key_heads * steps_.head_size();
    add_weight("tok_embeddings", {steps_.config.vocabulary, width});
    for (int layer = 0; layer < steps_.shape.layers; ++layer) {
      const std::string prefix = fmt::format("layers.{}.", layer);
      add_weight(prefix + "attention.wq", {width, width});
      add_weight(prefix + "attention.wk", {key_width, width});
      add_weight(prefix + "attention.wv", {key_width, width});
      add_weight(prefix + "attention.wo", {width, width});
      add_weight(prefix + "feed_forward.w1", {hidden, width});
      add_weight(prefix + "feed_forward.w2", {width, hidden});
      add_weight(prefix + "feed_forward.w3", {hidden, width});
      add_weight(prefix + "attention_norm", {width});
      add_weight(prefix + "ffn_norm", {width});
    }
    add_weight("norm", {width});
    if (steps_.config.ties_output) {
      weights_["output"] = weights_["tok_embeddings"];
    } else {
      add_weight("output", {steps_.config.vocabulary, width});
    }
  }

  ValueId weight(ValueId param) { return steps_.cast_weight(param, steps_.shape.computed); }

  LlamaLinear add_linear(ValueId x, const std::string& module, int layer, bool is_saved) {
    builder_.set_place(module, layer);
    const ValueId param = weights_[module];
    const ValueId transposed = steps_.permute(weight(param), {1, 0});
    if (is_joint_ && is_saved) builder_.set_recompute(Recompute::kMustSave);
    const ValueId y = steps_.einsum("abk,kn->abn", x, transposed);
    if (is_joint_ && is_saved) builder_.set_recompute(Recompute::kPreferRecompute);
    return {module, layer, param, x, transposed, y};
  }

  LlamaNorm add_norm(ValueId x, const std::string& module, int layer) {
    constexpr double kEpsilon = 9.999999747378752e-06;  // 1e-5 as f32
    builder_.set_place(module, layer);
    const ValueId param = weights_[module];
    const ValueId scale = weight(param);
    const ValueId wide = steps_.cast(x, DType::kF32);
    const ValueId square = steps_.scalar("pow.Tensor_Scalar", wide, "exponent", {int64_t{2}});
    const ValueId mean =
        builder_.add("mean.dim", {{"self", square}},
                     {{"dim", Value{ValueList{Value{int64_t{2}}}}}, {"keepdim", Value{true}}});
    const ValueId root =
        steps_.unary("rsqrt", steps_.scalar("add.Scalar", mean, "other", {kEpsilon}));
    const ValueId normed = steps_.times(wide, root);
    const ValueId y = steps_.cast(steps_.times(normed, scale), steps_.shape.computed);
    return {module, layer, param, scale, wide, root, normed, y};
  }

  // [B,S,heads,h] in f32 as complex numbers [B,S,heads,h/2]: neighbours along h are pairs.
  ValueId to_pairs(ValueId x, int64_t heads) {
    const ValueId wide = steps_.cast(x, DType::kF32);
    return steps_.unary(
        "view_as_complex",
        steps_.view(wide, {steps_.shape.batch, steps_.shape.sequence, heads, -1, 2}));
  }
  ValueId from_pairs(ValueId pairs, int64_t heads) {
    const ValueId real = steps_.unary("view_as_real", pairs);
    return steps_.view(real,
                       {steps_.shape.batch, steps_.shape.sequence, heads, steps_.head_size()});
  }

  // [B,S,K,h] to [B,S,H,h].
  ValueId repeat(ValueId x) {
    if (steps_.group() == 1) return x;
    const int64_t batch = steps_.shape.batch, sequence = steps_.shape.sequence;
    const ValueId single = steps_.scalar("unsqueeze", x, "dim", {int64_t{3}});
    const ValueId many = steps_.expand(
        single, {batch, sequence, steps_.config.key_heads, steps_.group(), steps_.head_size()});
    const ValueId copy =
        steps_.scalar("clone", many, "memory_format", {std::string("contiguous_format")});
    return steps_.view(copy, {batch, sequence, steps_.config.heads, steps_.head_size()});
  }

  // Sets query, key and value of `record`, [B,H,S,h].
  void rotate(LlamaAttention& record) {
    const int64_t batch = steps_.shape.batch, sequence = steps_.shape.sequence;
    const int64_t heads = steps_.config.heads, key_heads = steps_.config.key_heads;
    const ValueId q = steps_.view(record.wq.y, {batch, sequence, -1, steps_.head_size()});
    const ValueId k = steps_.view(record.wk.y, {batch, sequence, -1, steps_.head_size()});
    const ValueId v = steps_.view(record.wv.y, {batch, sequence, -1, steps_.head_size()});
    const ValueId query_pairs = to_pairs(q, heads);
    const ValueId key_pairs = to_pairs(k, key_heads);
    record.turns = steps_.view(forward_.frequencies, {1, sequence, 1, steps_.head_size() / 2});
    const ValueId wide_query = from_pairs(steps_.times(query_pairs, record.turns), heads);
    const ValueId wide_key = from_pairs(steps_.times(key_pairs, record.turns), key_heads);
    const ValueId query = steps_.cast(wide_query, steps_.shape.computed);
    const ValueId key = repeat(steps_.cast(wide_key, steps_.shape.computed));
    const ValueId value = repeat(v);
    record.query = steps_.permute(query, {0, 2, 1, 3});
    record.key = steps_.permute(key, {0, 2, 1, 3});
    record.value = steps_.permute(value, {0, 2, 1, 3});
  }

  LlamaAttention add_attention(ValueId x, const std::string& module, int layer) {
    LlamaAttention record;
    record.module = module;
    record.wq = add_linear(x, module + ".wq", layer, true);
    record.wk = add_linear(x, module + ".wk", layer, false);
    record.wv = add_linear(x, module + ".wv", layer, true);
    builder_.set_place(module, layer);
    rotate(record);
    builder_.set_place(module + ".sdpa", layer);
    const std::vector<ValueId> outputs =
        builder_.add_node("_scaled_dot_product_flash_attention_for_cpu",
                          {{"query", false, {record.query}},
                           {"key", false, {record.key}},
                           {"value", false, {record.value}}},
                          {{"dropout_p", Value{0.0}}, {"is_causal", Value{true}}});
    record.out = outputs.front();
    record.log_sum_exp = outputs.back();
    builder_.set_place(module, layer);
    const ValueId joined = steps_.view(steps_.permute(record.out, {0, 2, 1, 3}),
                                       {steps_.shape.batch, steps_.shape.sequence, -1});
    record.wo = add_linear(joined, module + ".wo", layer, false);
    return record;
  }

  // x / (1 + exp(-x))
  ValueId silu(ValueId x) {
    const ValueId wide = steps_.cast(x, DType::kF32);
    const ValueId power = steps_.unary("exp", steps_.unary("neg", wide));
    const ValueId divisor = steps_.scalar("add.Tensor", power, "other", {int64_t{1}});
    return steps_.cast(builder_.add("div.Tensor", {{"self", wide}, {"other", divisor}}),
                       steps_.shape.computed);
  }

  LlamaFeedForward add_feed_forward(ValueId x, const std::string& module, int layer) {
    LlamaFeedForward record;
    record.module = module;
    record.w1 = add_linear(x, module + ".w1", layer, true);
    builder_.set_place(module, layer);
    record.open = silu(record.w1.y);
    record.w3 = add_linear(x, module + ".w3", layer, false);
    builder_.set_place(module, layer);
    record.w2 = add_linear(steps_.times(record.open, record.w3.y), module + ".w2", layer, true);
    return record;
  }

  ValueId add_layer(ValueId x, int layer) {
    LlamaLayer record;
    record.module = fmt::format("layers.{}", layer);
    record.attention_norm = add_norm(x, record.module + ".attention_norm", layer);
    record.attention = add_attention(record.attention_norm.y, record.module + ".attention", layer);
    builder_.set_place(record.module, layer);
    const ValueId h = steps_.plus(x, record.attention.wo.y);
    record.feed_forward_norm = add_norm(h, record.module + ".ffn_norm", layer);
    record.feed_forward =
        add_feed_forward(record.feed_forward_norm.y, record.module + ".feed_forward", layer);
    builder_.set_place(record.module, layer);
    const ValueId y = steps_.plus(h, record.feed_forward.w2.y);
    forward_.layers.push_back(std::move(record));
    return y;
  }

  LlamaSteps& steps_;
  GraphBuilder& builder_;
  const bool is_joint_;
  LlamaForward forward_;
  std::map<std::string, ValueId> weights_;  // by module
};

}  // namespace

LlamaForward add_llama_forward(LlamaSteps& steps, bool is_joint) {
  return ForwardPass(steps, is_joint).run();
}

}  // namespace onedim
