#include "normalisation_gradient.hpp"

namespace nn {
namespace {

enum Component : size_t { kDirect, kZ, kSum, kProduct, kCount };

void add_state_shapes(const Call& call, OutputSink& states, const Sets& sets) {
  const Shape out = shape_of(call.output(0));
  const DType dtype = call.tensor("input").dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  for (int i = 0; i < 2; ++i) states.add(dtype, out);
  for (int i = 0; i < 2; ++i) states.add(DType::kF64, statistics_shape(call, sets, out));
}

void store_state(const Call& call, States states, const Sets& sets, const GradientParts& parts) {
  const std::vector<int64_t> places = input_places(call), set_of = set_places(call, sets);
  std::vector<double> value[kCount];
  for (size_t i = 0; i < kCount; ++i)
    value[i].assign(static_cast<size_t>(TensorView(&states[i]).element_count()), 0);
  for (size_t i = 0; i < parts.x.size(); ++i) {
    require(places[i] >= 0 && set_of[i] >= 0, "an element lies outside of what the rank has");
    const auto at = static_cast<size_t>(places[i]), set = static_cast<size_t>(set_of[i]);
    const size_t statistic = parts.grouping.set(i);
    const double rstd = parts.rstd[statistic];
    const double weight = parts.weight.empty() ? 1 : parts.weight[parts.grouping.parameter(i)];
    const double direct = parts.grad[i] * weight * rstd;
    const double z = (parts.x[i] - parts.mean[statistic]) * rstd;
    value[kDirect][at] = direct;
    value[kZ][at] = z;
    if (parts.centre == Centre::kMean) value[kSum][set] += direct / sets.size();
    value[kProduct][set] += direct * z / sets.size();
  }
  for (size_t i = 0; i < kCount; ++i) store(value[i], TensorView(&states[i]));
}

void finish(States states, States outputs) {
  std::vector<double> value[kCount];
  for (size_t i = 0; i < kCount; ++i) value[i] = load(TensorView(&states[i]));
  const auto set =
      coarse_places(TensorView(&states[kDirect]).shape(), TensorView(&states[kSum]).shape());
  std::vector<double>& gradient = value[kDirect];
  for (size_t i = 0; i < gradient.size(); ++i)
    gradient[i] -= value[kSum][set[i]] + value[kZ][i] * value[kProduct][set[i]];
  store(gradient, TensorView(&outputs[0]));
}

}  // namespace

void declare_norm_gradient_kind(Registrar& r, std::string_view name,
                                std::function<Sets(const Call&)> sets_of,
                                std::function<GradientParts(const Call&)> parts_of) {
  r.partial(name, {"direct", "z", "sum", "product"})
      .outputs(1)
      .state([sets_of](const Call& call, OutputSink& states) {
        add_state_shapes(call, states, sets_of(call));
      })
      .local([sets_of, parts_of](const Call& call, States states) {
        store_state(call, states, sets_of(call), parts_of(call));
      })
      .identity({0, 0, 0, 0})
      .combine(add_states)
      .finish(finish);
}

}  // namespace nn
