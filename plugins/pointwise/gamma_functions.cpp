// Functions of the gamma family and of the normal distribution's integral.
// Most are monotone from 0 up only. So are they on whole numbers, for those below are poles, where
// no rule speaks; inverse distributions know an interval that locals leave, so nothing but shards
// passes.
//   i64[4,6]: lgamma of P(max) is P(max), for (n-1)! never falls; f64[4,6] shards alone

#include "special_function.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>

namespace pointwise {
namespace {

const Families kRising = {{kIncreasing, {"self"}}};
const Families kFalling = {{kDecreasing, {"self"}}};

bool holds_whole(const Call& call, std::string_view name) {
  return call.has_tensor(name) && category(call.tensor(name).dtype()) < 2;
}

// On whole numbers, where poles are infinite.
FamiliesFn on_whole(const Families& families) {
  return [families](const Call& call) { return holds_whole(call, "self") ? families : Families{}; };
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0 && x == std::floor(x)) return kNaN;
  return std::isinf(x) ? (x > 0 ? x : kNaN) : boost::math::digamma(x, Quiet());
}

// The n-th derivative of digamma.
double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  const double order = static_cast<double>(n);
  return (n % 2 == 1 ? 1 : -1) * std::exp(std::lgamma(order + 1)) * hurwitz_zeta(order + 1, x);
}

double multivariate_log_gamma(double x, int64_t p) {
  const double dims = static_cast<double>(p);
  double sum = dims * (dims - 1) / 4 * std::log(std::numbers::pi);
  for (int64_t j = 0; j < p; ++j) sum += std::lgamma(x - static_cast<double>(j) / 2);
  return sum;
}

// At its poles digamma is no number, but for 0.
Families digamma_families(const Call& call) {
  if (!holds_whole(call, "self")) return {};
  return know(call, "self").nonnegative ? kRising : Families{{kIncreasingFromBelow, {"self"}}};
}

void declare_gammas(Registrar& r) {
  float_function(r, "lgamma", "log of the magnitude of gamma of each element")
      .families(on_whole(kRising))
      .compute(FloatTypes{}, [](auto x) { return std::lgamma(x); })
      .samples(
          {"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bf16[6]:positive", "f64[6]", "f32[2,3]"})
      .over_lists(list_form("lgamma"));
  special_function(r, "digamma", "derivative of lgamma", digamma)
      .families(digamma_families)
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "f64[6]", "f32[2,3]", "f32[7]"})
      .also("prims.digamma");
  r.op("polygamma(int n, Tensor self) -> Tensor")
      .summary("the n-th derivative of digamma")
      .pointwise(Promotion::kFloating, {"self"})
      .refuses(kNarrowFloats)
      .flops(100)
      .families([](const Call& call) {
        const int64_t n = call.attribute<int64_t>("n");
        if (n == 0) return digamma_families(call);
        if (!holds_whole(call, "self")) return Families{};
        return n % 2 == 0 ? kRising : kFalling;
      })
      .elementwise<1>(FloatTypes{},
                      [](const Call& call) {
                        const int64_t n = call.attribute<int64_t>("n");
                        require(n >= 0, "n must not be negative");
                        return [n](auto x) {
                          return static_cast<decltype(x)>(polygamma(n, static_cast<double>(x)));
                        };
                      })
      .samples({"f64[5,7]; n=1", "f32[4,1,6]; n=0", "i64[3,5]; n=2", "u8[7]; n=1", "f64[6]; n=3",
                "i64[6]; n=0"})
      .out("polygamma.out");
  // polygamma_ takes its order behind the tensor.
  r.op("mvlgamma(Tensor self, int p) -> Tensor")
      .summary("log of the multivariate gamma function of p dims")
      .pointwise(Promotion::kFloating, {"self"})
      .refuses(kF8DTypes)
      .flops(100)
      .families([](const Call& call) {
        // Of p = 2, gamma(1/2) > gamma(1) gamma(3/2); other sums of logs never fall.
        const bool rises = holds_whole(call, "self") && call.attribute<int64_t>("p") != 2;
        return rises ? kRising : Families{};
      })
      .elementwise<1>(
          FloatTypes{},
          [](const Call& call) {
            const int64_t p = call.attribute<int64_t>("p");
            require(p >= 1, "p must be at least 1");
            return [p](auto x) {
              return static_cast<decltype(x)>(multivariate_log_gamma(static_cast<double>(x), p));
            };
          })
      .samples({"f64[5,7]:values(2,2.5,4,7); p=3", "f32[4,1,6]:values(1,1.5,4); p=2",
                "i64[3,5]; p=1", "u8[7]; p=3", "bf16[6]:values(1,2,4); p=2", "i64[4]; p=2",
                "f64[6]; p=1", "f32[2,3]; p=4"})
      .in_place()
      .out("mvlgamma.out");
}

