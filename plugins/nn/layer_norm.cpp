// layer_norm and rms_norm: each row of the normalised (last) dims is one set (normalisation.hpp).
// Leading dims may be sharded: native_layer_norm of f32[4,6] over [6] is
// `S(0), S(0), S(0) | S(0), R, R`. The result is linear in (weight, bias), hence P(sum) of both
// passes. Cuts of the rows themselves leave a joint partial (normalisation_joint.hpp),
// `P(nn.layer_norm#0), P(nn.layer_norm#1), P(nn.layer_norm#2) | S(1), S(0), S(0)`. In the gradient
// a sharded leading dim leaves the parameters' gradients P(sum), and where the input's gradient is
// not wanted a normalised dim may be cut too.

#include <limits>

#include "normalisation_joint.hpp"

namespace nn {
namespace {

// How the input's dims split into rows and what is normalised.
struct Rows {
  int leading = 0;    // dims
  int64_t count = 1;  // of rows
  int64_t size = 1;   // of a row

  Grouping grouping() const { return {{size, count}, {1, size}}; }
};

Rows rows_of(const Call& call) {
  const TensorView input = call.tensor("input");
  const auto normalised = call.attribute<Shape>("normalized_shape");
  const int slot = call.slot("input");
  Rows rows;
  rows.leading = input.ndim() - static_cast<int>(normalised.size());
  bool fits = rows.leading >= 0 && !normalised.empty();
  for (size_t i = 0; fits && i < normalised.size(); ++i)
    fits = call.global_size(false, slot, rows.leading + static_cast<int>(i)) == normalised[i];
  if (!fits)
    fail("normalized_shape is " + format_shape(normalised) +
         ", expected the last dims of the input's shape " + format_shape(input.shape()));
  const auto shape = input.shape();
  rows.count = product_of(shape.first(static_cast<size_t>(rows.leading)));
  rows.size = product_of(shape.subspan(static_cast<size_t>(rows.leading)));
  return rows;
}

Shape statistics_shape(const Call& call, const Rows& rows) {
  Shape shape = shape_of(call.tensor("input"));
  std::fill(shape.begin() + rows.leading, shape.end(), 1);
  return shape;
}

// The parameters of a gradient have the shape of a row.
void check_parameters(const Call& call, const Rows& rows, const std::vector<const char*>& names) {
  const auto row = call.tensor("input").shape().subspan(static_cast<size_t>(rows.leading));
  for (const char* name : names) {
    if (call.has_tensor(name)) require_shape(call.tensor(name), row, name);
  }
}

// Those of a forward pass too, though a rank may have other parts of them than of the rows.
void check_global_parameters(const Call& call, const Rows& rows, const Sets& sets) {
  const Shape row = whole_sets_shape(call, sets.summed);
  for (const char* name : sets.parameters) {
    if (!call.has_tensor(name)) continue;
    const TensorView parameter = call.tensor(name);
    const auto normalised = std::span(row).subspan(static_cast<size_t>(rows.leading));
    bool fits = static_cast<size_t>(parameter.ndim()) == normalised.size();
    for (int dim = 0; fits && dim < parameter.ndim(); ++dim)
      fits = call.global_size(false, call.slot(name), dim) == normalised[static_cast<size_t>(dim)];
    if (!fits) require_shape(parameter, normalised, name);
  }
}

Sets layer_norm_sets(const Call& call) {
  const Rows rows = rows_of(call);
  Sets sets;
  for (int dim = 0; dim < call.tensor("input").ndim(); ++dim)
    sets.summed.push_back(dim >= rows.leading);
  sets.parameter = sets.summed;
  sets.parameters = {"weight", "bias"};
  sets.grouping = rows.grouping();
  sets.eps = call.attribute<double>("eps");
  return sets;
}

// eps, or the spacing around 1 of the numbers that are computed with.
double rms_eps(const Call& call) {
  if (call.has_attribute("eps")) return call.attribute<double>("eps");
  const bool is_double = call.tensor("input").dtype() == DType::kF64;
  return is_double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

Sets rms_norm_sets(const Call& call) {
  const Rows rows = rows_of(call);
  Sets sets;
  for (int dim = 0; dim < call.tensor("input").ndim(); ++dim)
    sets.summed.push_back(dim >= rows.leading);
  sets.parameter = sets.summed;
  sets.parameters = {"weight"};
  sets.grouping = rows.grouping();
  sets.centre = Centre::kZero;
  sets.eps = rms_eps(call);
  return sets;
}

// A row of one element is its own mean, so its normalised value is 0.
std::vector<Law> layer_norm_laws(const Call& call) {
  if (rows_of(call).size == 1)
    return {{{"bias"}, {{kIdentity, {"bias"}}}}, {{"input"}, {{kIdentity, {"input"}}}}, {{}, {}}};
  return {{{"input", "weight", "bias"}, affine_families(call)}, {{"input"}, {}}, {{"input"}, {}}};
}
std::vector<Law> rms_norm_laws(const Call& call) {
  return {{{"input", "weight"}, affine_families(call)}, {{"input"}, {}}};
}

using LawsFn = std::vector<Law> (*)(const Call&);

// Each parameter may be cut with the rows, or be whole on all ranks.
void cut_rows(const Call& call, LawRules& rules, const std::string& kind, int leading) {
  std::vector<Placement> outputs;
  for (int i = 0; i < call.output_count(); ++i) outputs.push_back(partial(kind, i));
  for (int dim = leading; dim < call.tensor("input").ndim(); ++dim) {
    for (const bool cuts_weight : {true, false}) {
      for (const bool cuts_bias : {true, false}) {
        const bool repeats = (!cuts_weight && !call.has_tensor("weight")) ||
                             (!cuts_bias && !call.has_tensor("bias"));
        if (repeats) continue;
        std::vector<RuleSink::Named> cut = {{"input", any_shard(dim)}};
        if (cuts_weight) cut.push_back({"weight", any_shard(dim - leading)});
        if (cuts_bias && call.has_tensor("bias")) cut.push_back({"bias", any_shard(dim - leading)});
        rules.add_cut(outputs, cut);
      }
    }
  }
}

std::function<void(const Call&, RuleSink&)> forward_rules(LawsFn laws, const std::string& kind) {
  return [laws, kind](const Call& call, RuleSink& sink) {
    LawRules rules(call, sink, laws(call));
    rules.add_partials();
    cut_rows(call, rules, kind, rows_of(call).leading);
    for (int dim = 0; dim < rows_of(call).leading; ++dim) {
      rules.add_cut(
          std::vector<Placement>(static_cast<size_t>(call.output_count()), any_shard(dim)),
          {{"input", any_shard(dim)}});
    }
  };
}

constexpr const char* kLayerNorm = "nn.layer_norm";
constexpr const char* kRmsNorm = "nn.rms_norm";

// What a kernel needs: rows that are whole, and all of their parameters.
std::vector<double> load_rows(const Call& call, const Sets& sets) {
  require_whole_sets(call);
  check_parameters(call, rows_of(call), sets.parameters);
  return load(call.tensor("input"));
}

void declare_layer_norm_forward(Registrar& r) {
  declare_norm_kind(r, kLayerNorm, 3, layer_norm_sets);
  r.op("native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
       "float eps) -> (Tensor, Tensor, Tensor)")
      .summary("rows made to mean 0 and variance 1, scaled and shifted; their mean and rstd")
      .position_aware()  // a rank's part of a row stands among whole ones
      .infer([](const Call& call, OutputSink& outputs) {
        const Rows rows = rows_of(call);
        const Sets sets = layer_norm_sets(call);
        check_global_parameters(call, rows, sets);
        const DType dtype = statistics_dtype(call, {"weight", "bias"});
        outputs.add(call.tensor("input").dtype(), whole_sets_shape(call, sets.summed));
        for (int i = 0; i < 2; ++i) outputs.add(dtype, statistics_shape(call, rows));
      })
      .rules(forward_rules(layer_norm_laws, kLayerNorm))
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 const Grouping grouping = rows_of(call).grouping();
                 std::vector<double> x = load_rows(call, layer_norm_sets(call));
                 const Statistics statistics = statistics_of(x, grouping.set, Centre::kMean);
                 const std::vector<double> rstd = statistics.rstd(call.attribute<double>("eps"));
                 normalise(x, grouping, statistics.mean, rstd, load_optional(call, "weight"),
                           load_optional(call, "bias"));
                 store(x, call.output(0));
                 store(statistics.mean, call.output(1));
                 store(rstd, call.output(2));
               })
      .cost(cost_per_element(8))
      .gradient({"native_layer_norm_backward"})
      .samples({"f32[5,7]; f32[7]; f32[7]; normalized_shape=[7]; eps=1e-05",
                "f64[4,1,6]; f64[6]; f64[6]; normalized_shape=[6]; eps=0.001",
                "f64[3,2,3]; f64[2,3]; -; normalized_shape=[2,3]; eps=0.1",
                "f64[2,3,4]; -; f64[4]; normalized_shape=[4]; eps=1e-05",
                "bf16[3,5]; f32[5]; f32[5]; normalized_shape=[5]; eps=1e-05",
                "f32[6]; -; -; normalized_shape=[6]; eps=1e-05",
                "f64[4,1]; f64[1]; f64[1]; normalized_shape=[1]; eps=0.5"});
}

void declare_rms_norm_forward(Registrar& r) {
  declare_norm_kind(r, kRmsNorm, 2, rms_norm_sets);
  r.op("_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> "
       "(Tensor, Tensor)")
      .summary("rows made to mean square 1, scaled; the reciprocal of their root mean square")
      .position_aware()  // a rank's part of a row stands among whole ones
      .infer([](const Call& call, OutputSink& outputs) {
        const Rows rows = rows_of(call);
        const Sets sets = rms_norm_sets(call);
        check_global_parameters(call, rows, sets);
        statistics_dtype(call, {"weight"});
        const DType dtype = call.tensor("input").dtype();
        outputs.add(dtype, whole_sets_shape(call, sets.summed));
        outputs.add(is_half(dtype) ? DType::kF32 : dtype, statistics_shape(call, rows));
      })
      .rules(forward_rules(rms_norm_laws, kRmsNorm))
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 const Grouping grouping = rows_of(call).grouping();
                 std::vector<double> x = load_rows(call, rms_norm_sets(call));
                 const Statistics statistics = statistics_of(x, grouping.set, Centre::kZero);
                 const std::vector<double> rstd = statistics.rstd(rms_eps(call));
                 normalise(x, grouping, statistics.mean, rstd, load_optional(call, "weight"), {});
                 store(x, call.output(0));
                 store(rstd, call.output(1));
               })
      .cost(cost_per_element(6))
      .gradient({"_fused_rms_norm_backward"})
      .samples({"f32[5,7]; f32[7]; normalized_shape=[7]; eps=1e-05",
                "f64[4,1,6]; f64[6]; normalized_shape=[6]; eps=null",
                "f64[3,2,3]; -; normalized_shape=[2,3]; eps=0.1",
                "bf16[3,5]; bf16[5]; normalized_shape=[5]; eps=1e-05",
                "f32[6]; f32[6]; normalized_shape=[6]; eps=1e-05",
                "f64[4,1]; f64[1]; normalized_shape=[1]; eps=0.5"});
}

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

