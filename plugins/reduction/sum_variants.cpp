// Sums of a function of each element: nansum, which counts NaN as 0, count_nonzero, and histc,
// which sums indicators of the bins. They are sums over the elements, so a sharded dim leaves
// P(sum), but no longer linear in an element, so partials of self do not pass.
//   count_nonzero(f32[4]), S(0): 2 0 | 3 1 counts 1 and 2; as a P(sum), 2 0 and -2 1 would count 1
//   and 2 too, where the sum 0 1 counts 1

#include <onedim/arithmetic.hpp>

#include <cmath>

#include "families.hpp"

namespace reduction {
namespace {

// Integers have no NaN: there nansum is sum.
void nansum_rules(const Call& call, RuleSink& rules) {
  if (category(call.input(0).dtype()) > 1) return;
  const bool single = reduced_count(call, reduced_dims(call)) == 1;
  add_passes(call, rules, [&](const Pass& pass) { return single || pass.is_linear(); });
}

void compute_nansum(const Call& call, const onedim_execution_t&) {
  const TensorView self = call.input(0), out = call.output();
  const std::vector<bool> reduced = reduced_dims(call);
  with_compute_type<float, double, int64_t>(self.dtype(), [&]<typename C>(C) {
    using Total = Accumulator<C>;
    const auto number = [](const C& x) { return x == x ? Total(x) : Total(0); };
    store_dense(fold<C>(self, reduced, Total(0), plus<Total>, number).data(), out);
  });
}

DType nansum_dtype(const Call& call) {
  const DType dtype = sum_dtype(call);
  require(!is_complex(call.input(0).dtype()) && !is_complex(dtype),
          "nansum takes no complex numbers");
  require(!is_bool(dtype), "nansum makes no bools");
  return dtype;
}

void declare_nansum(Registrar& r) {
  r.op("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
       "Tensor")
      .summary("sum over dims of the elements that are numbers; no dims means all")
      .reduction("sum", nansum_dtype)
      .rules(nansum_rules)
      .compute(kOrdered, compute_nansum)
      .cost(reduction_cost)
      .samples({"f32[5,7]:nonfinite; dim=[1]", "f64[4,1,2]:nonfinite; dim=[1,-1]",
                "f64[2,3]:nonfinite", "i64[5,3]; dim=[0]", "bool[4,5]; dim=[-1]; keepdim=true",
                "f64[4,1]:nonfinite; dim=[1]", "i32[5,1]; dim=[1]"})
      .out("nansum.out");
}

// One element counts as 0 or 1, which passes what its comparison with zero does.
void count_rules(const Call& call, RuleSink& rules) {
  if (reduced_count(call, reduced_dims(call)) != 1) return;
  const auto add = [&](std::string_view out, const Placement& in) {
    const Placement output = partial(out);
    rules.add(std::span(&output, 1), std::span(&in, 1));
  };
  add("product", replicate());
  for (const Pass& pass : truth_passes(call.input(0).dtype())) {
    add(pass.out, partial(pass.in));
    if (pass.out == "min") add("product", partial(pass.in));
  }
}

struct Count {
  int64_t value;
  explicit Count(int64_t count) : value(count) {}
  template <typename C>
  explicit Count(C x) : value(x != C(0)) {}
};

void compute_count(const Call& call, const onedim_execution_t&) {
  const TensorView self = call.input(0);
  const std::vector<bool> reduced = reduced_dims(call);
  with_compute_type<float, double, std::complex<float>, std::complex<double>>(
      category(self.dtype()) < 2 ? DType::kF64 : self.dtype(), [&]<typename C>(C) {
        std::vector<int64_t> counts;
        const auto add = [](Count a, Count b) { return Count(a.value + b.value); };
        for (const Count count : fold<C>(self, reduced, Count(int64_t{0}), add))
          counts.push_back(count.value);
        store_dense(counts.data(), call.output());
      });
}

OpBuilder& declare_count(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .reduction("sum", [](const Call&) { return DType::kI64; })
      .rules(count_rules)
      .compute(kReducible, compute_count)
      .cost(reduction_cost);
}

// The range of the bins; where none is given, it is that of all elements.
struct Bins {
  int64_t count;
  double low, high;

