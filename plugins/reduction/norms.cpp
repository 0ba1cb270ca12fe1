// Vector norms over dims: (sum |x|^p)^(1/p), the largest |x| for p = inf, the smallest for -inf,
// how many differ from zero for 0. Norms of parts merge to the norm of the whole: they add for p =
// 0 and 1, p = inf and -inf keep the larger and smaller, p = 2 is the hypotenuse, any other p is
// the norm of the norms. None is linear or monotone in an element, so partials of self do not pass.
//   p = 2, f64[3], P(reduction.norm2#0) | S(0): |3 4| | |12| = 5 | 12 merge to 13; P(sum) of 3 and
//   -3 has norm 0, not 3 + 3

#include <cmath>
#include <limits>

#include "extremum.hpp"

namespace reduction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// How magnitudes fold to a norm of order p.
struct Norm {
  double p;

  bool is_power() const { return p != 0 && std::isfinite(p); }
  double identity() const { return p == -kInfinity ? kInfinity : 0; }
  // What one element brings into the fold.
  double term(double magnitude) const {
    if (p == 0) return magnitude != 0;
    if (p == 1 || !is_power()) return magnitude;
    return p == 2 ? magnitude * magnitude : std::pow(magnitude, p);
  }
  double join(double a, double b) const {
    if (p == kInfinity) return larger(a, b);
    if (p == -kInfinity) return smaller(a, b);
    return a + b;
  }
  double finish(double total) const {
    if (p == 1 || !is_power()) return total;
    return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
  }
  // The partial that a sharded dim leaves.
  std::string_view kind() const {
    if (p == 0 || p == 1) return "sum";
    if (!is_power()) return p > 0 ? "max" : "min";
    return p == 2 ? "reduction.norm2" : "reduction.norm";
  }
};

// The order is called `ord` or `p`; 2 if it is not given.
Norm norm_of(const Call& call) {
  const char* name = call.find_attribute("ord") != nullptr ? "ord" : "p";
  return {call.has_attribute(name) ? call.attribute<double>(name) : 2};
}

// One an output element, before the root where `is_finished` does not ask for it.
std::vector<double> norms_of(const Call& call, bool is_finished) {
  const Norm norm = norm_of(call);
  const auto join = [norm](double a, double b) { return norm.join(a, b); };
  const auto run = [&]<typename C>(C) {
    return fold<C>(call.input(0), reduced_dims(call), norm.identity(), join,
                   [norm](const C& x) { return norm.term(std::abs(x)); });
  };
  const bool complex = is_complex(call.input(0).dtype());
  std::vector<double> norms = complex ? run(std::complex<double>()) : run(0.0);
  for (double& value : norms) value = is_finished ? norm.finish(value) : value;
  return norms;
}

// p = 2: the norm itself is the state.
void declare_hypotenuse_kind(Registrar& r) {
  r.partial("reduction.norm2", {"norm"})
      .identity(std::vector<double>{0})
      .combine([](States into, States from) {
        std::vector<double> norms = load_dense<double>(TensorView(&into[0]));
        const std::vector<double> others = load_dense<double>(TensorView(&from[0]));
        for (size_t i = 0; i < norms.size(); ++i) norms[i] = std::hypot(norms[i], others[i]);
        store_dense(norms.data(), TensorView(&into[0]));
      });
}

// Norm of two norms, scaled so that no power leaves the range.
double merged_norm(double a, double b, double p) {
  const double unit = p > 0 ? std::max(a, b) : std::min(a, b);
  if (unit == 0 || !std::isfinite(unit)) return unit;
  return unit * std::pow(std::pow(a / unit, p) + std::pow(b / unit, p), 1 / p);
}

// Any other p stands beside the norm, since a merge knows no attributes; 0 where nothing is held.
void declare_power_kind(Registrar& r) {
  r.partial("reduction.norm", {"norm", "order"})
      .outputs(1)
      .state([](const Call& call, OutputSink& states) {
        states.add(call.output().dtype(), shape_of(call.output()));
        states.add(DType::kF64, shape_of(call.output()));
      })
      .local([](const Call& call, States states) {
        const std::vector<double> norms = norms_of(call, true);
        store_dense(norms.data(), TensorView(&states[0]));
        store_dense(std::vector<double>(norms.size(), norm_of(call).p).data(),
                    TensorView(&states[1]));
      })
      .identity({0, 0})
      .combine([](States into, States from) {
        std::vector<double> norms = load_dense<double>(TensorView(&into[0]));
        std::vector<double> orders = load_dense<double>(TensorView(&into[1]));
        const std::vector<double> others = load_dense<double>(TensorView(&from[0]));
        const std::vector<double> other_orders = load_dense<double>(TensorView(&from[1]));
        for (size_t i = 0; i < norms.size(); ++i) {
          if (other_orders[i] == 0) continue;
          const bool is_first = orders[i] == 0;
          norms[i] = is_first ? others[i] : merged_norm(norms[i], others[i], orders[i]);
          orders[i] = other_orders[i];
        }
        store_dense(norms.data(), TensorView(&into[0]));
        store_dense(orders.data(), TensorView(&into[1]));
      })
      .finish([](States states, States outputs) {
        store_dense(load_dense<double>(TensorView(&states[0])).data(), TensorView(&outputs[0]));
      });
}

DType norm_dtype(const Call& call) {
  const DType self = call.input(0).dtype();
  require(category(self) >= 2, "self must be a float or complex tensor");
  if (!call.has_attribute("dtype")) return to_real(self);
  const DType dtype = call.attribute<DType>("dtype");
  require(is_complex(dtype) == is_complex(self) && category(dtype) >= 2,
          "dtype must be a float one, or complex where self is");
  require(promote(self, dtype) == dtype, "dtype must not be narrower than self's");
  return to_real(dtype);
}

