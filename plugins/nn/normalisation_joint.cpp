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

// `shape` with size 1 in all dims but those in `kept`.
Shape keep(Shape shape, const std::vector<bool>& kept) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (!kept[dim]) shape[dim] = 1;
  }
  return shape;
}

bool has_parameter(const Call& call, const Sets& sets, size_t which) {
  return which < sets.parameters.size() && call.has_tensor(sets.parameters[which]);
}

void add_states(const Call& call, OutputSink& states, const Sets& sets) {
  const TensorView out = call.output(0);
  const auto dims = static_cast<size_t>(out.ndim());
  std::vector<bool> others = sets.summed;
  others.flip();
  const DType dtype = call.tensor("input").dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  states.add(dtype, shape_of(out));
  for (int i = 0; i < 3; ++i) states.add(DType::kF64, keep(shape_of(out), others));
  for (size_t which = 0; which < 2; ++which) {
    const bool has = has_parameter(call, sets, which);
    const auto own = has ? call.tensor(sets.parameters[which]).dtype() : DType::kF32;
    states.add(own == DType::kF64 ? own : DType::kF32,
               keep(shape_of(out), has ? sets.parameter : std::vector<bool>(dims, false)));
  }
}

// Fills a state with this rank's elements of an input, whose dims are in order those in `dims` of
// the state; at their global indices in the dims that are `whole`.
void place(const Call& call, int slot, const std::vector<int>& dims, const std::vector<bool>& whole,
           const TensorView& state) {
  const TensorView input = call.input(slot);
  std::vector<size_t> to = {0};
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto dim = static_cast<size_t>(dims[i]);
    const int64_t step = product_of(state.shape().subspan(dim + 1));
    std::vector<size_t> next;
    for (const size_t base : to) {
      for (int64_t at = 0; at < input.size(static_cast<int>(i)); ++at) {
        const int64_t there =
            whole[dim] ? call.global_index(false, slot, static_cast<int>(i), at) : at;
        next.push_back(base + static_cast<size_t>(there * step));
      }
    }
    to = std::move(next);
  }
  const std::vector<double> own = load(input);
  std::vector<double> values(static_cast<size_t>(state.element_count()), kNotGiven);
  for (size_t i = 0; i < own.size(); ++i) values[to[i]] = own[i];
  store(values, state);
}

std::vector<int> dims_in(const std::vector<bool>& set) {
  std::vector<int> dims;
  for (size_t dim = 0; dim < set.size(); ++dim) {
    if (set[dim]) dims.push_back(static_cast<int>(dim));
  }
  return dims;
}

void store_moments(const Call& call, States states, const Sets& sets) {
  const int slot = call.slot("input");
  double size = 1;
  for (const int dim : dims_in(sets.summed))
    size *= static_cast<double>(call.global_size(false, slot, dim));
  const std::vector<double> x = load(call.tensor("input"));
  Statistics own = statistics_of(x, sets.grouping.set, sets.centre);
  const auto count = static_cast<double>(own.mean.size());
  const double share = x.empty() ? 0 : static_cast<double>(x.size()) / count / size;
  for (size_t set = 0; set < own.mean.size(); ++set) {
    if (share == 0) own.mean[set] = own.variance[set] = 0;
    own.variance[set] = (own.variance[set] + sets.eps) * share;
  }
  store(own.mean, TensorView(&states[kMean]));
  store(own.variance, TensorView(&states[kSpread]));
  store(std::vector<double>(own.mean.size(), share), TensorView(&states[kShare]));
}

void store_state(const Call& call, States states, const Sets& sets) {
  const std::vector<bool> all(sets.summed.size(), true);
  place(call, call.slot("input"), dims_in(all), sets.summed, TensorView(&states[kX]));
  store_moments(call, states, sets);
  for (size_t which = 0; which < 2; ++which) {
    const TensorView state(&states[kWeight + which]);
    if (has_parameter(call, sets, which))
      place(call, call.slot(sets.parameters[which]), dims_in(sets.parameter), sets.summed, state);
    else
      store({which == 0 ? 1.0 : 0.0}, state);
  }
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
  const int64_t sets = TensorView(&states[kSpread]).element_count();
  for (size_t i = 1; i < outputs.size(); ++i)
    require(TensorView(&outputs[i]).element_count() == sets, "each set needs its statistics");
  std::array<Operand, 5> in;
  const size_t read[] = {kX, kMean, kSpread, kWeight, kBias};
  for (size_t i = 0; i < in.size(); ++i) in[i].tensor = TensorView(&states[read[i]]);
  map_elements<double>(TensorView(&outputs[0]), in,
                       [](double x, double mean, double spread, double weight, double bias) {
                         return (x - mean) / std::sqrt(spread) * weight + bias;
                       });
  std::vector<double> rstd = load(TensorView(&states[kSpread]));
  for (double& value : rstd) value = 1 / std::sqrt(value);
  if (outputs.size() > 2) store(load(TensorView(&states[kMean])), TensorView(&outputs[1]));
  store(rstd, TensorView(&outputs.back()));
}

}  // namespace

void declare_norm_kind(Registrar& r, std::string_view name, int outputs,
                       std::function<Sets(const Call&)> sets_of) {
  r.partial(name, {"x", "mean", "spread", "share", "weight", "bias"})
      .outputs(outputs)
      .state([sets_of](const Call& call, OutputSink& states) {
        add_states(call, states, sets_of(call));
      })
      .local(
          [sets_of](const Call& call, States states) { store_state(call, states, sets_of(call)); })
      .identity({kNotGiven, 0, 0, 0, kNotGiven, kNotGiven})
      .combine(combine)
      .finish(finish);
}

Shape whole_sets_shape(const Call& call, const std::vector<bool>& summed) {
  Shape shape = shape_of(call.tensor("input"));
  for (const int dim : dims_in(summed))
    shape[static_cast<size_t>(dim)] = call.global_size(false, call.slot("input"), dim);
  return shape;
}

void require_whole_sets(const Call& call) {
  require(call.tensor("input").element_count() == call.output(0).element_count(),
          "a part of a set cannot be normalised by itself, its joint partial can");
}

}  // namespace nn