  explicit Bins(const Call& call)
      : count(call.attribute<int64_t>("bins")),
        low(call.attribute<double>("min")),
        high(call.attribute<double>("max")) {
    require(count > 0, "bins must be positive");
    require(std::isfinite(low) && std::isfinite(high), "min and max must be finite");
    require(low <= high, "max must not be less than min");
  }
  bool is_given() const { return low < high; }
  void fit(const std::vector<double>& values) {
    const auto ends = std::minmax_element(values.begin(), values.end());
    if (ends.first != values.end()) low = *ends.first, high = *ends.second;
    require(std::isfinite(low) && std::isfinite(high), "the range of self must be finite");
    if (low == high) low -= 1, high += 1;
  }
};

// The bin of x, in the arithmetic of self.
template <typename C>
int64_t bin_of(const Bins& bins, C x) {
  const C low = static_cast<C>(bins.low), high = static_cast<C>(bins.high);
  const auto bin = static_cast<int64_t>((x - low) * static_cast<C>(bins.count) / (high - low));
  return std::min(bin, bins.count - 1);
}

void compute_histogram(const Call& call, const onedim_execution_t&) {
  const TensorView self = call.input(0);
  Bins bins(call);
  const std::vector<double> values = load_dense<double>(self);
  if (!bins.is_given()) bins.fit(values);
  std::vector<double> counts(static_cast<size_t>(bins.count), 0);
  for (const double x : values) {
    if (!(x >= bins.low && x <= bins.high)) continue;
    const bool is_double = self.dtype() == DType::kF64;
    counts[is_double ? bin_of<double>(bins, x) : bin_of<float>(bins, static_cast<float>(x))] += 1;
  }
  store_dense(counts.data(), call.output());
}

// A rank knows the range of its own elements only, so without a given one no dim may be sharded.
void declare_histogram(Registrar& r) {
  r.op("histc(Tensor self, SymInt bins=100, Scalar min=0, Scalar max=0) -> Tensor")
      .summary("how many elements lie in each of `bins` bins from min to max")
      .infer([](const Call& call, OutputSink& outputs) {
        require(is_floating(call.input(0).dtype()), "self must be a float tensor");
        outputs.add(call.input(0).dtype(), {Bins(call).count});
      })
      .rules([](const Call& call, RuleSink& rules) {
        if (!Bins(call).is_given()) return;
        const std::vector<bool> all(static_cast<size_t>(call.input(0).ndim()), true);
        reduction_rules(call, rules, all, false, "sum");
      })
      .compute(dtype_mask<float, double>() & ~kF8DTypes, compute_histogram)
      .cost(reduction_cost)
      .samples({"f32[5,7]; bins=4; min=-2; max=2", "f64[7]; bins=5; min=0; max=4.5",
                "f64[4,1,3]; bins=3; min=-1; max=1", "f64[4,6]; bins=4",
                "f32[5]; bins=3; min=1; max=1", "bf16[6]; bins=2; min=-1; max=1"})
      .out("histc.out");
}

}  // namespace

void declare_sum_variants(Registrar& r) {
  declare_nansum(r);
  declare_count(r, "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor")
      .summary("how many elements differ from zero, over dims; no dims means all")
      .samples({"f32[5,7]; dim=[1]", "f64[4,1,6]; dim=[0,-1]", "i64[5,3]; dim=[0]",
                "bool[4,5]; dim=[1]", "c64[3,4]; dim=[]", "u8[5,1]; dim=[1]", "f32[4,1]; dim=[1]",
                "bool[5,1]; dim=[1]"})
      .out("count_nonzero.dim_IntList_out");
  declare_count(r, "count_nonzero(Tensor self, int? dim=None) -> Tensor")
      .summary("how many elements differ from zero, over one dim or all")
      .samples({"f32[5,7]; dim=1", "f64[4,1,6]", "i64[5,3]; dim=0", "bool[4,5]; dim=-1", "c64[3,4]",
                "f32[4,1]; dim=1"})
      .out("count_nonzero.out");
  declare_histogram(r);
}

}  // namespace reduction
