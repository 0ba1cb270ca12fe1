// Several outputs, joint partials with hidden state, a partial kind of another pack, workspace. A
// range of parts is the smallest low and the largest high. log sum exp merges by (max, sum of exp),
// the best index by its value and index. A median depends on the whole line, so it takes no cut of
// it. A cube grows with x and is multiplicative.
//   custom.range f64[4,6], dim 1: S(0), S(0) | S(0);  P(min), P(max) | S(1).  custom.best:
//   P(reduction.argmax#0) | S(1).  custom.median: S(0) | S(0), no S(1).  custom.cube f64[4,6]:
//   P(product) | P(product)

#include <cmath>
#include <limits>

#include "families.hpp"

namespace custom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int dim_of(const Call& call) {
  require(call.tensor("self").ndim() > 0, "self needs at least one dim");
  return wrap_dim(call.attribute<int64_t>("dim"), call.tensor("self").ndim());
}

std::vector<bool> mask_of(const Call& call) {
  std::vector<bool> mask(static_cast<size_t>(call.tensor("self").ndim()), false);
  mask[static_cast<size_t>(dim_of(call))] = true;
  return mask;
}

Shape reduced(const Call& call) {
  return reduced_shape(call.tensor("self").shape(), mask_of(call), false);
}

// Calls f(row, begin, step, count) for every vector along `dim`: values[begin + i * step].
template <typename F>
void for_each_vector(const TensorView& self, int dim, F&& f) {
  int64_t inner = 1, outer = 1;
  for (int i = 0; i < self.ndim(); ++i) (i < dim ? outer : inner) *= i == dim ? 1 : self.size(i);
  const int64_t count = self.size(dim);
  for (int64_t row = 0; row < outer * inner; ++row) {
    f(row, row / inner * count * inner + row % inner, inner, count);
  }
}

// Two outputs with different partials in one rule.
void declare_range(Registrar& r) {
  r.op("custom.range(Tensor self, int dim) -> (Tensor low, Tensor high)")
      .summary("smallest and largest element along one dim")
      .position_aware()  // to tell an empty shard from an empty tensor
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        const int dim = dim_of(call);
        require(call.global_size(false, 0, dim) > 0, "the dim is empty");
        outputs.add(self.dtype(), reduced(call));
        outputs.add(self.dtype(), reduced(call));
      })
      .rules([](const Call& call, RuleSink& rules) {
        reduction_rules(call, rules, mask_of(call), false, "");
        const Placement outputs[] = {partial("min"), partial("max")};
        const Placement sharded = any_shard(dim_of(call));
        rules.add(outputs, std::span(&sharded, 1));
        const bool single = call.tensor("self").size(dim_of(call)) == 1;
        // The maximum of a P(max) tensor is a P(max); its minimum is not a partial of anything,
        // unless the dim has one element only.
        for (std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
          if (single) rules.add_named(partial(kind), {{"self", partial(kind)}});
        }
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView self = call.tensor("self");
                 const std::vector<double> values = load_dense<double>(self);
                 std::vector<double> low(static_cast<size_t>(call.output(0).element_count()),
                                         kInfinity);
                 std::vector<double> high(low.size(), -kInfinity);
                 for_each_vector(self, dim_of(call),
                                 [&](int64_t row, int64_t begin, int64_t step, int64_t count) {
                                   for (int64_t i = 0; i < count; ++i) {
                                     low[row] = std::min(low[row], values[begin + i * step]);
                                     high[row] = std::max(high[row], values[begin + i * step]);
                                   }
                                 });
                 store_dense(low.data(), call.output(0));
                 store_dense(high.data(), call.output(1));
               })
      .samples({"f64[5,7]; dim=0", "f64[4,6]; dim=-1", "f32[3,1,4]; dim=2", "f64[7]; dim=0",
                "f64[4,1]; dim=1"});
}

// (max m, sum s of exp(x - m)): hidden state of a log-sum-exp over a sharded dim.
struct MaxSum {
  double max = -kInfinity;
  double sum = 0;
};

MaxSum merge(const MaxSum& a, const MaxSum& b) {
  const double top = std::max(a.max, b.max);
  if (top == -kInfinity) return {};
  return {top, a.sum * std::exp(a.max - top) + b.sum * std::exp(b.max - top)};
}

std::vector<MaxSum> row_states(const Call& call) {
  const TensorView self = call.tensor("self");
  const std::vector<double> values = load_dense<double>(self);
  int64_t rows = 1;
  for (int64_t size : reduced(call)) rows *= size;
  std::vector<MaxSum> states(static_cast<size_t>(rows));
  for_each_vector(self, dim_of(call), [&](int64_t row, int64_t begin, int64_t step, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      states[row] = merge(states[row], {values[begin + i * step], 1});
  });
  return states;
}