std::function<void(const Call&, RuleSink&)> gradient_rules(LawsFn laws) {
  return [laws](const Call& call, RuleSink& sink) {
    LawRules rules(call, sink, laws(call));
    rules.add_partials();
    const Rows rows = rows_of(call);
    const auto outputs = static_cast<size_t>(call.output_count());
    for (int dim = 0; dim < call.tensor("input").ndim(); ++dim) {
      const bool is_row = dim < rows.leading;
      std::vector<RuleSink::Named> cut = {{"grad_out", any_shard(dim)}, {"input", any_shard(dim)}};
      std::vector<Placement> results(outputs,
                                     is_row ? partial("sum") : any_shard(dim - rows.leading));
      if (is_row) {
        results[0] = any_shard(dim);
        cut.push_back({"rstd", any_shard(dim)});
        if (outputs == 3) cut.push_back({"mean", any_shard(dim)});
      } else {
        if (call.output(0).present()) continue;
        cut.push_back({"weight", any_shard(dim - rows.leading)});
        if (outputs == 3) cut.push_back({"bias", any_shard(dim - rows.leading)});
      }
      rules.add_cut(results, cut);
    }
  };
}

// grad_input, then the parameters' gradients where there is a parameter.
void infer_gradient(const Call& call, OutputSink& outputs,
                    const std::vector<const char*>& parameters) {
  const std::vector<bool> mask = output_mask(call, parameters.size() + 1);
  const TensorView input = call.tensor("input");
  const Rows rows = rows_of(call);
  check_parameters(call, rows, parameters);
  require_shape(call.tensor("grad_out"), input.shape(), "grad_out");
  require(call.tensor("grad_out").dtype() == input.dtype(), "grad_out and input need one dtype");
  require_shape(call.tensor("rstd"), statistics_shape(call, rows), "rstd");
  if (parameters.size() == 2)
    require_shape(call.tensor("mean"), statistics_shape(call, rows), "mean");
  if (mask[0])
    outputs.add(input.dtype(), shape_of(input));
  else
    outputs.add_absent();
  size_t next = 1;
  for (const char* name : parameters) {
    if (mask[next++] && call.has_tensor(name))
      outputs.add(call.tensor(name).dtype(), shape_of(call.tensor(name)));
    else
      outputs.add_absent();
  }
}

