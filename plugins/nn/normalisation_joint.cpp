#include "normalisation_joint.hpp"

#include <cmath>
#include <limits>

namespace nn {
namespace {

constexpr double kNotGiven = -std::numeric_limits<double>::infinity();
enum Component : size_t { kX, kMean, kSpread, kShare, kWeight, kBias, kCount };

struct Moments {
  double mean = 0, spread = 0, share = 0;
};

Moments merge(const Moments& a, const Moments& b) {
  if (a.share == 0) return b;
  if (b.share == 0) return a;
  const double share = a.share + b.share, distance = b.mean - a.mean;
  return {a.mean + distance * (b.share / share),
          a.spread + b.spread + distance * distance * a.share * (b.share / share), share};
}

bool has_parameter(const Call& call, const Sets& sets, size_t which) {
  return which < sets.parameters.size() && call.has_tensor(sets.parameters[which]);
}

// `shape` with size 1 in all dims that the parameters do not have.
Shape parameter_shape(const Sets& sets, Shape shape) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (!sets.parameter[dim]) shape[dim] = 1;
  }
  return shape;
}

void add_state_shapes(const Call& call, OutputSink& states, const Sets& sets) {
  const Shape out = shape_of(call.output(0));
  const DType dtype = call.tensor("input").dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  states.add(dtype, out);
  for (int i = 0; i < 3; ++i) states.add(DType::kF64, statistics_shape(call, sets, out));
  for (size_t which = 0; which < 2; ++which) {
    const bool has = has_parameter(call, sets, which);
    const auto own = has ? call.tensor(sets.parameters[which]).dtype() : DType::kF32;
    states.add(own == DType::kF64 ? own : DType::kF32,
               has ? parameter_shape(sets, out) : Shape(out.size(), 1));
  }
}

// Fills a state with the values that have a place in it.
void spread(const std::vector<double>& own, const std::vector<int64_t>& to,
            const TensorView& state) {
  std::vector<double> values(static_cast<size_t>(state.element_count()), kNotGiven);
  for (size_t i = 0; i < own.size(); ++i) {
    if (to[i] >= 0) values[static_cast<size_t>(to[i])] = own[i];
  }
  store(values, state);
}

void store_parameter(const Call& call, const Sets& sets, size_t which, const TensorView& state) {
  if (!has_parameter(call, sets, which)) return store({which == 0 ? 1.0 : 0.0}, state);
  const char* name = sets.parameters[which];
  std::vector<std::vector<int64_t>> dims;
  Shape sizes;
  for (const int dim : parameter_dims(sets)) {
    const int own = static_cast<int>(dims.size());
    dims.push_back(places(call, {false, call.slot(name), own}, {true, 0, dim}));
    sizes.push_back(state.size(dim));
  }
  spread(load(call.tensor(name)), flat_places(dims, sizes), state);
}

void store_moments(const std::vector<double>& x, const std::vector<int64_t>& sets, double set_size,
                   double eps, Centre centre, States states) {
  const auto count = static_cast<size_t>(TensorView(&states[kMean]).element_count());
  std::vector<double> mean(count, 0), spread(count, 0), own(count, 0);
  for (size_t i = 0; i < x.size(); ++i) {
    require(sets[i] >= 0, "an element lies outside of all sets that the rank has");
    const auto set = static_cast<size_t>(sets[i]);
    own[set] += 1;
    if (centre == Centre::kMean) mean[set] += x[i];
  }
  for (size_t set = 0; set < count; ++set) mean[set] /= std::max(own[set], 1.0);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto set = static_cast<size_t>(sets[i]);
    spread[set] += (x[i] - mean[set]) * (x[i] - mean[set]);
  }
  for (size_t set = 0; set < count; ++set) {
    spread[set] = (spread[set] + eps * own[set]) / set_size;
    own[set] /= set_size;
  }
  store(mean, TensorView(&states[kMean]));
  store(spread, TensorView(&states[kSpread]));
  store(own, TensorView(&states[kShare]));
}

