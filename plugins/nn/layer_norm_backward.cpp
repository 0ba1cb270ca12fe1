// Gradients of layer_norm and rms_norm (normalisation.hpp). A sharded leading dim leaves those of
// the parameters P(sum). Where the rows are cut, each parameter with them or whole, the parameters'
// are shards like them, and the input's is a joint partial (normalisation_gradient.hpp), as it
// needs sums over whole rows:
//   native_layer_norm_backward of f32[4,6] over [6], each rank half of the columns:
//   `P(nn.layer_norm_gradient#0), S(0), S(0) | S(1), S(1), R, R, S(0), S(0)`

#include "normalisation_gradient.hpp"
#include "rows.hpp"

namespace nn {
namespace {

constexpr const char* kLayerNorm = "nn.layer_norm_gradient";
constexpr const char* kRmsNorm = "nn.rms_norm_gradient";

using LawsFn = std::vector<Law> (*)(const Call&);

// With one row a parameter's gradient is one product.
std::vector<Law> layer_norm_gradient_laws(const Call& call) {
  Families weight = {{kLinear, {"grad_out"}}, {kLinear, {"input", "mean"}}, {kLinear, {"rstd"}}};
  Families bias = {{kLinear, {"grad_out"}}};
  if (rows_of(call).count == 1) bias.push_back({kIdentity, {"grad_out"}});
  return {{{"grad_out", "input", "mean", "rstd", "weight"},
           {{kLinear, {"grad_out"}}, {kLinear, {"weight"}}}},
          {{"grad_out", "input", "mean", "rstd"}, weight},
          {{"grad_out"}, bias}};
}
std::vector<Law> rms_norm_gradient_laws(const Call& call) {
  Families weight = {{kLinear, {"grad_out"}}, {kLinear, {"input"}}, {kLinear, {"rstd"}}};
  if (rows_of(call).count == 1) weight.push_back({kMultiplicative, {"grad_out", "input", "rstd"}});
  return {
      {{"grad_out", "input", "rstd", "weight"}, {{kLinear, {"grad_out"}}, {kLinear, {"weight"}}}},
      {{"grad_out", "input", "rstd"}, weight}};
}

std::vector<RuleSink::Named> with(std::vector<RuleSink::Named> cut,
                                  const std::vector<RuleSink::Named>& more) {
  cut.insert(cut.end(), more.begin(), more.end());
  return cut;
}

std::function<void(const Call&, RuleSink&)> gradient_rules(LawsFn laws, const std::string& kind) {
  return [laws, kind](const Call& call, RuleSink& sink) {
    LawRules rules(call, sink, laws(call));
    rules.add_partials();
    const int leading = rows_of(call).leading;
    const auto outputs = static_cast<size_t>(call.output_count());
    for (int dim = 0; dim < call.tensor("input").ndim(); ++dim) {
      std::vector<RuleSink::Named> cut = {{"grad_out", any_shard(dim)}, {"input", any_shard(dim)}};
      if (dim < leading) {
        std::vector<Placement> results(outputs, partial("sum"));
        results[0] = any_shard(dim);
        cut.push_back({"rstd", any_shard(dim)});
        if (outputs == 3) cut.push_back({"mean", any_shard(dim)});
        rules.add_cut(results, cut);
        continue;
      }
      std::vector<Placement> results(outputs, any_shard(dim - leading));
      results[0] = partial(kind);
      for_each_parameter_cut(call, {"weight", "bias"}, any_shard(dim - leading),
                             [&](const std::vector<RuleSink::Named>& parameters) {
                               rules.add_cut(results, with(cut, parameters));
                             });
    }
  };
}

// grad_input, then the parameters' gradients where there is a parameter.
void infer_gradient(const Call& call, OutputSink& outputs, const Sets& sets) {
  const std::vector<bool> mask = output_mask(call, sets.parameters.size() + 1);
  const TensorView input = call.tensor("input");
  require_row_shape(call, sets.parameters);
  require_columns(call, sets.parameters, false, call.slot("input"));
  require_shape(call.tensor("grad_out"), input.shape(), "grad_out");
  require(call.tensor("grad_out").dtype() == input.dtype(), "grad_out and input need one dtype");
  const Shape statistics = row_statistics_shape(call);
  require_shape(call.tensor("rstd"), statistics, "rstd");
  if (sets.centre == Centre::kMean) require_shape(call.tensor("mean"), statistics, "mean");
  if (mask[0])
    outputs.add(input.dtype(), norm_shape(call, sets));
  else
    outputs.add_absent();
  size_t next = 1;
  for (const char* name : sets.parameters) {
    if (mask[next++] && call.has_tensor(name)) {
      const Shape own(input.shape().begin() + rows_of(call).leading, input.shape().end());
      outputs.add(call.tensor(name).dtype(), own);
    } else {
      outputs.add_absent();
    }
  }
}

GradientParts parts_of(const Call& call) {
  const Rows rows = rows_of(call);
  GradientParts parts;
  parts.grad = load(call.tensor("grad_out"));
  parts.x = load(call.tensor("input"));
  parts.rstd = load(call.tensor("rstd"));
  parts.mean = std::vector<double>(parts.rstd.size(), 0);
  parts.centre = call.has_tensor("mean") ? Centre::kMean : Centre::kZero;
  if (parts.centre == Centre::kMean) parts.mean = load(call.tensor("mean"));
  parts.weight = load_columns(call, "weight", false, call.slot("input"));
  parts.grouping = rows.grouping();
  return parts;
}

OpBuilder& declare(Registrar& r, std::string_view schema, const char* kind,
                   Sets (*sets)(const Call&), LawsFn laws) {
  declare_norm_gradient_kind(r, kind, sets, parts_of);
  return r.op(schema)
      .position_aware()  // a rank's part of a row stands among whole ones
      .infer([sets](const Call& call, OutputSink& outputs) {
        infer_gradient(call, outputs, sets(call));
      })
      .rules(gradient_rules(laws, kind))
      .accept_local([sets](const Call& call) { accept_input_cuts(call, sets(call)); })
      .compute(kFloats, [](const Call& call, const onedim_execution_t&) {
        store_gradient(call, differentiate(parts_of(call), From::kOwnElements));
      });
}

}  // namespace

void declare_row_gradients(Registrar& r) {
  declare(r,
          "native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
          "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> "
          "(Tensor?, Tensor?, Tensor?)",
          kLayerNorm, layer_norm_sets, layer_norm_gradient_laws)
      .summary("gradients of native_layer_norm: of its input, weight and bias, as the mask wants")
      .cost(cost_per_element(14))
      .samples({"f32[5,3]; f32[5,3]; f32[5,1]; f32[5,1]; f32[3]; f32[3]; normalized_shape=[3]; "
                "output_mask=[true,true,true]",
                "f64[3,2]; f64[3,2]; f64[3,1]; f64[3,1]; -; -; normalized_shape=[2]; "
                "output_mask=[true,false,false]",
                "f64[3,2]; f64[3,2]; f64[3,1]; f64[3,1]; -; f64[2]; normalized_shape=[2]; "
                "output_mask=[true,false,true]",
                "f64[2,1,3]; f64[2,1,3]; f64[2,1,1]; f64[2,1,1]; f64[3]; -; normalized_shape=[3]; "
                "output_mask=[false,true,false]",
                "bf16[4,3]; bf16[4,3]; f32[4,1]; f32[4,1]; f32[3]; -; normalized_shape=[3]; "
                "output_mask=[true,true,true]"});
  declare(r,
          "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor "
          "rstd, Tensor? weight, bool[2] output_mask) -> (Tensor?, Tensor?)",
          kRmsNorm, rms_norm_sets, rms_norm_gradient_laws)
      .summary("gradients of _fused_rms_norm: of its input and weight, as the mask wants")
      .cost(cost_per_element(12))
      .samples({"f32[5,3]; f32[5,3]; f32[5,1]; f32[3]; normalized_shape=[3]; "
                "output_mask=[true,true]",
                "f64[3,4]; f64[3,4]; f64[3,1]; -; normalized_shape=[4]; output_mask=[true,false]",
                "f64[3,4]; f64[3,4]; f64[3,1]; f64[4]; normalized_shape=[4]; "
                "output_mask=[false,true]",
                "f64[2,1,3]; f64[2,1,3]; f64[2,1,1]; f64[3]; normalized_shape=[3]; "
                "output_mask=[true,false]",
                "bf16[4,3]; bf16[4,3]; f32[4,1]; bf16[3]; normalized_shape=[3]; "
                "output_mask=[true,true]"});
}

}  // namespace nn
