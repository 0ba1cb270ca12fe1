// Variances. n elements of mean m and sum of squared distances q merge with others by Chan's
// formula (Chan, Golub, LeVeque 1979): with d = m2 - m1 and n = n1 + n2, the mean is m1 + d n2 / n,
// and q is q1 + q2 + d^2 n1 n2 / n. All of it is divided by N - correction, N the number of
// elements of the global tensor: then q is the variance, and n stands for the share of the
// elements.
//   var.correction f64[3], dim [0], P(reduction.var#0) | S(0): 1 2 | 6 leave (1.5, 0.25, 1) and
//   (6, 0, 0.5), which give (3, 0.25 + 4.5^2 / 3, 1.5): the variance is 7

#include <cmath>

#include "families.hpp"

namespace reduction {
namespace {

template <typename T>
struct Moments {
  T mean = 0;
  double spread = 0;  // q
  double weight = 0;  // n

  Moments() = default;
  Moments(T of_mean, double of_spread, double of_weight)
      : mean(of_mean), spread(of_spread), weight(of_weight) {}
  explicit Moments(const T& x) : mean(x), weight(1) {}
};

template <typename T>
Moments<T> merge(const Moments<T>& a, const Moments<T>& b) {
  if (a.weight == 0) return b;
  if (b.weight == 0) return a;
  const double weight = a.weight + b.weight;
  const T distance = b.mean - a.mean;
  const double squared = std::norm(distance);
  return {a.mean + distance * (b.weight / weight),
          a.spread + b.spread + squared * a.weight * (b.weight / weight), weight};
}

double correction_of(const Call& call) {
  return call.has_attribute("correction") ? call.attribute<double>("correction") : 1;
}

// N - correction, never below 0.
double divisor_of(const Call& call) {
  const auto count = static_cast<double>(reduced_count(call, reduced_dims(call)));
  return std::max(0.0, count - correction_of(call));
}

template <typename F>
void with_moment_type(DType dtype, F&& f) {
  if (is_complex(dtype))
    f(std::complex<double>());
  else
    f(0.0);
}

// Calls use(moments), one an output element, divided by N - correction.
template <typename Use>
void reduce_moments(const Call& call, Use use) {
  const TensorView self = call.input(0);
  const double divisor = divisor_of(call);
  with_moment_type(self.dtype(), [&]<typename T>(T) {
    auto moments = fold<T>(self, reduced_dims(call), Moments<T>(), merge<T>);
    for (Moments<T>& m : moments) {
      if (m.weight == 0 && divisor == 0) m.mean = T(NAN);
      m = {m.mean, m.spread / divisor, m.weight / divisor};
    }
    use(moments);
  });
}

template <typename T>
void store_moments(const std::vector<Moments<T>>& moments, States states) {
  std::vector<T> mean;
  std::vector<double> spread, weight;
  for (const Moments<T>& m : moments) {
    mean.push_back(m.mean);
    spread.push_back(m.spread);
    weight.push_back(m.weight);
  }
  store_dense(mean.data(), TensorView(&states[0]));
  store_dense(spread.data(), TensorView(&states[1]));
  store_dense(weight.data(), TensorView(&states[2]));
}

template <typename T>
std::vector<Moments<T>> load_moments(States states) {
  const std::vector<T> mean = load_dense<T>(TensorView(&states[0]));
  const std::vector<double> spread = load_dense<double>(TensorView(&states[1]));
  const std::vector<double> weight = load_dense<double>(TensorView(&states[2]));
  std::vector<Moments<T>> moments;
  for (size_t i = 0; i < mean.size(); ++i) moments.push_back({mean[i], spread[i], weight[i]});
  return moments;
}

// What an op makes of merged moments: the variance or its root, and the mean where there is a
// second output.
template <bool kRoot, typename T>
void finish_moments(const std::vector<Moments<T>>& moments, std::span<const TensorView> outputs) {
  std::vector<double> spread;
  std::vector<T> mean;
  for (const Moments<T>& m : moments) {
    spread.push_back(kRoot ? std::sqrt(m.spread) : m.spread);
    mean.push_back(m.mean);
  }
  store_dense(spread.data(), outputs[0]);
  if (outputs.size() > 1) store_dense(mean.data(), outputs[1]);
}

template <bool kRoot>
void declare_kind(Registrar& r, std::string_view name, int count) {
  r.partial(name, {"mean", "spread", "weight"})
      .outputs(count)
      .state([](const Call& call, OutputSink& states) {
        const DType self = call.input(0).dtype();
        const DType real = to_real(self) == DType::kF64 ? DType::kF64 : DType::kF32;
        states.add(is_complex(self) ? self : real, shape_of(call.output()));
        for (int i = 0; i < 2; ++i) states.add(real, shape_of(call.output()));
      })
      .local([](const Call& call, States states) {
        reduce_moments(call, [&](const auto& moments) { store_moments(moments, states); });
      })
      .identity({0, 0, 0})
      .combine([](States into, States from) {
        with_moment_type(TensorView(&into[0]).dtype(), [&]<typename T>(T) {
          std::vector<Moments<T>> moments = load_moments<T>(into);
          const std::vector<Moments<T>> others = load_moments<T>(from);
          for (size_t i = 0; i < moments.size(); ++i) moments[i] = merge(moments[i], others[i]);
          store_moments(moments, into);
        });
      })
      .finish([](States states, States outputs) {
        const std::vector<TensorView> targets = {TensorView(&outputs.front()),
                                                 TensorView(&outputs.back())};
        with_moment_type(TensorView(&states[0]).dtype(), [&]<typename T>(T) {
          finish_moments<kRoot>(load_moments<T>(states), std::span(targets).first(outputs.size()));
        });
      });
}

// `values[, mean] | self`; a variance that is no number has no parts.
void moment_rules(const Call& call, RuleSink& rules, std::string_view kind) {
  const std::vector<bool> reduced = reduced_dims(call);
  reduction_rules(call, rules, reduced, keeps_dims(call), "");
  if (divisor_of(call) == 0) return;
  std::vector<Placement> outputs;
  for (int i = 0; i < call.output_count(); ++i) outputs.push_back(partial(kind, i));
  for (int dim = 0; dim < static_cast<int>(reduced.size()); ++dim) {
    const Placement in = any_shard(dim);
    if (reduced[dim] && call.input(0).size(dim) != 1) rules.add(outputs, std::span(&in, 1));
  }
}

template <bool kRoot>
OpBuilder& declare_moment_op(Registrar& r, std::string_view schema, const std::string& kind,
                             int outputs) {
  return r.op(schema)
      .position_aware()
      .infer([outputs](const Call& call, OutputSink& sink) {
        const DType self = call.input(0).dtype();
        require(category(self) >= 2, "self must be a float or complex tensor");
        const Shape shape =
            reduced_shape(call.input(0).shape(), reduced_dims(call), keeps_dims(call));
        sink.add(to_real(prim_dtype(call)), shape);
        if (outputs > 1) sink.add(self, shape);
      })
      .rules([kind](const Call& call, RuleSink& rules) { moment_rules(call, rules, kind); })
      .compute(kReducible,
               [](const Call& call, const onedim_execution_t&) {
                 std::vector<TensorView> targets;
                 for (int i = 0; i < call.output_count(); ++i) targets.push_back(call.output(i));
                 reduce_moments(call, [&](const auto& moments) {
                   finish_moments<kRoot>(moments, std::span<const TensorView>(targets));
                 });
               })
      .cost(reduction_cost);
}

// `var.correction` and its like, with a joint partial of its name.
template <bool kRoot>
OpBuilder& declare_corrected(Registrar& r, const std::string& name, std::string_view returns,
                             int outputs) {
  const std::string kind = "reduction." + name;
  declare_kind<kRoot>(r, kind, outputs);
  std::string schema = name;
  schema += ".correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool ";
  schema += "keepdim=False) -> ";
  schema += returns;
  return declare_moment_op<kRoot>(r, schema, kind, outputs)
      .samples({"f32[5,7]; dim=[1]", "f64[4,1,6]; dim=[0,-1]", "f64[4,6]; correction=0",
                "f32[4,6]; dim=[0]; keepdim=true", "c64[3,5]; dim=[1]",
                "f64[5,3]; dim=[0]; correction=2", "bf16[6,4]; dim=[-1]",
                "f64[7]; dim=[]; correction=0.5", "f64[2,3]; dim=[0]; correction=2"});
}

}  // namespace

void declare_moments(Registrar& r) {
  declare_corrected<false>(r, "var", "Tensor", 1)
      .summary("variance over dims; no dims means all")
      .out("var.correction_out");
  declare_moment_op<false>(r,
                           "prims.var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? "
                           "output_dtype=None) -> Tensor",
                           "reduction.var", 1)
      .summary("variance over dims; no dims means all")
      .samples({"f32[5,7]; dims=[1]", "f64[4,1,6]; dims=[0,2]", "f64[4,6]; dims=[0]; correction=0",
                "c64[3,5]; dims=[1]", "f64[5,3]; dims=null; correction=2"});
  declare_corrected<true>(r, "std", "Tensor", 1)
      .summary("standard deviation over dims; no dims means all")
      .out("std.correction_out");
  declare_corrected<false>(r, "var_mean", "(Tensor, Tensor)", 2)
      .summary("variance and mean over dims; no dims means all");
  declare_corrected<true>(r, "std_mean", "(Tensor, Tensor)", 2)
      .summary("standard deviation and mean over dims; no dims means all");
  for (const std::string name : {"var_mean", "std_mean"}) {
    r.variant(name +
                  ".correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                  "keepdim=False, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
              name + ".correction");
  }
}

}  // namespace reduction