void store_state(const Call& call, States states, const Sets& sets) {
  const std::vector<double> x = load(call.tensor("input"));
  spread(x, input_places(call), TensorView(&states[kX]));
  store_moments(x, set_places(call, sets), sets.size(), sets.eps, sets.centre, states);
  for (size_t which = 0; which < 2; ++which)
    store_parameter(call, sets, which, TensorView(&states[kWeight + which]));
}

void combine(States into, States from) {
  std::vector<std::vector<double>> a, b;
  for (size_t i = 0; i < kCount; ++i) {
    a.push_back(load(TensorView(&into[i])));
    b.push_back(load(TensorView(&from[i])));
  }
  for (const size_t given : {kX, kWeight, kBias}) {
    for (size_t i = 0; i < a[given].size(); ++i) {
      double& value = a[given][i];
      if (value < b[given][i] || std::isnan(b[given][i])) value = b[given][i];
    }
  }
  for (size_t set = 0; set < a[kMean].size(); ++set) {
    const Moments merged = merge({a[kMean][set], a[kSpread][set], a[kShare][set]},
                                 {b[kMean][set], b[kSpread][set], b[kShare][set]});
    a[kMean][set] = merged.mean;
    a[kSpread][set] = merged.spread;
    a[kShare][set] = merged.share;
  }
  for (size_t i = 0; i < kCount; ++i) store(a[i], TensorView(&into[i]));
}

void finish(States states, States outputs) {
  std::vector<double> value[kCount];
  for (size_t i = 0; i < kCount; ++i) value[i] = load(TensorView(&states[i]));
  const TensorView x(&states[kX]);
  const auto set = coarse_places(x.shape(), TensorView(&states[kSpread]).shape());
  const auto weight = coarse_places(x.shape(), TensorView(&states[kWeight]).shape());
  const auto bias = coarse_places(x.shape(), TensorView(&states[kBias]).shape());
  std::vector<double>& rstd = value[kSpread];
  for (size_t i = 0; i < rstd.size(); ++i) rstd[i] = 1 / std::sqrt(rstd[i]);
  std::vector<double> out = value[kX];
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = (out[i] - value[kMean][set[i]]) * rstd[set[i]] * value[kWeight][weight[i]] +
             value[kBias][bias[i]];
  }
  require(TensorView(&outputs.back()).element_count() == static_cast<int64_t>(rstd.size()),
          "each set needs its statistics");
  store(out, TensorView(&outputs[0]));
  if (outputs.size() > 2) store(value[kMean], TensorView(&outputs[1]));
  store(rstd, TensorView(&outputs.back()));
}

}  // namespace

void declare_norm_kind(Registrar& r, std::string_view name, int outputs,
                       std::function<Sets(const Call&)> sets_of) {
  r.partial(name, {"x", "mean", "spread", "share", "weight", "bias"})
      .outputs(outputs)
      .state([sets_of](const Call& call, OutputSink& states) {
        add_state_shapes(call, states, sets_of(call));
      })
      .local(
          [sets_of](const Call& call, States states) { store_state(call, states, sets_of(call)); })
      .identity({kNotGiven, 0, 0, 0, kNotGiven, kNotGiven})
      .combine(combine)
      .finish(finish);
}

Shape norm_statistics_shape(const Call& call, int slot, const Shape& global, const Shape& own) {
  return has_joint(call) ? local_output_shape(call, slot, global) : own;
}

void accept_norm_cuts(const Call& call, const Sets& sets) {
  accept_input_cuts(call, sets);
  for (const char* name : sets.parameters) {
    int own = 0;
    for (const int dim : parameter_dims(sets)) {
      if (call.has_tensor(name))
        accept_covering(call, {false, call.slot(name), own}, {true, 0, dim});
      ++own;
    }
  }
}

}  // namespace nn
