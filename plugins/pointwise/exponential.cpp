// Exponentials and logarithms of other bases, near 1, and of the normal distribution. A power of a
// sum is the product of powers; a logarithm only knows numbers above its pole, which min respects.
//   f64[4,6]: exp2 of P(sum) pieces 1 and 2 is P(product) of 2 and 4

#include <cmath>
#include <numbers>

#include <onedim/arithmetic.hpp>

#include "float_functions.hpp"

namespace pointwise {
namespace {

const std::initializer_list<std::string_view> kPositive = {
    "f64[5,7]:positive", "f32[4,1,6]:positive", "i64[3,5]:positive", "u8[7]:positive",
    "bf16[6]:positive",  "c128[3,4]:nonzero",   "f64[]:positive"};

void declare_powers(Registrar& r) {
  float_function(r, "exp2", "2 to the power of each element")
      .families({{kIncreasing, {"self"}}, {kExponential, {"self"}}})
      .compute(FloatComplexTypes{},
               [](auto x) {
                 if constexpr (std::is_floating_point_v<decltype(x)>)
                   return std::exp2(x);
                 else
                   return std::exp(x * decltype(x)(std::numbers::ln2));
               })
      .samples(kComplexSamples)
      .also("prims.exp2");
  float_function(r, "expm1", "exp(x) - 1 of each element, exact near 0")
      .families({{kIncreasing, {"self"}}})
      .compute(FloatComplexTypes{},
               [](auto x) {
                 if constexpr (std::is_floating_point_v<decltype(x)>)
                   return std::expm1(x);
                 else
                   return std::exp(x) - decltype(x)(1);
               })
      .samples(kComplexSamples)
      .over_lists(list_form("expm1"));
}

template <typename C>
C log_plus_one(C x) {
  if constexpr (std::is_floating_point_v<C>)
    return std::log1p(x);
  else
    return std::log(C(1) + x);
}

void declare_logarithms(Registrar& r) {
  const auto logarithm = where_nonnegative({{kIncreasing, {"self"}}, {kLogarithmic, {"self"}}},
                                           {{kIncreasingFromBelow, {"self"}}});
  float_function(r, "log2", "logarithm to base 2 of each element")
      .families(logarithm)
      .compute(FloatComplexTypes{},
               [](auto x) {
                 if constexpr (std::is_floating_point_v<decltype(x)>)
                   return std::log2(x);
                 else
                   return std::log(x) / decltype(x)(std::numbers::ln2);
               })
      .samples(kPositive)
      .also("prims.log2")
      .over_lists(list_form("log2"));
  float_function(r, "log10", "logarithm to base 10 of each element")
      .families(logarithm)
      .compute(FloatComplexTypes{}, [](auto x) { return std::log10(x); })
      .samples(kPositive)
      .over_lists(list_form("log10"));
  float_function(r, "log1p", "log(1 + x) of each element, exact near 0")
      .families(where_nonnegative({{kIncreasing, {"self"}}}, {{kIncreasingFromBelow, {"self"}}}))
      .compute(FloatComplexTypes{}, [](auto x) { return log_plus_one(x); })
      .samples({"f64[5,7]:nonnegative", "f32[4,1,6]:values(-0.75,-0.5,0,1,5)",
                "i64[3,5]:nonnegative", "u8[7]", "bf16[6]:nonnegative", "c128[3,4]:nonzero",
                "bool[6]", "f64[6]:nonnegative"})
      .over_lists(list_form("log1p"));
}

void declare_error_functions(Registrar& r) {
  float_function(r, "erfc", "1 - erf(x) of each element, exact where that is small")
      .families({{kDecreasing, {"self"}}})
      .compute(FloatTypes{}, [](auto x) { return std::erfc(x); })
      .samples(kRealSamples)
      .over_lists(list_form("erfc"));
}

// log(2^a + 2^b), without overflow.
template <typename C>
C log_add_exp2(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isinf(a) && a == b) return a;
    return std::max(a, b) + std::log1p(std::exp2(-std::abs(a - b))) * C(std::numbers::log2e);
  } else {
    const C larger = a.real() > b.real() ? a : b, smaller = a.real() > b.real() ? b : a;
    return larger + std::log(C(1) + std::exp((smaller - larger) * C(std::numbers::ln2))) *
                        C(std::numbers::log2e);
  }
}

void declare_log_sums(Registrar& r) {
  r.op("logaddexp2(Tensor self, Tensor other) -> Tensor")
      .summary("log2(2^self + 2^other), without overflow")
      .pointwise()
      .refuses(kF8DTypes)
      .flops(20)
      .families({{kIncreasing, {"self"}}, {kIncreasing, {"other"}}})
      .compute(FloatTypes{}, [](auto a, auto b) { return log_add_exp2(a, b); })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "bf16[6]; bf16[6]",
                "f64[5]; f64[]", "f64[5]; other=0.5"})
      .out("logaddexp2.out");
}

