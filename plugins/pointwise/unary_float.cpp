// Functions of one argument in floating point; integers and bool become the default float. Those
// that never fall pass max and min, waves such as sin only shards. exp(x + y) = exp(x) exp(y) makes
// a product of a sum, log a sum of a product. Where f knows numbers >= 0 only, a rank's part must
// not lie below: all parts of a min lie above it, while those of a max may be negative, and so may
// factors, unless the dtype has no such numbers.
//   exp f64[4,6]: P(product) | P(sum);  P(max) | P(max).  log f64[4,6]: P(min) | P(min), but
//   no P(max) | P(max).  log u8[4,6]: P(max) | P(max);  P(sum) | P(product)

#include <cmath>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

const std::initializer_list<std::string_view> kSigned = {
    "f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "bool[6]", "f64[]", "f16[2,3]"};
const std::initializer_list<std::string_view> kSignedComplex = {
    "f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "bool[6]", "c128[3,4]", "f64[]"};

// One element alone shows too little of a function that is not monotone.
const std::initializer_list<std::string_view> kWaves = {
    "f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "bool[6]", "c128[3,4]", "f16[6]"};

// An op `NAME(Tensor self) -> Tensor` with its in-place and out= forms.
OpBuilder& float_unary(Registrar& r, std::string_view name, std::string_view summary) {
  const std::string text(name);
  return r.op(text + "(Tensor self) -> Tensor")
      .summary(summary)
      .pointwise(Promotion::kFloating)
      .refuses(kF8DTypes)
      .flops(8)
      .in_place()
      .out(text + ".out");
}

// Monotone on numbers >= 0 only, as unsigned and bool tensors hold; `from_below` is what remains
// where locals may leave the domain.
std::function<Families(const Call&)> on_nonnegative(Families always, Families from_below) {
  return [always, from_below](const Call& call) {
    return know(call, "self").nonnegative ? always : from_below;
  };
}

void declare_exponentials(Registrar& r) {
  float_unary(r, "exp", "e to the power of each element")
      .families({{kIncreasing, {"self"}}, {kExponential, {"self"}}})
      .compute(FloatComplexTypes{}, [](auto x) { return std::exp(x); })
      .over_lists(list_form("exp"))
      .samples(kSignedComplex);
  float_unary(r, "log", "natural logarithm of each element")
      .families(on_nonnegative({{kIncreasing, {"self"}}, {kLogarithmic, {"self"}}},
                               {{kIncreasingFromBelow, {"self"}}}))
      .compute(FloatComplexTypes{}, [](auto x) { return std::log(x); })
      .over_lists(list_form("log"))
      .samples({"f64[5,7]:positive", "f32[4,1,6]:positive", "i64[3,5]:positive", "u8[7]:positive",
                "bf16[6]:positive", "c128[3,4]:nonzero", "f64[]:positive"});
  float_unary(r, "sqrt", "square root of each element")
      .families([](const Call& call) {
        if (!know(call, "self").nonnegative) return Families{{kIncreasingFromBelow, {"self"}}};
        Families families = {{kIncreasing, {"self"}}, {kMultiplicative, {"self"}}};
        if (know(call, "self").is_flag) add_flag_result(families, call, "self");
        return families;
      })
      .compute(FloatComplexTypes{}, [](auto x) { return std::sqrt(x); })
      .over_lists(list_form("sqrt"))
      .samples({"f64[5,7]:nonnegative", "f32[4,1,6]:nonnegative", "i64[3,5]:nonnegative", "u8[7]",
                "bf16[6]:nonnegative", "c128[3,4]", "f64[]:nonnegative"});
  float_unary(r, "rsqrt", "1 / sqrt of each element")
      .families(on_nonnegative({{kDecreasing, {"self"}}, {kMultiplicative, {"self"}}},
                               {{kDecreasingFromBelow, {"self"}}}))
      .compute(FloatComplexTypes{}, [](auto x) { return decltype(x)(1) / std::sqrt(x); })
      .over_lists(list_form("rsqrt"))
      .also("prims.rsqrt")
      .samples({"f64[5,7]:positive", "f32[4,1,6]:positive", "i64[3,5]:positive", "u8[7]:positive",
                "bf16[6]:positive", "c128[3,4]:nonzero", "f64[]:positive"});
}

void declare_saturating(Registrar& r) {
  float_unary(r, "sigmoid", "1 / (1 + exp(-x)) of each element")
      .families({{kIncreasing, {"self"}}})
      .compute(FloatComplexTypes{},
               [](auto x) {
                 const decltype(x) one(1);
                 return one / (one + std::exp(-x));
               })
      .over_lists(list_form("sigmoid"))
      .samples(kSignedComplex);
  float_unary(r, "tanh", "hyperbolic tangent of each element")
      .families({{kIncreasing, {"self"}}})
      .compute(FloatComplexTypes{}, [](auto x) { return std::tanh(x); })
      .over_lists(list_form("tanh"))
      .samples(kSignedComplex);
  float_unary(r, "erf", "error function of each element")
      .families({{kIncreasing, {"self"}}})
      .compute(FloatTypes{}, [](auto x) { return std::erf(x); })
      .over_lists(list_form("erf"))
      .samples(kSigned);
}

// Monotone on {0, 1} alone.
void declare_waves(Registrar& r) {
  const auto on_flags = [](KindTable table) {
    return [table](const Call& call) {
      return know(call, "self").is_flag ? Families{{table, {"self"}}} : Families{};
    };
  };
  float_unary(r, "sin", "sine of each element")
      .families(on_flags(kIncreasing))
      .compute(FloatComplexTypes{}, [](auto x) { return std::sin(x); })
      .over_lists(list_form("sin"))
      .samples(kWaves);
  float_unary(r, "cos", "cosine of each element")
      .families(on_flags(kDecreasing))
      .compute(FloatComplexTypes{}, [](auto x) { return std::cos(x); })
      .over_lists(list_form("cos"))
      .samples(kWaves);
}

void declare_reciprocal(Registrar& r) {
  float_unary(r, "reciprocal", "1 / x of each element")
      .families(on_nonnegative({{kMultiplicative, {"self"}}, {kDecreasing, {"self"}}},
                               {{kMultiplicative, {"self"}}}))
      .compute(FloatComplexTypes{}, [](auto x) { return decltype(x)(1) / x; })
      .over_lists(list_form("reciprocal"))
      .also("prims.reciprocal")
      .samples({"f64[5,7]:nonzero", "f32[4,1,6]:nonzero", "i64[3,5]:nonzero", "u8[7]:nonzero",
                "bf16[6]:nonzero", "c128[3,4]:nonzero", "f64[]:nonzero"});
}

// ATen defines these for floats only.
PointwiseDTypes floats_only(const Call& call) {
  const DType dtype = call.tensor("self").dtype();
  return {dtype, dtype};
}

template <typename C>
C gelu(C x, bool is_tanh) {
  if (!is_tanh) return x * C(0.5) * (C(1) + std::erf(x * C(0.70710678118654752440)));
  const C inner = C(0.79788456080286535588) * (x + C(0.044715) * x * x * x);
  return C(0.5) * x * (C(1) + std::tanh(inner));
}

void declare_gates(Registrar& r) {
  r.op("gelu(Tensor self, *, str approximate='none') -> Tensor")
      .summary("x times the normal distribution function of x, exact or by tanh")
      .pointwise(floats_only)
      .refuses(kF8DTypes)
      .flops(10)
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        const auto approximate = call.attribute<std::string_view>("approximate");
                        require(approximate == "none" || approximate == "tanh",
                                "approximate must be none or tanh");
                        return
                            [is_tanh = approximate == "tanh"](auto x) { return gelu(x, is_tanh); };
                      })
      .samples({"f64[5,7]", "f32[4,1,6]", "f64[3,5]; approximate=tanh", "bf16[7]",
                "f32[2,3]; approximate=tanh"})
      .in_place()
      .out("gelu.out");
  r.op("silu(Tensor self) -> Tensor")
      .summary("x times sigmoid(x) of each element")
      .pointwise(floats_only)
      .refuses(kF8DTypes)
      .flops(8)
      .compute(FloatComplexTypes{}, [](auto x) { return x / (decltype(x)(1) + std::exp(-x)); })
      .samples({"f64[5,7]", "f32[4,1,6]", "bf16[7]", "c128[3,4]", "f16[5]"})
      .in_place()
      .out("silu.out");
}

}  // namespace

void declare_unary_float(Registrar& r) {
  declare_exponentials(r);
  declare_saturating(r);
  declare_waves(r);
  declare_reciprocal(r);
  declare_gates(r);
}

}  // namespace pointwise
