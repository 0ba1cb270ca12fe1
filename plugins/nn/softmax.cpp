// Softmax over one dim. With m = max x:
//   softmax      y = exp(x - m) / sum exp(x - m)        log_softmax  y = x - m - log sum exp(x - m)
//   safe_softmax the same, but 0 where a whole vector is -inf
// Every other dim may be sharded: _softmax of f32[4,6] over dim 1 is `S(0) | S(0)`. Shards of the
// dim itself leave the joint partial (x, m, sum exp(x - m)), `P(nn.softmax#0) | S(1)`: the elements
// x of the own columns among zeros, so that they add up, beside the pair that merges by rescaling
// to the larger m (Milakov and Gimelshein 2018). Merged, it gives y.
//   1 2 | 3: (1 2 0, 2, 1 + e^-1) and (0 0 3, 3, 1) give (1 2 3, 3, e^-2 + e^-1 + 1)

#include "softmax.hpp"

#include <cmath>
#include <limits>

#include "joint_states.hpp"

namespace nn {
namespace {

using Kind = SoftmaxKind;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct MaxSum {
  double max = kMinusInfinity, sum = 0;
};

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  if (!std::isnan(b.max) && (std::isnan(a.max) || b.max < a.max)) return merge(b, a);
  // Now b.max is the larger, or NaN.
  return {b.max, a.sum * (a.max == b.max ? 1 : std::exp(a.max - b.max)) + b.sum};
}

// Of vector `v` among the elements x.
MaxSum max_sum_of(const std::vector<double>& x, const Vectors& vectors, int64_t v) {
  MaxSum result;
  for (int64_t i = 0; i < vectors.length; ++i)
    result.max = std::max(result.max, x[vectors.at(v, i)]);
  for (int64_t i = 0; i < vectors.length; ++i)
    result.sum += std::exp(x[vectors.at(v, i)] - result.max);
  return result;
}

double normalised(Kind kind, double x, const MaxSum& of) {
  if (kind == Kind::kLogSoftmax) return x - of.max - std::log(of.sum);
  if (kind == Kind::kSafeSoftmax && of.max == kMinusInfinity) return 0;
  return std::exp(x - of.max) / of.sum;
}

void compute(const Call& call, Kind kind) {
  require(call.input(0).element_count() == call.output().element_count(),
          "a part of a vector has no softmax by itself, its joint partial does");
  std::vector<double> values = load(call.input(0));
  const Vectors vectors(call.input(0), softmax_dim(call));
  for (int64_t v = 0; v < vectors.count(); ++v) {
    const MaxSum of = max_sum_of(values, vectors, v);
    for (int64_t i = 0; i < vectors.length; ++i) {
      double& x = values[vectors.at(v, i)];
      x = normalised(kind, x, of);
    }
  }
  store(values, call.output());
}

void store_state(const Call& call, States states) {
  const std::vector<double> own = load(call.input(0));
  const Vectors vectors(call.input(0), softmax_dim(call));
  std::vector<double> max, sum;
  for (int64_t v = 0; v < vectors.count(); ++v) {
    const MaxSum of = max_sum_of(own, vectors, v);
    max.push_back(of.max);
    sum.push_back(of.sum);
  }
  spread_over_vectors(call, 0, TensorView(&states[0]));
  store(max, TensorView(&states[1]));
  store(sum, TensorView(&states[2]));
}

void combine(States into, States from) {
  std::vector<std::vector<double>> a, b;
  for (size_t i = 0; i < into.size(); ++i) {
    a.push_back(load(TensorView(&into[i])));
    b.push_back(load(TensorView(&from[i])));
  }
  for (size_t i = 0; i < a[0].size(); ++i) a[0][i] += b[0][i];
  for (size_t v = 0; v < a[1].size(); ++v) {
    const MaxSum merged = merge({a[1][v], a[2][v]}, {b[1][v], b[2][v]});
    a[1][v] = merged.max;
    a[2][v] = merged.sum;
  }
  for (size_t i = 0; i < into.size(); ++i) store(a[i], TensorView(&into[i]));
}

void declare_kind(Registrar& r, std::string_view name, Kind kind) {
  r.partial(name, {"x", "max", "sumexp"})
      .outputs(1)
      .state([](const Call& call, OutputSink& states) { add_softmax_states(call, states, 1, 2); })
      .local(store_state)
      .identity({0, kMinusInfinity, 0})
      .combine(combine)
      .finish([kind](States states, States outputs) {
        std::array<Operand, 3> in;
        for (size_t i = 0; i < in.size(); ++i) in[i].tensor = TensorView(&states[i]);
        map_elements<double>(TensorView(&outputs[0]), in, [kind](double x, double max, double sum) {
          return normalised(kind, x, {max, sum});
        });
      });
}

void infer(const Call& call, OutputSink& outputs) {
  const Shape shape = whole_shape(call, 0);
  const DType self = call.input(0).dtype();
  const bool widens = call.attribute<bool>("half_to_float");
  require(!widens || self == DType::kF16, "half_to_float is for f16 only");
  outputs.add(widens ? DType::kF32 : self, shape);
}

OpBuilder& declare(Registrar& r, std::string_view schema, const std::string& partial_kind,
                   Kind kind) {
  declare_kind(r, partial_kind, kind);
  return r.op(schema)
      .position_aware()  // a rank's part of the vectors stands among whole ones
      .rules([partial_kind](const Call& call, RuleSink& rules) {
        cut_other_dims(call, rules);
        cut_vectors(call, rules, partial(partial_kind), {any_shard(softmax_dim(call))});
      })
      .compute(kFloats,
               [kind](const Call& call, const onedim_execution_t&) { compute(call, kind); })
      .cost(cost_per_element(12));
}

void declare_safe_softmax(Registrar& r) {
  declare(r, "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
          "nn.safe_softmax", Kind::kSafeSoftmax)
      .summary("softmax over one dim; a vector of -inf gives zeros")
      .infer([](const Call& call, OutputSink& outputs) {
        const Shape shape = whole_shape(call, 0);
        const DType self = call.input(0).dtype();
        const DType dtype = call.attribute<std::optional<DType>>("dtype").value_or(self);
        require(is_floating(dtype), "softmax is defined for floats; pass dtype for others");
        outputs.add(dtype, shape);
      })
      .compute(
          kFloats | kIntegerDTypes | kBoolDTypes,
          [](const Call& call, const onedim_execution_t&) { compute(call, Kind::kSafeSoftmax); })
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]; dim=0", "f64[2,3,4]; dim=-2", "bf16[3,4]; dim=-1",
                "f64[7]; dim=0", "f32[3,5]; dim=0; dtype=f64", "i64[3,4]; dim=1; dtype=f32"});
}

}  // namespace