std::vector<MaxSum> load_states(States states) {
  const std::vector<double> max = load_dense<double>(TensorView(&states[0]));
  const std::vector<double> sum = load_dense<double>(TensorView(&states[1]));
  std::vector<MaxSum> rows(max.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = {max[i], sum[i]};
  return rows;
}

void store_states(const std::vector<MaxSum>& rows, States states) {
  std::vector<double> max(rows.size()), sum(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    max[i] = rows[i].max;
    sum[i] = rows[i].sum;
  }
  store_dense(max.data(), TensorView(&states[0]));
  store_dense(sum.data(), TensorView(&states[1]));
}

void store_logarithms(const std::vector<MaxSum>& rows, const TensorView& out) {
  std::vector<double> values(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) values[i] = rows[i].max + std::log(rows[i].sum);
  store_dense(values.data(), out);
}

void declare_logsumexp(Registrar& r) {
  r.partial("custom.max_sumexp", {"max", "sumexp"})
      .outputs(1)
      .state([](const Call& call, OutputSink& states) {
        states.add(DType::kF64, reduced(call));
        states.add(DType::kF64, reduced(call));
      })
      .local([](const Call& call, States states) { store_states(row_states(call), states); })
      .identity({-kInfinity, 0})
      .combine([](States into, States from) {
        std::vector<MaxSum> a = load_states(into);
        const std::vector<MaxSum> b = load_states(from);
        for (size_t i = 0; i < a.size(); ++i) a[i] = merge(a[i], b[i]);
        store_states(a, into);
      })
      .finish([](States states, States outputs) {
        store_logarithms(load_states(states), TensorView(&outputs[0]));
      });
  r.op("custom.logsumexp(Tensor self, int dim) -> Tensor")
      .summary("log of the sum of exp along one dim; sharded there, ranks merge (max, sum of exp)")
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(call.tensor("self").dtype(), reduced(call));
      })
      .rules([](const Call& call, RuleSink& rules) {
        const int dim = dim_of(call);
        reduction_rules(call, rules, mask_of(call), false, "");
        rules.add_named(partial("custom.max_sumexp"), {{"self", any_shard(dim)}});
        if (call.tensor("self").size(dim) != 1) return;
        for (std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
          rules.add_named(partial(kind), {{"self", partial(kind)}});
        }
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 store_logarithms(row_states(call), call.output());
               })
      .samples({"f64[5,7]; dim=0", "f64[4,6]; dim=-1", "f32[3,2,4]; dim=1", "f64[7]; dim=0",
                "f64[4,1]; dim=1"});
}

// Its sharded form is the (value, index) partial that the reduction pack declares.
void declare_first_best(Registrar& r) {
  r.op("custom.best(Tensor self, int dim, bool keepdim=False) -> Tensor")
      .summary("index of the largest element along one dim, the first of equals")
      .position_aware()  // to tell an empty shard from an empty tensor
      .infer([](const Call& call, OutputSink& outputs) {
        require(call.global_size(false, 0, dim_of(call)) > 0, "the dim is empty");
        const bool keepdim = call.attribute<bool>("keepdim");
        outputs.add(DType::kI64,
                    reduced_shape(call.tensor("self").shape(), mask_of(call), keepdim));
      })
      .rules([](const Call& call, RuleSink& rules) {
        reduction_rules(call, rules, mask_of(call), call.attribute<bool>("keepdim"),
                        "reduction.argmax");
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const TensorView self = call.tensor("self");
                 const std::vector<double> values = load_dense<double>(self);
                 std::vector<int64_t> best(static_cast<size_t>(call.output().element_count()), 0);
                 for_each_vector(
                     self, dim_of(call),
                     [&](int64_t row, int64_t begin, int64_t step, int64_t count) {
                       for (int64_t i = 1; i < count; ++i) {
                         if (values[begin + i * step] > values[begin + best[row] * step])
                           best[row] = i;
                       }
                     });
                 store_dense(best.data(), call.output());
               })
      .samples({"f64[5,7]; dim=0", "f64[4,6]; dim=-1", "f32[3,2,4]; dim=1; keepdim=true",
                "f64[7]; dim=0", "f32[6,3]; dim=0; keepdim=true"});
}

// The kernel sorts a copy of each row in the workspace that it asked for.
void declare_median(Registrar& r) {
  r.op("custom.median(Tensor self, int dim) -> Tensor")
      .summary("lower median along one dim")
      .infer([](const Call& call, OutputSink& outputs) {
        require(call.tensor("self").size(dim_of(call)) > 0, "the dim is empty");
        outputs.add(call.tensor("self").dtype(), reduced(call));
      })
      .rules([](const Call& call, RuleSink& rules) {
        reduction_rules(call, rules, mask_of(call), false, "");
        if (call.tensor("self").size(dim_of(call)) != 1) return;
        for (std::string_view kind : {"sum", "avg", "max", "min", "product"}) {
          rules.add_named(partial(kind), {{"self", partial(kind)}});
        }
      })
      .workspace([](const Call& call) {
        return static_cast<uint64_t>(call.tensor("self").size(dim_of(call))) * sizeof(double);
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t& execution) {
                 const TensorView self = call.tensor("self");
                 const std::vector<double> values = load_dense<double>(self);
                 std::vector<double> medians(static_cast<size_t>(call.output().element_count()), 0);
                 double* row_values = static_cast<double*>(execution.workspace);
                 for_each_vector(self, dim_of(call),
                                 [&](int64_t row, int64_t begin, int64_t step, int64_t count) {
                                   if (count == 0) return;
                                   for (int64_t i = 0; i < count; ++i)
                                     row_values[i] = values[begin + i * step];
                                   std::nth_element(row_values, row_values + (count - 1) / 2,
                                                    row_values + count);
                                   medians[row] = row_values[(count - 1) / 2];
                                 });
                 store_dense(medians.data(), call.output());
               })
      .samples({"f64[5,7]; dim=0", "f64[4,6]; dim=-1", "f32[3,5,2]; dim=1", "f64[9]; dim=0",
                "f64[4,1]; dim=1"});
}

// Declared here without a kernel; the pack custom_kernels brings it.
void declare_cube(Registrar& r) {
  r.op("custom.cube(Tensor self) -> Tensor")
      .summary("self * self * self; its kernel comes from another pack")
      .pointwise()
      .rules({"P(max) | P(max)", "P(min) | P(min)", "P(product) | P(product)"})
      .samples({"f64[5,7]", "f32[4,1]", "f64[3,2,4]", "f32[6]", "f64[]"});
}

}  // namespace

void declare_statistics(Registrar& r) {
  declare_range(r);
  declare_logsumexp(r);
  declare_first_best(r);
  declare_median(r);
  declare_cube(r);
}

}  // namespace custom
