// Gradients of softmax over one dim, y being its result and g what comes in:
//   softmax  (g - sum g y) y          log_softmax  g - exp(y) sum g
// They are linear in g, so they pass its P(sum) and P(avg), and a rank may hold only some of g's
// columns, the others counting as 0: `P(sum) | S(1), R` of [4,6] along dim 1. log_softmax' sum does
// not read y, so with a whole g the columns of y may be cut: `S(1) | R, S(1)`. Where both are cut
// the sum needs all ranks, and the joint partial (g, y, sum) gives what the sum is for: g and y of
// the own columns among zeros, so that everything adds up. For log_softmax all of these go together
// on a mesh where the pieces meet: g and y [4,8] with a `P(nn.log_softmax_gradient#0) | S(1), S(1)`
// and b `S(1) | R, S(1)`, of 2 ranks each, of which b must cut y first. Rank (i,j) has half i of g,
// half j of the result and its half i of y; g outside of the own result counts in the sum only.

#include <cmath>

#include "joint_states.hpp"
#include "softmax.hpp"

namespace nn {
namespace {

using Kind = SoftmaxKind;

double term(Kind kind, double g, double y) { return kind == Kind::kLogSoftmax ? g : g * y; }
double gradient(Kind kind, double g, double y, double sum) {
  return kind == Kind::kLogSoftmax ? g - std::exp(y) * sum : (g - sum) * y;
}

// Where an input's local columns stand in the local output, -1 for those that are not in it.
std::vector<int64_t> columns_in_output(const Call& call, int slot) {
  const int dim = softmax_dim(call);
  if (call.input(slot).ndim() == 0) return {0};
  return places(call, {false, slot, dim}, {true, 0, dim});
}

// One rank's share: its g may cover any columns, its y those of the output, all of them for
// softmax.
void compute(const Call& call, Kind kind) {
  const int dim = softmax_dim(call);
  const TensorView g_in = call.tensor("grad_output"), y_in = call.tensor("output");
  const std::vector<double> g = load(g_in), y = load(y_in);
  const Vectors g_vectors(g_in, dim), vectors(y_in, dim);
  require(!has_joint(call), "parts of both vectors have no gradient by themselves");
  const std::vector<int64_t> at = columns_in_output(call, call.slot("grad_output"));
  std::vector<double> own(y.size(), 0);
  for (int64_t v = 0; v < vectors.count(); ++v) {
    double sum = 0;
    for (int64_t i = 0; i < g_vectors.length; ++i) {
      const int64_t to = at[static_cast<size_t>(i)];
      const double value = g[g_vectors.at(v, i)];
      if (to >= 0) own[vectors.at(v, to)] = value;
      sum += term(kind, value, to >= 0 ? y[vectors.at(v, to)] : 0);
    }
    for (int64_t i = 0; i < vectors.length; ++i) {
      double& x = own[vectors.at(v, i)];
      x = gradient(kind, x, y[vectors.at(v, i)], sum);
    }
  }
  store(own, call.output());
}

// The sum of log_softmax does not read y, whose columns may be fewer than those of g.
void store_state(const Call& call, States states, Kind kind) {
  const std::vector<double> g = load(call.input(0)), y = load(call.input(1));
  const Vectors vectors(call.input(0), softmax_dim(call));
  std::vector<double> sums;
  for (int64_t v = 0; v < vectors.count(); ++v) {
    double& sum = sums.emplace_back(0);
    for (int64_t i = 0; i < vectors.length; ++i) {
      const size_t at = vectors.at(v, i);
      sum += term(kind, g[at], kind == Kind::kLogSoftmax ? 0 : y[at]);
    }
  }
  spread_over_vectors(call, 0, TensorView(&states[0]));
  spread_over_vectors(call, 1, TensorView(&states[1]));
  store(sums, TensorView(&states[2]));
}

void declare_kind(Registrar& r, std::string_view name, Kind kind) {
  r.partial(name, {"grad", "output", "sum"})
      .outputs(1)
      .state([](const Call& call, OutputSink& states) { add_softmax_states(call, states, 2, 1); })
      .local([kind](const Call& call, States states) { store_state(call, states, kind); })
      .identity({0, 0, 0})
      .combine(add_states)
      .finish([kind](States states, States outputs) {
        std::array<Operand, 3> in;
        for (size_t i = 0; i < in.size(); ++i) in[i].tensor = TensorView(&states[i]);
        map_elements<double>(TensorView(&outputs[0]), in, [kind](double g, double y, double sum) {
          return gradient(kind, g, y, sum);
        });
      });
}

void infer(const Call& call, OutputSink& outputs, Kind kind) {
  const TensorView grad = call.tensor("grad_output"), output = call.tensor("output");
  const int slot = call.slot("output"), dim = softmax_dim(call);
  const Shape whole = whole_shape(call, slot);
  const Shape expected = whole_shape(call, call.slot("grad_output"));
  if (whole != expected) require_shape(output, expected, "output");
  require(output.dtype() == grad.dtype(), "grad_output and output need one dtype");
  const DType dtype = call.attribute<DType>("input_dtype");
  require(dtype == grad.dtype() || (grad.dtype() == DType::kF32 && dtype == DType::kF16),
          "input_dtype must be that of grad_output, or f16 where that is f32");
  const bool is_part = output.ndim() > 0 && output.size(dim) != call.global_size(false, slot, dim);
  require(kind == Kind::kLogSoftmax || !is_part || has_joint(call),
          "the gradient of softmax needs all columns of its result");
  outputs.add(dtype, has_joint(call) ? local_output_shape(call, 0, whole) : shape_of(output));
}

// Ranks that merge their columns of y must make up those of the result.
void accept(const Call& call) {
  const int dim = softmax_dim(call);
  if (call.input(1).ndim() > 0) accept_covering(call, {false, 1, dim}, {true, 0, dim});
}

OpBuilder& declare(Registrar& r, std::string_view schema, const std::string& partial_kind,
                   Kind kind) {
  declare_kind(r, partial_kind, kind);
  return r.op(schema)
      .position_aware()
      .infer([kind](const Call& call, OutputSink& outputs) { infer(call, outputs, kind); })
      .rules([partial_kind, kind](const Call& call, RuleSink& rules) {
        cut_other_dims(call, rules);
        const Placement cut = any_shard(softmax_dim(call));
        cut_vectors(call, rules, partial(partial_kind), {cut, cut});
        cut_vectors(call, rules, partial("sum"), {cut, replicate()});
        if (kind == Kind::kLogSoftmax) cut_vectors(call, rules, cut, {replicate(), cut});
      })
      .families({{kLinear, {"grad_output"}}})
      .accept_local(accept)
      .compute(kFloats,
               [kind](const Call& call, const onedim_execution_t&) { compute(call, kind); })
      .cost(cost_per_element(6))
      .samples({"f32[5,7]; f32[5,7]; dim=1; input_dtype=f32",
                "f64[4,1,6]; f64[4,1,6]; dim=0; input_dtype=f64",
                "f64[2,3,4]; f64[2,3,4]; dim=-2; input_dtype=f64",
                "bf16[3,4]; bf16[3,4]; dim=-1; input_dtype=bf16",
                "f32[4,5]; f32[4,5]; dim=0; input_dtype=f16",
                "f64[7]; f64[7]; dim=0; input_dtype=f64"});
}

}  // namespace

void declare_softmax_gradients(Registrar& r) {
  declare(r,
          "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType "
          "input_dtype) -> Tensor",
          "nn.softmax_gradient", Kind::kSoftmax)
      .summary("gradient of softmax: (g - sum g y) y");
  declare(r,
          "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
          "ScalarType input_dtype) -> Tensor",
          "nn.log_softmax_gradient", Kind::kLogSoftmax)
      .summary("gradient of log_softmax: g - exp(y) sum g")
      .out("_log_softmax_backward_data.out");
}

}  // namespace nn
