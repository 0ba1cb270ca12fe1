// Gradients of elementwise functions: grad_input = g f'(x), or f' told by the function's result.
// All are linear in g, so f64[4,6] gives `P(sum) | P(sum), R` beside the shards. Where f' is never
// negative they are also increasing in g, and where it is 0 or 1, a mask, they let products
// through.

#include <cmath>

#include "knowledge.hpp"

namespace pointwise {
namespace {

const Families kAnySlope = {{kLinear, {"grad_output"}}};
const Families kRising = {{kLinear, {"grad_output"}}, {kIncreasing, {"grad_output"}}};
const Families kMask = {
    {kLinear, {"grad_output"}}, {kIncreasing, {"grad_output"}}, {kMultiplicative, {"grad_output"}}};

const std::initializer_list<std::string_view> kPair = {"f64[5,7]; f64[5,7]", "f32[4,1]; f32[4,6]",
                                                       "f64[3,1,4]; f64[3,1,4]", "bf16[7]; bf16[7]",
                                                       "f16[5]; f16[5]"};

// A product of masked gradients is masked where any of them is: for a mask of self > bound that is
// where the smallest self is, for one of self != 0 where a product of selves is 0.
void pass_masked_products(const Call& call, RuleSink& rules, std::string_view self_kind,
                          std::string_view self = "self") {
  add_partial_rule(call, rules, "product",
                   {{view_of(call.raw()->arguments[0].name), "product"}, {self, self_kind}});
}

// `NAME(Tensor grad_output, ARGUMENTS) -> Tensor` and its form that writes grad_input.
OpBuilder& gradient(Registrar& r, const std::string& name, const std::string& arguments,
                    std::vector<std::string> saved) {
  saved.insert(saved.begin(), "grad_output");
  const std::string plain = name + "(Tensor grad_output, " + arguments;
  const bool has_keywords = arguments.find("*,") != std::string::npos;
  r.variant(name + ".grad_input(Tensor grad_output, " + arguments + (has_keywords ? "" : ", *") +
                ", Tensor(a!) grad_input) -> Tensor(a!)",
            name);
  return r.op(plain + ") -> Tensor")
      .summary("gradient of " + name.substr(0, name.rfind("_backward")))
      .pointwise(Promotion::kCommon, std::move(saved))
      .refuses(kF8DTypes)
      .flops(8);
}

template <typename C>
C normal_slope(C x, bool is_tanh) {
  if (!is_tanh) {
    const C distribution = C(0.5) * (C(1) + std::erf(x * C(0.70710678118654752440)));
    return distribution + x * C(0.39894228040143267794) * std::exp(C(-0.5) * x * x);
  }
  const C cubic = C(0.044715), scale = C(0.79788456080286535588);
  const C t = std::tanh(scale * (x + cubic * x * x * x));
  const C inner = scale * (C(1) + C(3) * cubic * x * x);
  return C(0.5) * (C(1) + t) + C(0.5) * x * (C(1) - t * t) * inner;
}

template <typename C>
C conjugate(C z) {
  if constexpr (std::is_floating_point_v<C>)
    return z;
  else
    return std::conj(z);
}

void declare_smooth(Registrar& r) {
  gradient(r, "gelu_backward", "Tensor self, *, str approximate='none'", {"self"})
      .families(kAnySlope)
      .elementwise<2>(FloatTypes{},
                      [](const Call& call) {
                        const auto approximate = call.attribute<std::string_view>("approximate");
                        require(approximate == "none" || approximate == "tanh",
                                "approximate must be none or tanh");
                        return [is_tanh = approximate == "tanh"](auto g, auto x) {
                          return g * normal_slope(x, is_tanh);
                        };
                      })
      .samples({"f64[5,7]; f64[5,7]", "f32[4,1]; f32[4,6]", "f64[3,5]; f64[3,5]; approximate=tanh",
                "bf16[7]; bf16[7]", "f32[2,3]; f32[2,3]; approximate=tanh"});
  gradient(r, "silu_backward", "Tensor self", {"self"})
      .families(kAnySlope)
      .compute(FloatComplexTypes{},
               [](auto g, auto x) {
                 const decltype(x) one(1), sigmoid = one / (one + std::exp(-x));
                 return g * sigmoid * (one + x * (one - sigmoid));
               })
      .samples(kPair);
  gradient(r, "tanh_backward", "Tensor output", {"output"})
      .families(kAnySlope)
      .compute(FloatComplexTypes{},
               [](auto g, auto y) { return g * conjugate(decltype(y)(1) - y * y); })
      .samples({"f64[5,7]; f64[5,7]", "f32[4,1]; f32[4,6]", "f64[3,1,4]; f64[3,1,4]",
                "bf16[7]; bf16[7]", "c128[3,4]; c128[3,4]"});
  gradient(r, "sigmoid_backward", "Tensor output", {"output"})
      .families(kAnySlope)
      .compute(FloatComplexTypes{},
               [](auto g, auto y) { return g * conjugate((decltype(y)(1) - y) * y); })
      .samples({"f64[5,7]; f64[5,7]", "f32[4,1]; f32[4,6]", "f64[3,1,4]; f64[3,1,4]",
                "bf16[7]; bf16[7]", "c128[3,4]; c128[3,4]"});
  gradient(r, "mish_backward", "Tensor self", {"self"})
      .families(kAnySlope)
      .compute(FloatTypes{},
               [](auto g, auto x) {
                 using C = decltype(x);
                 const C sigmoid = C(1) / (C(1) + std::exp(-x));
                 const C t = std::tanh(std::log1p(std::exp(x)));
                 return g * (t + x * sigmoid * (C(1) - t * t));
               })
      .samples(kPair);
  gradient(r, "softplus_backward", "Tensor self, Scalar beta, Scalar threshold", {"self"})
      .families(kRising)
      .elementwise<2>(FloatTypes{},
                      [](const Call& call) {
                        const auto beta = call.attribute<double>("beta");
                        const auto threshold = call.attribute<double>("threshold");
                        return [beta, threshold](auto g, auto x) {
                          using C = decltype(x);
                          const C scaled = x * C(beta), z = std::exp(scaled);
                          return scaled > C(threshold) ? g : g * z / (z + C(1));
                        };
                      })
      .samples({"f64[5,7]; f64[5,7]; beta=1; threshold=20",
                "f32[4,1]; f32[4,6]; beta=2; threshold=1", "f64[3,4]; f64[4]; beta=-1; threshold=5",
                "bf16[7]; bf16[7]; beta=1; threshold=20", "f16[5]; f16[5]; beta=0.5; threshold=0"});
}

// The saved buffer holds exp(-|x|).
void declare_log_sigmoid(Registrar& r) {
  gradient(r, "log_sigmoid_backward", "Tensor self, Tensor buffer", {"self", "buffer"})
      .families(kAnySlope)
      .compute(FloatTypes{},
               [](auto g, auto x, auto buffer) {
                 using C = decltype(x);
                 const C ratio = buffer / (C(1) + buffer);
                 return g * (x < C(0) ? C(1) - ratio : ratio);
               })
      .samples({"f64[5,7]; f64[5,7]; f64[5,7]", "f32[4,6]; f32[4,6]; f32[4,6]",
                "f64[3,1,4]; f64[3,1,4]; f64[3,1,4]", "bf16[7]; bf16[7]; bf16[7]",
                "f16[5]; f16[5]; f16[5]"});
}

void declare_masks(Registrar& r) {
  gradient(r, "threshold_backward", "Tensor self, Scalar threshold", {"self"})
      .families(kMask)
      .rules([](const Call& call, RuleSink& rules) { pass_masked_products(call, rules, "min"); })
      .elementwise<2>(RealTypes{},
                      [](const Call& call) {
                        return [t = call.attribute<double>("threshold")](auto g, auto x) {
                          return static_cast<double>(x) <= t ? decltype(g)(0) : g;
                        };
                      })
      .samples({"f64[5,7]; f64[5,7]; threshold=0", "f32[4,1]; f32[4,6]; threshold=1.5",
                "i64[3,4]; i64[3,4]; threshold=1", "bf16[7]; bf16[7]; threshold=-1",
                "f64[5]; f64[5]; threshold=0.25"});
  gradient(r, "hardtanh_backward", "Tensor self, Scalar min_val, Scalar max_val", {"self"})
      .families(kMask)
      .elementwise<2>(FloatTypes{},
                      [](const Call& call) {
                        const auto low = call.attribute<double>("min_val");
                        const auto high = call.attribute<double>("max_val");
                        return [low, high](auto g, auto x) {
                          using C = decltype(x);
                          return x <= C(low) || x >= C(high) ? C(0) : g;
                        };
                      })
      .samples(
          {"f64[5,7]; f64[5,7]; min_val=-1; max_val=1", "f32[4,1]; f32[4,6]; min_val=0; max_val=6",
           "f64[3,4]; f64[3,4]; min_val=-2.5; max_val=0", "bf16[7]; bf16[7]; min_val=-1; max_val=1",
           "f16[5]; f16[5]; min_val=-1; max_val=2"});
  for (const char* name : {"softshrink_backward", "hardshrink_backward"}) {
    const bool is_soft = name[0] == 's';
    OpBuilder& op = is_soft ? gradient(r, name, "Tensor self, Scalar lambd", {"self"})
                            : r.op("hardshrink_backward(Tensor grad_out, Tensor self, Scalar "
                                   "lambd) -> Tensor")
                                  .summary("gradient of hardshrink")
                                  .pointwise(Promotion::kCommon, {"grad_out", "self"})
                                  .refuses(kF8DTypes);
    const std::string_view grad = is_soft ? "grad_output" : "grad_out";
    op.families({{kLinear, {grad}}, {kIncreasing, {grad}}, {kMultiplicative, {grad}}})
        .rules([grad](const Call& call, RuleSink& rules) {
          const auto bound = call.attribute<double>("lambd");
          if (bound == 0) pass_masked_products(call, rules, "product");
          if (bound < 0) add_ignoring(call, rules, grad, {{"self"}});
        })
        .elementwise<2>(FloatTypes{},
                        [](const Call& call) {
                          return [bound = call.attribute<double>("lambd")](auto g, auto x) {
                            using C = decltype(x);
                            return x >= C(-bound) && x <= C(bound) ? C(0) : g;
                          };
                        })
        .samples({"f64[5,7]; f64[5,7]; lambd=0.5", "f32[4,1]; f32[4,6]; lambd=1",
                  "f64[3,4]; f64[3,4]; lambd=2", "bf16[7]; bf16[7]; lambd=0.5",
                  "f16[5]; f16[5]; lambd=0"});
  }
}

void declare_piecewise(Registrar& r) {
  gradient(r, "leaky_relu_backward", "Tensor self, Scalar negative_slope, bool self_is_result",
           {"self"})
      .families([](const Call& call) {
        const auto slope = call.attribute<double>("negative_slope");
        return slope == 0 ? kMask : slope > 0 ? kRising : kAnySlope;
      })
      .rules([](const Call& call, RuleSink& rules) {
        const auto slope = call.attribute<double>("negative_slope");
        if (slope == 0) pass_masked_products(call, rules, "min");
        if (slope == 1) add_ignoring(call, rules, "grad_output", {{"self"}});
      })
      .elementwise<2>(FloatTypes{},
                      [](const Call& call) {
                        const auto slope = call.attribute<double>("negative_slope");
                        require(slope >= 0 || !call.attribute<bool>("self_is_result"),
                                "a negative slope is not told by the result");
                        return [slope](auto g, auto x) {
                          using C = decltype(x);
                          return x > C(0) ? g : g * C(slope);
                        };
                      })
      .samples({"f64[5,7]; f64[5,7]; negative_slope=0.01; self_is_result=false",
                "f32[4,1]; f32[4,6]; negative_slope=0; self_is_result=true",
                "f64[3,4]; f64[3,4]; negative_slope=-1.5; self_is_result=false",
                "bf16[7]; bf16[7]; negative_slope=0.5; self_is_result=false",
                "f64[5]; f64[5]; negative_slope=1; self_is_result=false"});
  gradient(r, "hardsigmoid_backward", "Tensor self", {"self"})
      .families(kRising)
      .compute(FloatTypes{},
               [](auto g, auto x) {
                 using C = decltype(x);
                 return x > C(-3) && x < C(3) ? g * C(1.0F / 6.0F) : C(0);
               })
      .samples(kPair);
  r.op("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor")
      .summary("gradient of hardswish")
      .pointwise(Promotion::kCommon, {"grad_output", "self"})
      .refuses(kF8DTypes)
      .families(kAnySlope)
      .compute(FloatTypes{},
               [](auto g, auto x) {
                 using C = decltype(x);
                 if (x <= C(-3)) return C(0);
                 return x < C(3) ? g * (x / C(3) + C(0.5)) : g;
               })
      .samples(kPair)
      .out("hardswish_backward.out");
}

// With a = input_scale, b = alpha scale and c = scale: below 0 the slope is a b exp(a x), told by
// the result y as a (y + b); above it is c.
void declare_elu(Registrar& r) {
  gradient(r, "elu_backward",
           "Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result",
           {"self_or_result"})
      .families([](const Call& call) {
        const auto scale = call.attribute<double>("scale");
        const double below =
            call.attribute<double>("input_scale") * call.attribute<double>("alpha") * scale;
        Families families = kAnySlope;
        if (call.attribute<bool>("is_result")) return families;
        if (below >= 0 && scale >= 0) families.push_back({kIncreasing, {"grad_output"}});
        if (below == 0 && scale == 1) families.push_back({kMultiplicative, {"grad_output"}});
        if (below <= 0 && scale <= 0) families.push_back({kDecreasing, {"grad_output"}});
        return families;
      })
      .rules([](const Call& call, RuleSink& rules) {
        const bool is_mask = !call.attribute<bool>("is_result") &&
                             call.attribute<double>("scale") == 1 &&
                             call.attribute<double>("alpha") == 0;
        if (is_mask) pass_masked_products(call, rules, "min", "self_or_result");
      })
      .elementwise<2>(FloatTypes{},
                      [](const Call& call) {
                        const auto c = call.attribute<double>("scale"),
                                   a = call.attribute<double>("input_scale");
                        const double b = call.attribute<double>("alpha") * c;
                        const bool is_result = call.attribute<bool>("is_result");
                        require(b >= 0 || !is_result, "a negative alpha is not told by the result");
                        return [a, b, c, is_result](auto g, auto x) {
                          using C = decltype(x);
                          if (!(x <= C(0))) return g * C(c);
                          return g * C(a) * (is_result ? x + C(b) : C(b) * std::exp(x * C(a)));
                        };
                      })
      .samples({"f64[5,7]; f64[5,7]; alpha=1; scale=1; input_scale=1; is_result=false",
                "f32[4,1]; f32[4,6]; alpha=1; scale=1; input_scale=1; is_result=true",
                "f64[3,4]; f64[3,4]; alpha=-0.5; scale=2; input_scale=1; is_result=false",
                "bf16[7]; bf16[7]; alpha=1.5; scale=1; input_scale=0.5; is_result=false",
                "f64[5]; f64[5]; alpha=0; scale=1; input_scale=1; is_result=false",
                "f64[5]; f64[5]; alpha=1; scale=-1; input_scale=1; is_result=false"});
}

}  // namespace

void declare_backward(Registrar& r) {
  declare_smooth(r);
  declare_log_sigmoid(r);
  declare_masks(r);
  declare_piecewise(r);
  declare_elu(r);
}

}  // namespace pointwise
