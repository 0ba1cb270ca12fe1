// Orthogonal polynomials p_n(x), each by its recurrence p_k = (a_k x + b_k) p_(k-1) - c_k p_(k-2).
// A degree below 0 gives 0. Of degree 1 they are straight lines, which pass what lines pass; of
// other degrees nothing but shards passes. At one x the degree passes max and min where p_n(x)
// never falls as n grows: Chebyshev's and Legendre's from x = 1 on, Laguerre's up to x = 0.
//   x f64[4,6], n = 3: S(0) | S(0); n = 1 of the first kind is x itself: P(sum) | P(sum)

#include <cmath>

#include "special_function.hpp"

namespace pointwise {
namespace {

struct Step {
  double a, b, c;
};

// Where p_n(x) never falls as n grows; from n = -1 to 0 it rises to 1 everywhere.
enum class Rises { kNowhere, kFromOne, kUpToZero };

// p_0 is 1 and p_1 is slope * x + offset.
struct Polynomial {
  std::string_view name;
  std::string_view summary;
  double slope;
  double offset;
  Step (*step)(double k);
  Rises rises = Rises::kFromOne;
};

// Chebyshev's four kinds differ in p_1 alone; shifted ones take 2 x - 1.
Step chebyshev_step(double) { return {2, 0, 1}; }
Step shifted_step(double) { return {4, -2, 1}; }

constexpr Polynomial kPolynomials[] = {
    {"chebyshev_polynomial_t", "Chebyshev polynomial of the first kind", 1, 0, chebyshev_step},
    {"chebyshev_polynomial_u", "Chebyshev polynomial of the second kind", 2, 0, chebyshev_step},
    {"chebyshev_polynomial_v", "Chebyshev polynomial of the third kind", 2, -1, chebyshev_step},
    {"chebyshev_polynomial_w", "Chebyshev polynomial of the fourth kind", 2, 1, chebyshev_step},
    {"shifted_chebyshev_polynomial_t", "shifted Chebyshev polynomial of the first kind", 2, -1,
     shifted_step},
    {"shifted_chebyshev_polynomial_u", "shifted Chebyshev polynomial of the second kind", 4, -2,
     shifted_step},
    {"shifted_chebyshev_polynomial_v", "shifted Chebyshev polynomial of the third kind", 4, -3,
     shifted_step},
    {"shifted_chebyshev_polynomial_w", "shifted Chebyshev polynomial of the fourth kind", 4, -1,
     shifted_step},
    {"hermite_polynomial_h", "physicists' Hermite polynomial", 2, 0,
     [](double k) {
       return Step{2, 0, 2 * (k - 1)};
     },
     Rises::kNowhere},
    {"hermite_polynomial_he", "probabilists' Hermite polynomial", 1, 0,
     [](double k) {
       return Step{1, 0, k - 1};
     },
     Rises::kNowhere},
    {"laguerre_polynomial_l", "Laguerre polynomial", -1, 1,
     [](double k) {
       return Step{-1 / k, (2 * k - 1) / k, (k - 1) / k};
     },
     Rises::kUpToZero},
    {"legendre_polynomial_p", "Legendre polynomial", 1, 0,
     [](double k) {
       return Step{(2 * k - 1) / k, 0, (k - 1) / k};
     }},
};

bool rises_at(const Polynomial& polynomial, double x) {
  return polynomial.rises == Rises::kFromOne ? x >= 1
                                             : polynomial.rises == Rises::kUpToZero && x <= 0;
}

// What rises beyond the range stays infinite; elsewhere infinities may cancel to NaN.
double evaluate(const Polynomial& polynomial, double x, double degree) {
  const double n = std::trunc(degree);
  if (!(n >= 0)) return n < 0 ? 0 : kNaN;
  if (n == 0) return 1;
  const bool rises = rises_at(polynomial, x);
  double before = 1, now = polynomial.slope * x + polynomial.offset;
  for (double k = 2; k <= n && !std::isnan(now) && !(rises && std::isinf(now)); ++k) {
    const Step step = polynomial.step(k);
    const double next = (step.a * x + step.b) * now - step.c * before;
    before = now;
    now = next;
  }
  return now;
}

// Of a degree that is a number: x itself, a multiple of it, or a line. Of an x that is one: whether
// it is where degrees rise.
Families families_of(const Call& call, const Polynomial& polynomial) {
  const Knowledge degree = know(call, "n"), x = know(call, "x");
  if (x.number && rises_at(polynomial, x.number->real())) return {{kIncreasing, {"n"}}};
  if (!degree.number || std::trunc(degree.number->real()) != 1) return {};
  Families families = {{polynomial.offset == 0 ? KindTable(kLinear) : KindTable(kAffine), {"x"}}};
  add_scaled(families, "x", polynomial.slope > 0 ? 1 : -1);
  if (polynomial.offset == 0 && polynomial.slope == 1) add_identity(families, call, "x");
  return families;
}

void declare(Registrar& r, const Polynomial& polynomial) {
  const std::string op = "special_" + std::string(polynomial.name);
  const auto form = [&](const std::string& schema, const std::string& out) -> OpBuilder& {
    return r.op(op + schema)
        .summary(std::string(polynomial.summary) + " of degree n of x")
        .pointwise(Promotion::kFloating, {"x", "n"})
        .refuses(kNarrowFloats)
        .flops(30)
        .families([polynomial](const Call& call) { return families_of(call, polynomial); })
        .compute(FloatTypes{},
                 [polynomial](auto x, auto n) {
                   return static_cast<decltype(x)>(
                       evaluate(polynomial, static_cast<double>(x), static_cast<double>(n)));
                 })
        .out(op + out);
  };
  form("(Tensor x, Tensor n) -> Tensor", ".out")
      .samples({"f64[5,7]; i64[5,7]:values(0,1,2,5)", "f64[4,1]; f64[1,6]:values(2,3,4)",
                "f32[3,4]; i64[4]:values(1,3,8)", "i64[5]; i64[5]:values(0,2,3)",
                "f32[5]; i64[]:values(2,3,4)"});
  form(".n_scalar(Tensor x, Scalar n) -> Tensor", ".n_scalar_out")
      .samples(
          {"f64[5,7]; n=3", "f32[4,1,6]; n=2", "i64[3,5]; n=4", "f64[6]; n=1", "f64[2,3]; n=5"});
  form(".x_scalar(Scalar x, Tensor n) -> Tensor", ".x_scalar_out")
      .samples({"i64[5,7]:values(-1,0,1,2,3,5); x=0.5", "f32[4,1,6]:values(-1,0,1,2,3,4); x=-0.75",
                "i64[3,5]:values(-1,0,1,3,5,8); x=2", "f64[6]:values(-1,0,1,4); x=1.5",
                "i64[2,3]:values(-1,0,1,2,3); x=0.25"});
}

}  // namespace

void declare_polynomials(Registrar& r) {
  for (const Polynomial& polynomial : kPolynomials) declare(r, polynomial);
}

}  // namespace pointwise