void compute_gradient(const Call& call, Centre centre) {
  const Rows rows = rows_of(call);
  const std::vector<double> mean = centre == Centre::kMean
                                       ? load(call.tensor("mean"))
                                       : std::vector<double>(static_cast<size_t>(rows.count), 0);
  store_gradient(call, differentiate(load(call.tensor("grad_out")), load(call.tensor("input")),
                                     rows.grouping(), mean, load(call.tensor("rstd")),
                                     load_optional(call, "weight"), centre, From::kOwnElements));
}

void declare_gradients(Registrar& r) {
  r.op("native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
       "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> "
       "(Tensor?, Tensor?, Tensor?)")
      .summary("gradients of native_layer_norm: of its input, weight and bias, as the mask wants")
      .position_aware()  // the sizes in normalized_shape are those of the global tensor
      .infer([](const Call& call, OutputSink& outputs) {
        infer_gradient(call, outputs, {"weight", "bias"});
      })
      .rules(gradient_rules(layer_norm_gradient_laws))
      .compute(kFloats, [](const Call& call,
                           const onedim_execution_t&) { compute_gradient(call, Centre::kMean); })
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
  r.op("_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor "
       "rstd, Tensor? weight, bool[2] output_mask) -> (Tensor?, Tensor?)")
      .summary("gradients of _fused_rms_norm: of its input and weight, as the mask wants")
      .position_aware()  // the sizes in normalized_shape are those of the global tensor
      .infer(
          [](const Call& call, OutputSink& outputs) { infer_gradient(call, outputs, {"weight"}); })
      .rules(gradient_rules(rms_norm_gradient_laws))
      .compute(kFloats, [](const Call& call,
                           const onedim_execution_t&) { compute_gradient(call, Centre::kZero); })
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

}  // namespace

void declare_layer_norm(Registrar& r) {
  declare_layer_norm_forward(r);
  declare_rms_norm_forward(r);
  declare_gradients(r);
}

}  // namespace nn