// The norm of one element is its magnitude, which is multiplicative, and so are powers of it; of
// order 0 it is the question whether it differs from zero.
void single_passes(const Call& call, RuleSink& rules) {
  if (reduced_count(call, reduced_dims(call)) != 1) return;
  const Placement out = partial("product"), in = partial("product"), whole = replicate();
  rules.add(std::span(&out, 1), std::span(&in, 1));
  if (norm_of(call).p != 0) return;
  const Placement least = partial("min");
  rules.add(std::span(&least, 1), std::span(&in, 1));
  rules.add(std::span(&out, 1), std::span(&whole, 1));
}

void require_norm_elements(const Call& call) {
  const bool needs_one = std::isinf(norm_of(call).p) || norm_of(call).p < 0;
  if (needs_one) require_elements(call, reduced_dims(call));
}

OpBuilder& declare_norm(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .position_aware()  // to tell an empty shard from an empty tensor
      .infer([](const Call& call, OutputSink& outputs) {
        outputs.add(norm_dtype(call),
                    reduced_shape(call.input(0).shape(), reduced_dims(call), keeps_dims(call)));
      })
      .rules([](const Call& call, RuleSink& rules) {
        reduction_rules(call, rules, reduced_dims(call), keeps_dims(call), norm_of(call).kind());
      })
      .rules(single_passes)
      .compute(kReducible,
               [](const Call& call, const onedim_execution_t&) {
                 require_norm_elements(call);
                 store_dense(norms_of(call, true).data(), call.output());
               })
      .cost(reduction_cost);
}

// Without the root: sums of powers, which add.
void declare_power_sum(Registrar& r) {
  r.op("linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
       "ScalarType? dtype=None) -> Tensor")
      .summary("sum of |x|^ord over dims; no dims means all")
      .reduction("sum",
                 [](const Call& call) {
                   require(std::isfinite(norm_of(call).p), "ord must be finite");
                   return norm_dtype(call);
                 })
      .rules(single_passes)
      .compute(kReducible,
               [](const Call& call, const onedim_execution_t&) {
                 store_dense(norms_of(call, false).data(), call.output());
               })
      .cost(reduction_cost)
      .samples({"f32[5,7]", "f64[4,1,6]; ord=3; dim=[0]", "f64[4,6]; ord=1; dim=[-1]; keepdim=true",
                "f64[5,3]; ord=0; dim=[0]", "c64[4,3]; dim=[1]", "f64[4,1]; dim=[1]",
                "f64[5]; ord=3", "c64[3]", "bf16[4]; dtype=f32", "f64[3,2]; ord=0"})
      .out("linalg__powsum.out")
      .over_lists(
          "_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> "
          "Tensor[]",
          OpBuilder::ListForms::kNotInPlace);
}

}  // namespace

void declare_norms(Registrar& r) {
  declare_hypotenuse_kind(r);
  declare_power_kind(r);
  declare_norm(
      r,
      "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, "
      "*, ScalarType? dtype=None) -> Tensor")
      .summary("norm of order `ord` over dims; no dims means all")
      .samples({"f32[5,7]; dim=[1]", "f64[4,1,6]; ord=inf; dim=[0,-1]",
                "f64[4,6]; ord=-inf; dim=[0]", "f64[5,3]; ord=1; dim=[1]; keepdim=true",
                "f64[5,3]; ord=0; dim=[0]", "f64[4,6]; ord=3; dim=[1]",
                "f64[5,4]:nonzero; ord=-1.5; dim=[0]", "c64[4,3]; dim=[1]", "f64[4,1]; dim=[1]",
                "f64[4,1]; ord=0; dim=[1]", "bf16[6,3]; dim=[0]; dtype=f32", "f64[5,3]",
                "f32[6]; ord=1", "f64[4]; ord=inf", "c64[3,2]; ord=3", "f64[2,3]; ord=0"})
      .out("linalg_vector_norm.out")
      .over_lists(
          "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> "
          "Tensor[]",
          OpBuilder::ListForms::kNotInPlace);
  declare_norm(
      r, "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor")
      .summary("norm of order p over dims")
      .samples({"f32[5,7]; p=2; dim=[1]", "f64[4,1,6]; p=null; dim=[0,-1]",
                "f64[4,6]; p=inf; dim=[0]", "f64[5,3]; p=1; dim=[1]; keepdim=true",
                "c64[4,3]; p=3; dim=[0]"})
      .out("norm.out");
  declare_norm(r,
               "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, "
               "ScalarType dtype) -> Tensor")
      .summary("norm of order p over dims, in another dtype")
      .samples({"f32[5,7]; p=2; dim=[1]; keepdim=false; dtype=f64",
                "bf16[4,1,6]; p=null; dim=[0]; keepdim=true; dtype=f32",
                "f32[4,6]; p=inf; dim=[0]; keepdim=false; dtype=f32",
                "f16[5,3]; p=1; dim=[1]; keepdim=true; dtype=f32",
                "f64[5]; p=3; dim=[0]; keepdim=false; dtype=f64"})
      .out("norm.dtype_out");
  declare_norm(r, "norm.Scalar(Tensor self, Scalar p=2) -> Tensor")
      .summary("norm of order p of all elements")
      .samples({"f32[5,7]", "f64[4,1,3]; p=inf", "f64[6]; p=1", "c64[4,3]; p=3", "f64[1,1]"})
      .out("norm.Scalar_out");
  declare_power_sum(r);
}

}  // namespace reduction
