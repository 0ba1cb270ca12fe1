// Activation functions. Nearly all never fall, so max and min pass; what their parameters decide is
// said for the parameters given.
//   f64[4,6]: elu of P(max) is P(max); threshold(x, 0, 5) is not: 5 stands below what passes

#include <cmath>

#include "float_functions.hpp"

namespace pointwise {
namespace {

const Families kRising = {{kIncreasing, {"self"}}};

const std::initializer_list<std::string_view> kFloats = {"f64[5,7]", "f32[4,1,6]", "bf16[7]",
                                                         "f16[2,3]", "f64[6]"};

// Floats only, as ATen has them.
OpBuilder& activation(Registrar& r, const std::string& schema, std::string_view summary) {
  return r.op(schema)
      .summary(summary)
      .pointwise(Promotion::kCommon, {"self"})
      .refuses(kF8DTypes)
      .flops(8);
}

double number(const Call& call, std::string_view name) { return call.attribute<double>(name); }

// A number as an integer dtype holds it, cut to a whole one.
double settled(const Call& call, std::string_view name) {
  const DType dtype = call.tensor("self").dtype();
  if (!is_integral(dtype)) return number(call, name);
  const double whole = std::trunc(number(call, name));
  const Range range = range_of(dtype);
  if (whole < range.lowest || whole > range.highest)
    fail(std::string(name) + " is beyond the range of " + std::string(name_of(dtype)));
  return whole;
}

// x * scale above 0, and scale * alpha * (exp(x * input_scale) - 1) below.
struct Elu {
  double alpha, scale, input_scale;
  template <typename C>
  C operator()(C x) const {
    if (x > C(0)) return x * static_cast<C>(scale);
    return std::expm1(x * static_cast<C>(input_scale)) * static_cast<C>(alpha * scale);
  }
};

Families elu_families(const Elu& elu) {
  const double below = elu.alpha * elu.scale * elu.input_scale;
  if (elu.scale >= 0 && below >= 0) return kRising;
  if (elu.scale <= 0 && below <= 0) return {{kDecreasing, {"self"}}};
  return {};
}

Elu elu_of(const Call& call) {
  return {number(call, "alpha"), number(call, "scale"), number(call, "input_scale")};
}

Elu celu_of(const Call& call) {
  const double alpha = number(call, "alpha");
  require(alpha != 0, "alpha must not be 0");
  return {alpha, 1, 1 / alpha};
}

void declare_exponential_units(Registrar& r) {
  activation(r, "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
             "scale * x above 0, scale * alpha * (exp(input_scale * x) - 1) below")
      .families([](const Call& call) { return elu_families(elu_of(call)); })
      .elementwise<1>(FloatTypes{}, elu_of)
      .samples({"f64[5,7]", "f32[4,1,6]; alpha=0.5", "f64[3,5]; alpha=-1", "bf16[7]; scale=2",
                "f64[6]; alpha=1; scale=-1; input_scale=0.5"})
      .in_place()
      .out("elu.out");
  activation(r, "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
             "x above 0, alpha * (exp(x / alpha) - 1) below")
      .families(kRising)
      .elementwise<1>(FloatTypes{}, celu_of)
      .samples({"f64[5,7]", "f32[4,1,6]; alpha=0.5", "f64[3,5]; alpha=-1", "bf16[7]; alpha=2",
                "f64[6]; alpha=1.5"})
      .in_place()
      .out("celu.out");
  activation(r, "selu(Tensor self) -> Tensor", "the elu that keeps means and variances")
      .families(kRising)
      .elementwise<1>(FloatTypes{},
                      [](const Call&) {
                        return Elu{1.6732632423543772848, 1.0507009873554804934, 1};
                      })
      .samples(kFloats)
      .in_place();
}

template <typename C>
C held(C x, C low, C high) {
  if (x != x) return x;
  return x < low ? low : x > high ? high : x;
}

// Bounds that no element reaches leave everything as it is.
Families hardtanh_families(const Call& call, double low, double high) {
  Families families = kRising;
  const Range range = range_of(call.tensor("self").dtype());
  if (low <= range.lowest && high >= range.highest) families.push_back({kIdentity, {"self"}});
  return families;
}

void declare_held(Registrar& r) {
  r.op("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor")
      .summary("each element held between min_val and max_val")
      .pointwise(Promotion::kCommon, {"self"})
      .refuses(kF8DTypes | kBoolDTypes)
      .families([](const Call& call) {
        return hardtanh_families(call, number(call, "min_val"), number(call, "max_val"));
      })
      .elementwise<1>(RealTypes{},
                      [](const Call& call) {
                        const double low = number(call, "min_val"), high = number(call, "max_val");
                        require(call.input(0).dtype() != DType::kU8 || (low >= 0 && high >= 0),
                                "unsigned elements need bounds that are not negative");
                        return [low, high](auto x) {
                          using C = decltype(x);
                          return held(x, static_cast<C>(low), static_cast<C>(high));
                        };
                      })
      .samples({"f64[5,7]", "f32[4,1,6]; min_val=-2; max_val=0.5",
                "i64[3,5]; min_val=-2; max_val=3", "bf16[7]; min_val=0; max_val=6",
                "u8[5]; min_val=0; max_val=4", "f64[6]; min_val=-inf; max_val=inf"})
      .in_place()
      .out("hardtanh.out");
  r.op("relu6(Tensor self) -> Tensor")
      .summary("each element held between 0 and 6")
      .pointwise(Promotion::kCommon, {"self"})
      .refuses(kF8DTypes | kBoolDTypes)
      .families([](const Call& call) { return hardtanh_families(call, 0, 6); })
      .compute(RealTypes{}, [](auto x) { return held(x, decltype(x)(0), decltype(x)(6)); })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "u8[6]"})
      .in_place();
  activation(r, "hardsigmoid(Tensor self) -> Tensor", "(x + 3) / 6 held between 0 and 1")
      .families(kRising)
      .compute(FloatTypes{},
               [](auto x) {
                 using C = decltype(x);
                 return held(x + C(3), C(0), C(6)) / C(6);
               })
      .samples(kFloats)
      .in_place()
      .out("hardsigmoid.out");
}

