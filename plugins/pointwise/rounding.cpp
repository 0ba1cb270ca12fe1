// Steps to whole numbers and their remains. Steps never fall as their argument grows, so max and
// min pass; of integers they are the identity.
//   f64[4,6]: ceil of P(max) pieces 0.2 and 1.4 is P(max) of 1 and 2; frac has no such order

#include <cmath>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

PointwiseDTypes own_dtype(const Call& call) {
  const DType dtype = call.tensor("self").dtype();
  return {dtype, dtype};
}

Families step_families(const Call& call) {
  const bool is_identity = is_integral(call.tensor("self").dtype());
  return is_identity ? Families{{kIdentity, {"self"}}} : Families{{kIncreasing, {"self"}}};
}

template <typename F>
OpBuilder& step(Registrar& r, std::string_view name, std::string_view summary, F f) {
  const std::string text(name);
  return r.op(text + "(Tensor self) -> Tensor")
      .summary(summary)
      .pointwise(own_dtype)
      .refuses(kF8DTypes | kBoolDTypes)
      .families(step_families)
      .compute(RealTypes{},
               [f](auto x) {
                 if constexpr (std::is_integral_v<decltype(x)>)
                   return x;
                 else
                   return f(x);
               })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bf16[6]", "f64[]"})
      .in_place()
      .out(text + ".out")
      .over_lists(list_form(name));
}

// To a number of decimals, halves to even ones. Integers have none to lose but before the point.
template <typename C>
C round_decimals(C x, int64_t decimals) {
  if (decimals == 0) return std::nearbyint(x);
  const C scale = static_cast<C>(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  return decimals > 0 ? std::nearbyint(x * scale) / scale : std::nearbyint(x / scale) * scale;
}

void declare_round_decimals(Registrar& r) {
  r.op("round.decimals(Tensor self, *, int decimals) -> Tensor")
      .summary("each element rounded to a number of decimals, halves to even")
      .pointwise(own_dtype)
      .refuses(kF8DTypes)
      .families({{kIncreasing, {"self"}}})
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        return [decimals = call.attribute<int64_t>("decimals")](auto x) {
                          return round_decimals(x, decimals);
                        };
                      })
      .samples({"f64[5,7]; decimals=1", "f32[4,1,6]; decimals=0", "f64[3,5]; decimals=-1",
                "bf16[6]; decimals=1", "f64[]; decimals=2"})
      .in_place()
      .out("round.decimals_out");
}

void declare_frac(Registrar& r) {
  r.op("frac(Tensor self) -> Tensor")
      .summary("what truncation leaves of each element")
      .pointwise(own_dtype)
      .refuses(kF8DTypes)
      .compute(FloatTypes{}, [](auto x) { return x - std::trunc(x); })
      .samples({"f64[5,7]", "f32[4,1,6]", "bf16[7]", "f16[2,3]", "f64[6]"})
      .in_place()
      .out("frac.out")
      .over_lists(list_form("frac"));
}

}  // namespace

void declare_rounding(Registrar& r) {
  step(r, "ceil", "the smallest integer not below each element",
       [](auto x) { return std::ceil(x); });
  step(r, "trunc", "each element without its decimals", [](auto x) {
    return std::trunc(x);
  }).also("prims.trunc");
  step(r, "round", "the nearest integer to each element, halves to even",
       [](auto x) { return std::nearbyint(x); });
  declare_round_decimals(r);
  declare_frac(r);
}

}  // namespace pointwise
