#include "tools/models/llama.hpp"

#include "core/base/text.hpp"
#include "core/graph/graph_builder.hpp"

namespace onedim {
namespace {

Value dtype_value(DType dtype) { return {std::string(name_of(dtype))}; }
Value size_value(std::initializer_list<int64_t> sizes) {
  ValueList list(sizes.size());
  size_t i = 0;
  for (const int64_t size : sizes) list[i++].data = size;
  return {std::move(list)};
}

class Llama {
 public:
  Llama(const LlamaConfig& config, const LlamaShape& shape, const Registry& registry)
      : config_(config), shape_(shape), builder_(config.name, registry) {
    if (shape_.sequence == 0) shape_.sequence = config.sequence;
    if (shape_.layers == 0) shape_.layers = config.layers;
  }

  Result<Graph> build_forward() {
    add_weights();
    const ValueId frequencies = builder_.add_given(
        ValueKind::kBuffer, "freqs_cis",
        TensorMeta::contiguous(DType::kC64, {shape_.sequence, head_size() / 2}), "freqs_cis");
    const ValueId tokens =
        builder_.add_given(ValueKind::kInput, "tokens",
                           TensorMeta::contiguous(DType::kI64, {shape_.batch, shape_.sequence}));
    builder_.set_place("tok_embeddings");
    ValueId x =
        builder_.add("embedding", {{"weight", weight("tok_embeddings")}, {"indices", tokens}});
    for (int layer = 0; layer < shape_.layers; ++layer) x = add_layer(x, layer, frequencies);
    x = norm(x, "norm", -1);
    builder_.add_output(linear(x, "output", -1));
    builder_.set_forward_outputs(1);
    return builder_.finish();
  }

 private:
  int64_t head_size() const { return config_.width / config_.heads; }

  void add_weight(const std::string& module, Dims dims) {
    weights_[module] = builder_.add_given(ValueKind::kParam, module + ".weight",
                                          TensorMeta::contiguous(shape_.stored, std::move(dims)),
                                          module + ".weight");
  }