// Zero between -lambd and lambd; what lies beyond stays, or moves towards zero.
void declare_shrinks(Registrar& r) {
  const auto families = [](const Call& call) {
    Families all = kRising;
    if (number(call, "lambd") <= 0) all.push_back({kIdentity, {"self"}});
    return all;
  };
  activation(r, "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
             "0 between -lambd and lambd, x beyond")
      .families(families)
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        return [lambd = number(call, "lambd")](auto x) {
                          using C = decltype(x);
                          const C bound = static_cast<C>(lambd);
                          return x >= -bound && x <= bound ? C(0) : x;
                        };
                      })
      .samples({"f64[5,7]", "f32[4,1,6]; lambd=1", "f64[3,5]; lambd=0", "bf16[7]", "f16[5]"})
      .out("hardshrink.out");
  activation(r, "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
             "0 between -lambd and lambd, x less lambd towards 0 beyond")
      .families(families)
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        const double lambd = number(call, "lambd");
                        require(lambd >= 0, "lambd must not be negative");
                        return [lambd](auto x) {
                          using C = decltype(x);
                          const C bound = static_cast<C>(lambd);
                          return x > bound ? x - bound : x < -bound ? x + bound : x * C(0);
                        };
                      })
      .samples({"f64[5,7]", "f32[4,1,6]; lambd=1", "f64[3,5]; lambd=0", "bf16[7]", "f16[5]"})
      .out("softshrink.out");
}

