// layer_norm and rms_norm: each row of the normalised (last) dims is one set (normalisation.hpp).
// Leading dims may be sharded: native_layer_norm of f32[4,6] over [6] is
// `S(0), S(0), S(0) | S(0), R, R`. The result is linear in (weight, bias), hence P(sum) of both
// passes. Cuts of the rows themselves leave a joint partial (normalisation_joint.hpp),
// `P(nn.layer_norm#0), P(nn.layer_norm#1), P(nn.layer_norm#2) | S(1), S(0), S(0)`, each parameter
// cut with them or whole. Of a whole input cut parameters give their own columns:
// `S(1), R, R | R, S(0), S(0)`. On a mesh both go together, where the pieces meet:
//   f32[4,8] on a=2,b=2: a `P.. | S(1), R, R` and b `S(1), R, R | R, S(0), S(0)`; rank (i,j) has of
//   the input the half i, of weight and result the half j; its state holds what both have

#include "normalisation_joint.hpp"
#include "rows.hpp"

namespace nn {
namespace {

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

// Each parameter may be cut with the rows, or without them, or be whole on all ranks.
void cut_rows(const Call& call, LawRules& rules, const std::string& kind) {
  const auto outputs = static_cast<size_t>(call.output_count());
  std::vector<Placement> joint;
  for (int i = 0; i < call.output_count(); ++i) joint.push_back(partial(kind, i));
  const int leading = rows_of(call).leading;
  for (int dim = leading; dim < call.tensor("input").ndim(); ++dim) {
    std::vector<Placement> columns(outputs, replicate());
    columns[0] = any_shard(dim);
    for_each_parameter_cut(call, {"weight", "bias"}, any_shard(dim - leading),
                           [&](const std::vector<RuleSink::Named>& cut) {
                             if (!cut.empty()) rules.add_cut(columns, cut);
                             std::vector<RuleSink::Named> with_input = cut;
                             with_input.push_back({"input", any_shard(dim)});
                             rules.add_cut(joint, with_input);
                           });
  }
}

std::function<void(const Call&, RuleSink&)> forward_rules(LawsFn laws, const std::string& kind) {
  return [laws, kind](const Call& call, RuleSink& sink) {
    LawRules rules(call, sink, laws(call));
    rules.add_partials();
    cut_rows(call, rules, kind);
    for (int dim = 0; dim < rows_of(call).leading; ++dim) {
      rules.add_cut(
          std::vector<Placement>(static_cast<size_t>(call.output_count()), any_shard(dim)),
          {{"input", any_shard(dim)}});
    }
  };
}

constexpr const char* kLayerNorm = "nn.layer_norm";
constexpr const char* kRmsNorm = "nn.rms_norm";

// A whole input gives the columns that all cut parameters have.
Shape result_shape(const Call& call, const Sets& sets) {
  Shape shape = norm_shape(call, sets);
  if (has_joint(call)) return shape;
  require_columns(call, sets.parameters, true, 0);
  const auto leading = static_cast<size_t>(rows_of(call).leading);
  for (const char* name : sets.parameters) {
    for (size_t dim = leading; call.has_tensor(name) && dim < shape.size(); ++dim)
      shape[dim] = std::min(shape[dim], call.tensor(name).size(static_cast<int>(dim - leading)));
  }
  return shape;
}

void infer(const Call& call, OutputSink& outputs, const Sets& sets, DType statistics) {
  require_row_shape(call, sets.parameters);
  Shape global = global_shape(call, "input");
  std::fill(global.begin() + rows_of(call).leading, global.end(), 1);
  outputs.add(call.tensor("input").dtype(), result_shape(call, sets));
  const int count = sets.centre == Centre::kMean ? 2 : 1;
  for (int i = 1; i <= count; ++i) {
    outputs.add(statistics, norm_statistics_shape(call, i, global, row_statistics_shape(call)));
  }
}

// The local elements of output 0, from those of the whole rows that it is made of.
std::vector<double> pick_result(const Call& call, const std::vector<double>& x) {
  const TensorView input = call.tensor("input");
  if (static_cast<int64_t>(x.size()) == call.output(0).element_count()) return x;
  std::vector<std::vector<int64_t>> dims;
  for (int dim = 0; dim < input.ndim(); ++dim)
    dims.push_back(places(call, {true, 0, dim}, {false, call.slot("input"), dim}));
  return pick(x, flat_places(dims, input.shape()));
}

void compute(const Call& call, Centre centre, double eps) {
  const Rows rows = rows_of(call);
  std::vector<double> x = load(call.tensor("input"));
  const Statistics statistics = statistics_of(x, rows.grouping().set, centre);
  const std::vector<double> rstd = statistics.rstd(eps);
  x = pick_result(call, x);
  Rows columns = rows;
  columns.size = rows.count == 0 ? 0 : static_cast<int64_t>(x.size()) / rows.count;
  normalise(x, columns.grouping(), statistics.mean, rstd, load_columns(call, "weight", true, 0),
            load_columns(call, "bias", true, 0));
  store(x, call.output(0));
  if (centre == Centre::kMean) store(statistics.mean, call.output(1));
  store(rstd, call.output(call.output_count() - 1));
}

void declare_layer_norm_forward(Registrar& r) {
  declare_norm_kind(r, kLayerNorm, 3, layer_norm_sets);
  r.op("native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
       "float eps) -> (Tensor, Tensor, Tensor)")
      .summary("rows made to mean 0 and variance 1, scaled and shifted; their mean and rstd")
      .position_aware()  // a rank's part of a row stands among whole ones
      .infer([](const Call& call, OutputSink& outputs) {
        infer(call, outputs, layer_norm_sets(call), statistics_dtype(call, {"weight", "bias"}));
      })
      .rules(forward_rules(layer_norm_laws, kLayerNorm))
      .accept_local([](const Call& call) { accept_norm_cuts(call, layer_norm_sets(call)); })
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 compute(call, Centre::kMean, call.attribute<double>("eps"));
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
        statistics_dtype(call, {"weight"});
        const DType dtype = call.tensor("input").dtype();
        infer(call, outputs, rms_norm_sets(call), is_half(dtype) ? DType::kF32 : dtype);
      })
      .rules(forward_rules(rms_norm_laws, kRmsNorm))
      .accept_local([](const Call& call) { accept_norm_cuts(call, rms_norm_sets(call)); })
      .compute(kFloats,
               [](const Call& call, const onedim_execution_t&) {
                 compute(call, Centre::kZero, rms_eps(call));
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

}  // namespace

void declare_layer_norm(Registrar& r) {
  declare_layer_norm_forward(r);
  declare_rms_norm_forward(r);
  declare_row_gradients(r);
}

}  // namespace nn
