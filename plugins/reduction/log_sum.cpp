// logsumexp over dims: log sum exp(x) = m + log sum exp(x - m), with m = max x. A sharded dim
// leaves the joint partial (m, s) of the ranks' own elements, s = sum exp(x - m), which merge to m
// = max(m1, m2), s = s1 exp(m1 - m) + s2 exp(m2 - m); the logarithm is taken once they are merged.
// Neither sums nor maxima of elements pass, as the ranks that have the largest x may differ.
//   logsumexp f64[4,6], dim 1: S(0) | S(0);  P(reduction.logsumexp#0) | S(1);  no P(max) | P(max)

#include "log_sum.hpp"

namespace reduction {
namespace {

template <typename T>
std::vector<LogSum<T>> load_log_sums(States states) {
  const std::vector<double> max = load_dense<double>(TensorView(&states[0]));
  const std::vector<T> sum = load_dense<T>(TensorView(&states[1]));
  std::vector<LogSum<T>> sums;
  for (size_t i = 0; i < max.size(); ++i) sums.push_back({max[i], sum[i]});
  return sums;
}

DType state_dtype(const States& states) { return TensorView(&states[1]).dtype(); }

// Calls use(sums) with the sums of the output's elements.
template <typename Use>
void reduce_log_sums(const Call& call, Use use) {
  with_log_sum_type(call.input(0).dtype(), [&]<typename T>(T) {
    use(fold<T>(call.input(0), reduced_dims(call), LogSum<T>(), merge<T>));
  });
}

}  // namespace

void declare_log_sum_kind(Registrar& r, std::string_view name,
                          std::function<void(const Call&, States)> local) {
  r.partial(name, {"max", "sumexp"})
      .outputs(1)
      .state([](const Call& call, OutputSink& states) {
        const DType out = call.output().dtype();
        const DType real = to_real(out) == DType::kF64 ? DType::kF64 : DType::kF32;
        states.add(real, shape_of(call.output()));
        states.add(is_complex(out) ? out : real, shape_of(call.output()));
      })
      .local(std::move(local))
      .identity({-std::numeric_limits<double>::infinity(), 0})
      .combine([](States into, States from) {
        with_log_sum_type(state_dtype(into), [&]<typename T>(T) {
          std::vector<LogSum<T>> sums = load_log_sums<T>(into);
          const std::vector<LogSum<T>> others = load_log_sums<T>(from);
          for (size_t i = 0; i < sums.size(); ++i) sums[i] = merge(sums[i], others[i]);
          store_log_sums(sums, into);
        });
      })
      .finish([](States states, States outputs) {
        with_log_sum_type(state_dtype(states), [&]<typename T>(T) {
          store_logs(load_log_sums<T>(states), TensorView(&outputs[0]));
        });
      });
}

void declare_log_sums(Registrar& r) {
  declare_log_sum_kind(r, "reduction.logsumexp", [](const Call& call, States states) {
    reduce_log_sums(call, [&](const auto& sums) { store_log_sums(sums, states); });
  });
  r.op("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")
      .reduction("reduction.logsumexp",
                 [](const Call& call) { return to_floating(call.input(0).dtype()); })
      .rules([](const Call& call, RuleSink& rules) {
        const bool single = reduced_count(call, reduced_dims(call)) == 1;
        add_passes(call, rules, [&](const Pass&) { return single; });
      })
      .summary("logarithm of the sum of exponentials over dims")
      .compute(kReducible,
               [](const Call& call, const onedim_execution_t&) {
                 reduce_log_sums(call, [&](const auto& sums) { store_logs(sums, call.output()); });
               })
      .cost(reduction_cost)
      // Complex sums stay right of the imaginary axis: on the negative reals the logarithm leaps.
      .samples({"f32[5,7]; dim=[1]", "f64[4,1,6]; dim=[0,-1]", "f64[4,1,6]; dim=[1]",
                "f32[4,6]; dim=[0]; keepdim=true", "i64[5,3]; dim=[0]", "bf16[5,4]; dim=[-1]",
                "c64[4,3]:unit; dim=[1]", "f64[7]; dim=[0]"})
      .out("logsumexp.out");
}

}  // namespace reduction