void declare_slopes(Registrar& r) {
  activation(r, "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
             "x above 0, negative_slope * x below")
      .families([](const Call& call) {
        const double slope = number(call, "negative_slope");
        Families families;
        if (slope >= 0) families = kRising;
        if (slope == 1) families.push_back({kIdentity, {"self"}});
        if (slope == -1) families.push_back({kMultiplicative, {"self"}});
        return families;
      })
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        return [slope = number(call, "negative_slope")](auto x) {
                          using C = decltype(x);
                          return x > C(0) ? x : x * static_cast<C>(slope);
                        };
                      })
      .samples({"f64[5,7]", "f32[4,1,6]; negative_slope=0", "f64[3,5]; negative_slope=1",
                "f64[3,5]; negative_slope=-0.5", "bf16[7]"})
      .in_place()
      .out("leaky_relu.out");
  r.op("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor")
      .summary("x above threshold, value elsewhere")
      .pointwise(Promotion::kCommon, {"self"})
      .refuses(kF8DTypes | kBoolDTypes)
      .families([](const Call& call) {
        const double bound = settled(call, "threshold"), value = settled(call, "value");
        Families families;
        const double step = is_integral(call.tensor("self").dtype()) ? 1 : 0;
        if (value <= bound + step) families = kRising;
        if (bound == value && bound == range_of(call.tensor("self").dtype()).lowest)
          families.push_back({kIdentity, {"self"}});
        return families;
      })
      .elementwise<1>(RealTypes{},
                      [](const Call& call) {
                        const double bound = settled(call, "threshold"),
                                     value = settled(call, "value");
                        return [bound, value](auto x) {
                          using C = decltype(x);
                          return x <= static_cast<C>(bound) ? static_cast<C>(value) : x;
                        };
                      })
      .samples({"f64[5,7]; threshold=0; value=0", "f32[4,1,6]; threshold=0.5; value=-1",
                "f64[3,5]; threshold=0; value=5", "i64[5,3]; threshold=1; value=0",
                "bf16[7]; threshold=0; value=0", "u8[6]; threshold=0; value=0",
                "u8[7]; threshold=2; value=3", "i64[4]; threshold=1; value=3"})
      .in_place()
      .out("threshold.out");
}

// log(1 + exp(beta x)) / beta, and x where beta x is above the threshold.
struct Softplus {
  double beta, threshold;
  template <typename C>
  C operator()(C x) const {
    const C scaled = x * static_cast<C>(beta);
    if (scaled > static_cast<C>(threshold)) return x;
    return std::log1p(std::exp(scaled)) / static_cast<C>(beta);
  }
};

void declare_soft(Registrar& r) {
  activation(r, "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
             "log(1 + exp(beta * x)) / beta, x where beta * x is above threshold")
      // Below a threshold where the exponential still counts, x falls short of what it replaces.
      .families(
          [](const Call& call) { return number(call, "threshold") >= 20 ? kRising : Families{}; })
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        return Softplus{number(call, "beta"), number(call, "threshold")};
                      })
      .samples({"f64[5,7]", "f32[4,1,6]; beta=2", "f64[3,5]; beta=0.5", "bf16[7]",
                "f64[6]; threshold=1"})
      .out("softplus.out");
  activation(r, "mish(Tensor self) -> Tensor", "x * tanh(log(1 + exp(x)))")
      .compute(FloatTypes{}, [](auto x) { return x * std::tanh(std::log1p(std::exp(x))); })
      .samples(kFloats)
      .in_place()
      .out("mish.out");
  // The logarithm of odds, of an argument held between eps and 1 - eps where eps is given: only
  // then no local value lies outside.
  r.op("logit(Tensor self, float? eps=None) -> Tensor")
      .summary("log(x / (1 - x)), x held between eps and 1 - eps")
      .pointwise(Promotion::kFloating, {"self"})
      .refuses(kF8DTypes)
      .flops(10)
      .families([](const Call& call) {
        const double eps = call.attribute<std::optional<double>>("eps").value_or(-1);
        return eps < 0 ? Families{} : kRising;
      })
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        const double eps =
                            call.attribute<std::optional<double>>("eps").value_or(-1);
                        return [eps](auto x) {
                          using C = decltype(x);
                          const C low = static_cast<C>(eps);
                          if (eps >= 0) x = x < low ? low : x > C(1) - low ? C(1) - low : x;
                          return std::log(x / (C(1) - x));
                        };
                      })
      .samples({"f64[5,7]; eps=0.1", "f32[4,1,6]:probability", "f64[3,5]; eps=0.25",
                "bf16[7]; eps=0.125", "f64[6]:probability"})
      .in_place()
      .out("logit.out");
}

}  // namespace

void declare_activations(Registrar& r) {
  declare_exponential_units(r);
  declare_held(r);
  declare_shrinks(r);
  declare_slopes(r);
  declare_soft(r);
}

}  // namespace pointwise
