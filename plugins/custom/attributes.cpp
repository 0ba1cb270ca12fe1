// Attributes of every type, and what forms of one op share. A term scale * x^power + shift without
// a shift is linear for power 1; a shift is added once a rank, so only means, maxima and minima
// pass it; clipping keeps the order alone. Products by a factor are linear in each side alone.
//   custom.term f64[4,6], scale 2: P(sum) | P(sum);  shift 1: P(avg) | P(avg), no P(sum) | P(sum);
//   mode clip: P(max) | P(max).  custom.scale f64[4,6] by -2: P(max) | P(min)

#include <cmath>

#include "families.hpp"

namespace custom {
namespace {

// y = scale * x^power + shift, then summed with weights over nothing: an elementwise polynomial in
// one term.
struct Term {
  double scale = 1;
  std::complex<double> shift;
  int64_t power = 1;
  bool clip = false;
};

Term term_of(const Call& call) {
  Term term;
  const auto weights = call.attribute<std::optional<std::vector<double>>>("weights");
  term.scale = call.attribute<double>("scale") * (call.attribute<bool>("negate") ? -1 : 1);
  for (double weight : weights.value_or(std::vector<double>{})) term.scale *= weight;
  term.shift = call.attribute<std::complex<double>>("shift");
  term.power = call.attribute<int64_t>("power");
  const auto mode = call.attribute<std::string_view>("mode");
  if (mode != "none" && mode != "clip") {
    fail("mode is \"" + std::string(mode) +
         "\", expected \"none\" or \"clip\" (negative values become 0)");
  }
  term.clip = mode == "clip";
  require(term.power == 1 || term.power == 2, "power must be 1 or 2");
  return term;
}

DType result_dtype(const Call& call) {
  return call.attribute<std::optional<DType>>("dtype").value_or(call.tensor("self").dtype());
}

void term_rules(const Call& call, RuleSink& rules) {
  pointwise_rules(call, rules);
  const Term term = term_of(call);
  const bool shifted = term.shift != 0.0;
  const auto pass = [&](std::string_view to, std::string_view from) {
    rules.add_named(partial(to), {{"self", partial(from)}});
  };
  if (term.scale == 0) {
    for (std::string_view from : {"sum", "avg", "max", "min", "product"}) {
      rules.add_named(replicate(), {{"self", partial(from)}});
      if (!shifted) {
        pass("sum", from);
        pass("product", from);
      }
    }
    return;
  }
  const double sign = term.scale;
  if (term.power == 1) {
    if (!term.clip) pass("avg", "avg");
    if (!term.clip && !shifted) pass("sum", "sum");
    pass("max", sign > 0 ? "max" : "min");
    pass("min", sign > 0 ? "min" : "max");
  }
  const bool unit = !shifted && term.scale == 1;
  if (unit && !term.clip) pass("product", "product");
}

template <typename C>
C apply(const Term& term, C x) {
  C y = x;
  if (term.power == 2) y *= x;
  if constexpr (std::is_floating_point_v<C>) {
    y = static_cast<C>(term.scale) * y + static_cast<C>(term.shift.real());
    return term.clip && y < 0 ? C(0) : y;
  } else {
    return C(term.scale) * y + C(term.shift);
  }
}

void declare_term(Registrar& r) {
  r.op("custom.term(Tensor self, *, bool negate=False, int power=1, float scale=1.0, complex "
       "shift=0, "
       "str mode='none', ScalarType? dtype=None, float[]? weights=None) -> Tensor")
      .summary(
          "scale * self^power + shift; clip makes negative values 0; weights multiply the scale")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        const Term term = term_of(call);
        const bool is_real = !is_complex(self.dtype()) && !is_complex(result_dtype(call));
        require(
            is_real || (is_complex(self.dtype()) && is_complex(result_dtype(call)) && !term.clip),
            "self and dtype must both be real, or both complex and mode none");
        require(is_complex(self.dtype()) || term.shift.imag() == 0,
                "a complex shift needs a complex tensor");
        require(category(self.dtype()) >= 2 && category(result_dtype(call)) >= 2,
                "self and dtype must be floating or complex");
        outputs.add(result_dtype(call), shape_of(self));
      })
      .rules(term_rules)
      .compute(dtype_mask<float, double, std::complex<float>, std::complex<double>>(),
               [](const Call& call, const onedim_execution_t&) {
                 const Term term = term_of(call);
                 const std::array in = {operand(call, "self")};
                 with_compute_type<float, double, std::complex<float>, std::complex<double>>(
                     call.tensor("self").dtype(), [&]<typename C>(C) {
                       map_elements<C>(call.output(), in, [&](C x) { return apply(term, x); });
                     });
               })
      .samples({"f64[5,7]", "f64[4,6]; negate=true; scale=0.5", "f64[5,4]; power=2; shift=1.5",
                "f32[3,1,4]; mode=clip; scale=-2.0", "f32[7]; dtype=f64; weights=[0.5,2.0]",
                "c64[4,3]; shift=1+2j", "f64[6]; scale=0.0; shift=2", "f64[4,5]; scale=0.0"});
}

// One declaration, three ops: custom.scale, custom.scale_ and custom.scale.out; `factor` may be a
// number.
void declare_scale(Registrar& r) {
  r.op("custom.scale(Tensor self, Tensor factor) -> Tensor")
      .summary("self * factor; the factor may be a tensor or a number")
      .pointwise()
      .rules([](const Call& call, RuleSink& rules) {
        for (std::string_view kind : {std::string_view("sum"), std::string_view("avg")}) {
          rules.add_named(partial(kind), {{"self", partial(kind)}});
          if (call.has_tensor("factor"))
            rules.add_named(partial(kind), {{"factor", partial(kind)}});
        }
        if (call.has_tensor("factor")) {
          rules.add_named(partial("product"),
                          {{"self", partial("product")}, {"factor", partial("product")}});
          return;
        }
        const double factor = call.attribute<double>("factor");
        if (factor == 1) rules.add_named(partial("product"), {{"self", partial("product")}});
        rules.add_named(partial("max"), {{"self", partial(factor > 0 ? "max" : "min")}});
        rules.add_named(partial("min"), {{"self", partial(factor > 0 ? "min" : "max")}});
      })
      .compute<float, double, int64_t>([](auto x, auto factor) { return x * factor; })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,6]; f64[6]", "f64[4,5]; factor=-2.5",
                "i64[5,3]; i64[5,3]", "f32[4,1]; f32[4,1]", "f64[3,4]; factor=3"})
      .in_place("custom.scale_")
      .out("custom.scale.out");
}

}  // namespace

void declare_attributes(Registrar& r) {
  declare_term(r);
  declare_scale(r);
}

}  // namespace custom