// The share of gamma(a) below x, or above; NaN where there is none.
double gamma_share(double a, double x, bool below) {
  if (!(a >= 0) || !(x >= 0)) return kNaN;
  if (a == 0) return x > 0 ? (below ? 1 : 0) : kNaN;
  if (x == 0) return below ? 0 : 1;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : (below ? 0 : 1);
  if (std::isinf(x)) return below ? 1 : 0;
  return below ? boost::math::gamma_p(a, x, Quiet()) : boost::math::gamma_q(a, x, Quiet());
}

// The share below grows with x and falls with a. A local value under the true one may be negative.
void declare_shares(Registrar& r) {
  for (const bool below : {true, false}) {
    const std::string op = below ? "igamma" : "igammac";
    const KindTable grows = kIncreasingFromBelow, falls = kDecreasingFromBelow;
    r.op(op + "(Tensor self, Tensor other) -> Tensor")
        .summary(below ? "the share of gamma(self) below other"
                       : "the share of gamma(self) above other")
        .pointwise()
        .refuses(kF8DTypes)
        .flops(100)
        .families({{below ? falls : grows, {"self"}}, {below ? grows : falls, {"other"}}})
        .compute(FloatTypes{},
                 [below](auto a, auto x) {
                   return static_cast<decltype(a)>(
                       gamma_share(static_cast<double>(a), static_cast<double>(x), below));
                 })
        .samples({"f64[5,3]:positive; f64[5,3]:positive", "f64[2,3]:positive; f64[3]:positive",
                  "f64[4,1]:positive; f64[1,6]:positive", "f32[3,4]:positive; f32[4]:positive",
                  "f32[5]:positive; f32[]:positive", "bf16[6]:positive; bf16[6]:positive"})
        .also("prims." + op)
        .in_place()
        .out(op + ".out");
  }
}

// exp(x^2) erfc(x), from its asymptotic series where the two factors leave the range of double.
double scaled_erfc(double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  const double inverse = 1 / (2 * x * x);
  const double series = 1 - inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)));
  return series / (x * std::sqrt(std::numbers::pi));
}

double log_normal_share(double x) {
  const double scaled = x / std::numbers::sqrt2;
  if (x < -1) return std::log(scaled_erfc(-scaled) / 2) - scaled * scaled;
  return std::log1p(-std::erfc(scaled) / 2);
}

double inverse_normal_share(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, Quiet());
}

double inverse_erf(double x) {
  if (!(x >= -1 && x <= 1)) return kNaN;
  return std::abs(x) == 1 ? std::copysign(kInfinity, x) : boost::math::erf_inv(x, Quiet());
}

double entropy(double x) {
  if (std::isnan(x)) return x;
  return x > 0 ? -x * std::log(x) : x == 0 ? 0 : -kInfinity;
}

void declare_normals(Registrar& r) {
  special_function(r, "special_erfcx", "exp(x^2) erfc(x) of each element", scaled_erfc)
      .families({{kDecreasing, {"self"}}})
      .samples(kSpecialSamples)
      .also("prims.erfcx");
  special_function(r, "special_log_ndtr", "log of the normal distribution below each element",
                   log_normal_share)
      .families(kRising)
      .samples(kSpecialSamples);
  special_function(r, "special_ndtri", "where the normal distribution reaches each element",
                   inverse_normal_share)
      .samples({"f64[5,7]:probability", "f32[4,1,6]:probability", "f64[6]:probability",
                "f64[3,5]:probability", "f32[2,3]:probability"})
      .also("prims.ndtri");
  float_function(r, "erfinv", "the argument whose erf is each element")
      .compute(FloatTypes{},
               [](auto x) { return static_cast<decltype(x)>(inverse_erf(static_cast<double>(x))); })
      .samples({"f64[5,7]:values(-0.9,-0.5,0,0.25,0.75)", "f32[4,1,6]:values(-0.5,0,0.9)",
                "f64[6]:values(-0.25,0,0.5)", "bf16[7]:values(-0.5,0,0.25)",
                "f16[5]:values(-0.5,0,0.25)"});
  special_function(r, "special_entr", "-x log(x) of each element, from 0 on", entropy)
      .families(on_whole(kFalling))
      .samples({"f64[5,7]:nonnegative", "f32[4,1,6]:nonnegative", "i64[3,5]", "f64[6]:probability",
                "f64[2,3]:nonnegative"});
}

}  // namespace