void add_softmax_states(const Call& call, OutputSink& states, int whole, int numbers) {
  const DType dtype = softmax_state_dtype(call.input(0).dtype());
  Shape shape = shape_of(call.output());
  for (int i = 0; i < whole; ++i) states.add(dtype, shape);
  if (!shape.empty()) shape[static_cast<size_t>(softmax_dim(call))] = 1;
  for (int i = 0; i < numbers; ++i) states.add(dtype, shape);
}

void spread_over_vectors(const Call& call, int slot, const TensorView& state) {
  const std::vector<double> own = load(call.input(slot));
  const int dim = softmax_dim(call);
  const Vectors parts(call.input(slot), dim), target(state, dim);
  const std::vector<int64_t> at = call.input(slot).ndim() == 0
                                      ? std::vector<int64_t>{0}
                                      : places(call, {false, slot, dim}, {true, 0, dim});
  std::vector<double> spread(static_cast<size_t>(state.element_count()), 0);
  for (int64_t i = 0; i < parts.length; ++i) {
    const int64_t to = at[static_cast<size_t>(i)];
    for (int64_t v = 0; to >= 0 && v < parts.count(); ++v)
      spread[target.at(v, to)] = own[parts.at(v, i)];
  }
  store(spread, state);
}

void cut_other_dims(const Call& call, RuleSink& rules) {
  const int dim = softmax_dim(call);
  for (int other = 0; other < call.input(0).ndim(); ++other) {
    if (other == dim || call.input(0).size(other) == 1) continue;
    const Placement cut = any_shard(other);
    const std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), cut);
    rules.add(std::span(&cut, 1), inputs);
  }
}

void cut_vectors(const Call& call, RuleSink& rules, const Placement& output,
                 const std::vector<Placement>& inputs) {
  const TensorView self = call.input(0);
  if (self.ndim() > 0 && self.size(softmax_dim(call)) > 1) rules.add(std::span(&output, 1), inputs);
}

void declare_softmax(Registrar& r) {
  declare(r, "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", "nn.softmax",
          Kind::kSoftmax)
      .summary("exp(x) over its sum along one dim")
      .infer(infer)
      .gradient({"_softmax_backward_data"})
      .samples({"f32[5,7]; dim=1; half_to_float=false", "f64[4,1,6]; dim=0; half_to_float=false",
                "f64[2,3,4]; dim=-2; half_to_float=false", "bf16[3,4]; dim=-1; half_to_float=false",
                "f16[4,5]; dim=1; half_to_float=true", "f64[7]; dim=0; half_to_float=false"})
      .out("_softmax.out");
  declare(r, "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", "nn.log_softmax",
          Kind::kLogSoftmax)
      .summary("logarithm of softmax along one dim")
      .infer(infer)
      .gradient({"_log_softmax_backward_data"})
      .samples({"f32[5,7]; dim=1; half_to_float=false", "f64[4,1,6]; dim=0; half_to_float=false",
                "f64[2,3,4]; dim=-2; half_to_float=false", "bf16[3,4]; dim=-1; half_to_float=false",
                "f16[4,5]; dim=1; half_to_float=true", "f64[7]; dim=0; half_to_float=false"})
      .out("_log_softmax.out");
  declare_safe_softmax(r);
  declare_softmax_gradients(r);
}

}  // namespace nn