// x * log(y), or x * log(1 + y); 0 where x is 0, unless y is no number.
template <typename C>
C times_log(C x, C y, bool plus_one) {
  if (y != y) return y;
  if (x == C(0)) return C(0);
  return x * (plus_one ? std::log1p(y) : std::log(y));
}

// Linear in self. In other it is a logarithm times self: min and max need to know self's sign, and
// that a local value may not lie below the true one.
Families times_log_families(const Call& call, bool plus_one) {
  const Knowledge self = know(call, "self"), other = know(call, "other");
  Families families = {{kLinear, {"self"}}};
  const bool is_tensor = call.has_tensor("other");
  // Of a whole y, log(y) and log(1 + y) are never negative where they are finite.
  const bool is_whole = is_tensor && category(call.tensor("other").dtype()) < 2;
  const bool positive_log =
      is_whole || (other.number && other.number->real() >= (plus_one ? 0 : 1));
  const bool negative_log = other.number && other.number->real() <= (plus_one ? 0 : 1);
  if (positive_log) families.push_back({kIncreasing, {"self"}});
  if (is_whole && self.is_flag) families.push_back({kMinPreserving, {"self", "other"}});
  if (negative_log) families.push_back({kDecreasing, {"self"}});
  if (!is_tensor) return families;
  const bool whole_line = other.nonnegative;
  if (self.nonnegative)
    families.push_back(
        {whole_line ? KindTable(kIncreasing) : KindTable(kMinPreserving), {"other"}});
  if (self.nonpositive)
    families.push_back(
        {whole_line ? KindTable(kDecreasing) : KindTable(kDecreasingFromBelow), {"other"}});
  if (!plus_one && other.nonnegative) families.push_back({kLogarithmic, {"other"}});
  return families;
}

void declare_times_log(Registrar& r, bool plus_one, std::initializer_list<std::string_view> names) {
  const std::string function = plus_one ? "log(1 + other)" : "log(other)";
  const char* kinds[][2] = {{"Tensor self", "Tensor other"},
                            {"Scalar self", "Tensor other"},
                            {"Tensor self", "Scalar other"}};
  const std::string_view* name = names.begin();
  for (const auto& [self, other] : kinds) {
    OpBuilder& builder =
        r.op(std::string(*name++) + "(" + self + ", " + other + ") -> Tensor")
            .summary("self * " + function + ", 0 where self is 0")
            .pointwise(Promotion::kFloating, {"self", "other"})
            .refuses(kF8DTypes)
            .flops(10)
            .families([plus_one](const Call& call) { return times_log_families(call, plus_one); })
            .compute(FloatTypes{},
                     [plus_one](auto x, auto y) { return times_log(x, y, plus_one); });
    const bool self_is_number = self[0] == 'S', other_is_number = other[0] == 'S';
    if (self_is_number) {
      builder.samples({"f64[5,7]:positive; self=2", "f32[4,1,6]:positive; self=-1.5",
                       "i64[3,5]:positive; self=1", "u8[6]:positive; self=2",
                       "bf16[7]:positive; self=1"});
    } else if (other_is_number) {
      builder.samples({"f64[5,7]; other=2", "f32[4,1,6]; other=0.5", "i64[3,5]; other=3",
                       "bf16[7]; other=4", "u8[6]; other=2", "f64[6]; other=1.5",
                       "f32[2,3]; other=3"});
    } else if (plus_one) {
      builder.samples({"f64[5,7]; f64[5,7]:unit", "f64[4,1]; f64[1,6]:unit",
                       "f32[3,4]; f32[4]:unit", "i64[5,3]; i64[3]:nonnegative",
                       "bool[5]; f32[5]:values(-0.5,0,3)", "bf16[6]; bf16[6]:values(-0.5,0,3)",
                       "f64[4]; u8[4]", "bool[6]; u8[6]"});
    } else {
      builder.samples({"f64[5,7]; f64[5,7]:positive", "f64[4,1]; f64[1,6]:positive",
                       "f32[3,4]; f32[4]:positive", "f64[2,3]; f64[3]:positive",
                       "i64[5,3]; i64[3]:positive", "bool[5]; f32[5]:positive",
                       "bf16[6]; bf16[6]:positive", "f64[4]; u8[4]", "bool[6]; u8[6]"});
    }
    if (!plus_one && !self_is_number) builder.in_place();
  }
}

}  // namespace

void declare_exponential(Registrar& r) {
  declare_powers(r);
  declare_logarithms(r);
  declare_error_functions(r);
  declare_log_sums(r);
  declare_times_log(r, false, {"xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other"});
  declare_times_log(
      r, true, {"special_xlog1py", "special_xlog1py.self_scalar", "special_xlog1py.other_scalar"});
}

}  // namespace pointwise