  void add_weights() {
    const int64_t width = config_.width, hidden = config_.hidden;
    const int64_t key_width = config_.key_heads * head_size();
    add_weight("tok_embeddings", {config_.vocabulary, width});
    for (int layer = 0; layer < shape_.layers; ++layer) {
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
    if (config_.ties_output) {
      weights_["output"] = weights_["tok_embeddings"];
    } else {
      add_weight("output", {config_.vocabulary, width});
    }
  }

  ValueId cast(ValueId x, DType dtype) {
    if (builder_.meta(x).dtype == dtype) return x;
    return builder_.add("prims.convert_element_type", {{"a", x}}, {{"dtype", dtype_value(dtype)}});
  }

  // As it is computed with.
  ValueId weight(const std::string& module) {
    builder_.set_role("dtype_cast");
    const ValueId result = cast(weights_[module], shape_.computed);
    builder_.set_role("");
    return result;
  }

  ValueId view(ValueId x, std::initializer_list<int64_t> sizes) {
    return builder_.add("view", {{"self", x}}, {{"size", size_value(sizes)}});
  }
  ValueId permute(ValueId x, std::initializer_list<int64_t> dims) {
    return builder_.add("permute", {{"self", x}}, {{"dims", size_value(dims)}});
  }
  ValueId times(ValueId x, ValueId y) {
    return builder_.add("mul.Tensor", {{"self", x}, {"other", y}});
  }
  ValueId plus(ValueId x, ValueId y) {
    return builder_.add("add.Tensor", {{"self", x}, {"other", y}});
  }

  ValueId linear(ValueId x, const std::string& module, int layer) {
    builder_.set_place(module, layer);
    const ValueId transposed = permute(weight(module), {1, 0});
    return builder_.add_node("einsum", {{"tensors", true, {x, transposed}}},
                             {{"equation", Value{std::string("abk,kn->abn")}}})[0];
  }

  ValueId norm(ValueId x, const std::string& module, int layer) {
    constexpr double kEpsilon = 9.999999747378752e-06;  // 1e-5 as f32
    builder_.set_place(module, layer);
    const ValueId scale = weight(module);
    const ValueId wide = cast(x, DType::kF32);
    const ValueId square =
        builder_.add("pow.Tensor_Scalar", {{"self", wide}}, {{"exponent", Value{int64_t{2}}}});
    const ValueId mean = builder_.add("mean.dim", {{"self", square}},
                                      {{"dim", size_value({2})}, {"keepdim", Value{true}}});
    const ValueId sum = builder_.add("add.Scalar", {{"self", mean}}, {{"other", Value{kEpsilon}}});
    const ValueId normed = times(wide, builder_.add("rsqrt", {{"self", sum}}));
    return cast(times(normed, scale), shape_.computed);
  }

  // [B,S,heads,h], each pair of neighbours along h turned as a complex number.
  ValueId rotate(ValueId x, ValueId turns, int64_t heads) {
    const int64_t batch = shape_.batch, sequence = shape_.sequence;
    const ValueId pairs = view(cast(x, DType::kF32), {batch, sequence, heads, -1, 2});
    const ValueId complex = builder_.add("view_as_complex", {{"self", pairs}});
    const ValueId real = builder_.add("view_as_real", {{"self", times(complex, turns)}});
    return cast(view(real, {batch, sequence, heads, head_size()}), shape_.computed);
  }

  // [B,S,K,h] to [B,S,H,h].
  ValueId repeat(ValueId x) {
    if (config_.key_heads == config_.heads) return x;
    const int64_t batch = shape_.batch, sequence = shape_.sequence;
    const ValueId single = builder_.add("unsqueeze", {{"self", x}}, {{"dim", Value{int64_t{3}}}});
    const ValueId many =
        builder_.add("expand", {{"self", single}},
                     {{"size", size_value({batch, sequence, config_.key_heads,
                                           config_.heads / config_.key_heads, head_size()})}});
    const ValueId copy = builder_.add("clone", {{"self", many}},
                                      {{"memory_format", Value{std::string("contiguous_format")}}});
    return view(copy, {batch, sequence, config_.heads, head_size()});
  }

  ValueId attend(ValueId x, const std::string& module, int layer, ValueId frequencies) {
    const int64_t batch = shape_.batch, sequence = shape_.sequence;
    const ValueId wq = linear(x, module + ".wq", layer), wk = linear(x, module + ".wk", layer),
                  wv = linear(x, module + ".wv", layer);
    builder_.set_place(module, layer);
    const ValueId q = view(wq, {batch, sequence, -1, head_size()});
    const ValueId k = view(wk, {batch, sequence, -1, head_size()});
    const ValueId v = view(wv, {batch, sequence, -1, head_size()});
    const ValueId turns = view(frequencies, {1, sequence, 1, head_size() / 2});
    const ValueId queries = rotate(q, turns, config_.heads);
    const ValueId keys = repeat(rotate(k, turns, config_.key_heads));
    const ValueId values = repeat(v);
    const ValueId by_head_q = permute(queries, {0, 2, 1, 3});
    const ValueId by_head_k = permute(keys, {0, 2, 1, 3});
    const ValueId by_head_v = permute(values, {0, 2, 1, 3});
    builder_.set_place(module + ".sdpa", layer);
    const ValueId out =
        builder_.add("_scaled_dot_product_flash_attention_for_cpu",
                     {{"query", by_head_q}, {"key", by_head_k}, {"value", by_head_v}},
                     {{"dropout_p", Value{0.0}}, {"is_causal", Value{true}}});
    builder_.set_place(module, layer);
    const ValueId joined = view(permute(out, {0, 2, 1, 3}), {batch, sequence, -1});
    return linear(joined, module + ".wo", layer);
  }

  // x / (1 + exp(-x))
  ValueId silu(ValueId x) {
    const ValueId wide = cast(x, DType::kF32);
    const ValueId power = builder_.add("exp", {{"self", builder_.add("neg", {{"self", wide}})}});
    const ValueId divisor =
        builder_.add("add.Tensor", {{"self", power}}, {{"other", Value{int64_t{1}}}});
    return cast(builder_.add("div.Tensor", {{"self", wide}, {"other", divisor}}), shape_.computed);
  }

  ValueId feed_forward(ValueId x, const std::string& module, int layer) {
    const ValueId gate = linear(x, module + ".w1", layer);
    builder_.set_place(module, layer);
    const ValueId open = silu(gate);
    const ValueId up = linear(x, module + ".w3", layer);
    builder_.set_place(module, layer);
    return linear(times(open, up), module + ".w2", layer);
  }

  ValueId add_layer(ValueId x, int layer, ValueId frequencies) {
    const std::string module = fmt::format("layers.{}", layer);
    const ValueId attended = attend(norm(x, module + ".attention_norm", layer),
                                    module + ".attention", layer, frequencies);
    builder_.set_place(module, layer);
    const ValueId h = plus(x, attended);
    const ValueId fed =
        feed_forward(norm(h, module + ".ffn_norm", layer), module + ".feed_forward", layer);
    builder_.set_place(module, layer);
    return plus(h, fed);
  }

  const LlamaConfig config_;
  LlamaShape shape_;
  GraphBuilder builder_;
  std::map<std::string, ValueId> weights_;  // by module
};

const std::vector<LlamaConfig>& configs() {
  static const std::vector<LlamaConfig> list = {
      {"llama3-debug", 256, 6, 16, 16, 768, 2048, 2048, false},
      {"llama3-1b", 2048, 16, 32, 8, 8192, 128256, 8192, true},
      {"llama3-8b", 4096, 32, 32, 8, 14336, 128256, 8192, false},
      {"llama3-70b", 8192, 80, 64, 8, 28672, 128256, 8192, false},
      {"llama3-405b", 16384, 126, 128, 8, 53248, 128256, 8192, false}};
  return list;
}

}  // namespace

std::span<const LlamaConfig> llama_configs() { return configs(); }

Result<LlamaConfig> find_llama(std::string_view name) {
  std::vector<std::string> names;
  for (const LlamaConfig& config : configs()) {
    if (config.name == name) return config;
    names.push_back(config.name);
  }
  return absl::NotFoundError(fmt::format("no model {}{}; there are {}", quoted_excerpt(name),
                                         did_you_mean(name, names), fmt::join(names, ", ")));
}

Result<Graph> build_llama_forward(const LlamaConfig& config, const LlamaShape& shape,
                                  const Registry& registry) {
  return Llama(config, shape, registry).build_forward();
}

}  // namespace onedim