// Terms up to where Euler and Maclaurin's remainder is small, then their formula.
double hurwitz_zeta(double x, double q) {
  constexpr double kOverFactorials[] = {1.0 / 12,
                                        -1.0 / 720,
                                        1.0 / 30240,
                                        -1.0 / 1209600,
                                        1.0 / 47900160,
                                        -691.0 / 1307674368000.0,
                                        1.0 / 74724249600.0,
                                        -3617.0 / 10670622842880000.0};
  if (x == 1) return kInfinity;
  if (!(x > 1) || std::isnan(q)) return kNaN;
  if (q <= 0 && q == std::floor(q)) return kInfinity;
  if (q < 0 && x != std::floor(x)) return kNaN;
  double sum = 0, at = q;
  for (; at < 12; at += 1) sum += std::pow(at, -x);
  const double last = std::pow(at, -x);
  sum += last * at / (x - 1) + last / 2;
  double factor = x * last / at;
  for (int j = 0; j < 8; ++j) {
    sum += factor * kOverFactorials[j];
    factor *= (x + 2 * j + 1) * (x + 2 * j + 2) / (at * at);
  }
  return sum;
}

namespace {

// Falls with q where q is positive. A whole q elsewhere is a pole; others are no numbers unless x
// is whole. From q = 1 on it falls with x too, which has to be above 1; below, (q + 0)^-x grows.
Families zeta_families(const Call& call) {
  const auto is_whole = [&call](std::string_view name) {
    const Knowledge known = know(call, name);
    return known.number ? known.number->real() == std::floor(known.number->real())
                        : holds_whole(call, name);
  };
  Families families;
  const Knowledge x = know(call, "self"), q = know(call, "other");
  if (call.has_tensor("other")) {
    if (is_whole("other"))
      families.push_back({kDecreasing, {"other"}});
    else if (x.number && !is_whole("self"))
      families.push_back({kDecreasingFromBelow, {"other"}});
  }
  const bool is_above_one = q.number ? q.number->real() >= 1 : is_whole("other");
  if (call.has_tensor("self") && is_above_one) families.push_back({kDecreasingFromBelow, {"self"}});
  return families;
}

void declare_zeta(Registrar& r) {
  const struct {
    std::string schema;
    std::initializer_list<std::string_view> samples;
  } forms[] = {{"special_zeta(Tensor self, Tensor other) -> Tensor",
                {"f64[5,3]:values(1.5,2,4); f64[5,3]", "f64[4,1]:values(1.5,2,4); f64[1,6]",
                 "f32[3,4]:values(2,3); f32[4]", "i64[5]:values(2,3); i64[5]:values(-1,1,2,4,6)",
                 "f32[5]:values(2,3); f32[]"}},
               {"special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
                {"f64[5,7]; self=2", "f32[4,1,6]; self=1.5", "i64[3,5]; self=3", "f64[6]; self=3",
                 "f64[2,3]; self=2.5"}},
               {"special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
                {"f64[5,7]:values(1.5,2,4); other=2", "f32[4,1,6]:values(1.5,2,4); other=1",
                 "i64[3,5]:values(2,3,5); other=3", "f64[6]:values(1.5,2,4); other=0.5",
                 "f64[2,3]:values(2,4); other=1.5"}}};
  for (const auto& [schema, samples] : forms) {
    OpBuilder& op = r.op(schema)
                        .summary("sum of (other + k)^-self over k = 0, 1, ...")
                        .pointwise(Promotion::kFloating, {"self", "other"})
                        .refuses(kNarrowFloats)
                        .flops(200)
                        .families(zeta_families)
                        .compute(FloatTypes{},
                                 [](auto x, auto q) {
                                   return static_cast<decltype(x)>(hurwitz_zeta(
                                       static_cast<double>(x), static_cast<double>(q)));
                                 })
                        .samples(samples);
    if (&schema == &forms[0].schema) op.also("prims.zeta");
  }
}

}  // namespace

void declare_gamma_functions(Registrar& r) {
  declare_gammas(r);
  declare_shares(r);
  declare_normals(r);
  declare_zeta(r);
}

}  // namespace pointwise
