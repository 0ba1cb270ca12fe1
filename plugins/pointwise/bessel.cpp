// Bessel functions, which waver, and modified ones, which rise or fall from 0 up.
//   f64[4,6]: modified K0 falls where it is defined, so P(max) | P(min): locals above a true value
//   that is positive are positive too; of P(max) they need not be

#include "special_function.hpp"

#include <boost/math/special_functions/airy.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <numbers>

namespace pointwise {
namespace {

const Families kRising = {{kIncreasing, {"self"}}};
const Families kFalling = {{kDecreasing, {"self"}}};
const Families kFallingFromBelow = {{kDecreasingFromBelow, {"self"}}};

// Some have `x` for an argument.
const Families kFallingInX = {{kDecreasing, {"x"}}};
const Families kFallingInXFromBelow = {{kDecreasingFromBelow, {"x"}}};

// sqrt(2 pi x) exp(-x) I_n(x), or sqrt(2 x / pi) exp(x) K_n(x), for large x: with m = 4 n^2,
// 1 -+ (m - 1) / (8 x) + (m - 1) (m - 9) / (2! (8 x)^2) -+ ...
double asymptotic(int n, double x, double sign) {
  const double m = 4.0 * n * n;
  double term = 1, sum = 1;
  for (int k = 1; k < 8; ++k) {
    term *= sign * (m - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
    sum += term;
  }
  return sum;
}

constexpr double kLarge = 500;  // beyond it exp(x) nears the end of double's range

double modified_i(int n, double x) {
  const double sign = n % 2 == 1 && x < 0 ? -1 : 1;
  return sign * boost::math::cyl_bessel_i(n, std::abs(x), Quiet());
}
double scaled_i(int n, double x) {
  const double size = std::abs(x), sign = n % 2 == 1 && x < 0 ? -1 : 1;
  if (std::isinf(x)) return 0;
  if (size < kLarge) return std::exp(-size) * modified_i(n, x);
  return sign * asymptotic(n, size, -1) / std::sqrt(2 * std::numbers::pi * size);
}
double modified_k(int n, double x) {
  if (x == 0) return kInfinity;
  if (!(x > 0)) return kNaN;
  return std::isinf(x) ? 0 : boost::math::cyl_bessel_k(n, x, Quiet());
}
double scaled_k(int n, double x) {
  if (!(x >= kLarge)) return std::exp(x) * modified_k(n, x);
  if (std::isinf(x)) return 0;
  return asymptotic(n, x, 1) * std::sqrt(std::numbers::pi / (2 * x));
}
double bessel_j(int n, double x) {
  if (std::isinf(x)) return 0;
  return boost::math::cyl_bessel_j(n, x, Quiet());
}
double bessel_y(int n, double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNaN;
  return std::isinf(x) ? 0 : boost::math::cyl_neumann(n, x, Quiet());
}

double spherical_bessel(double x) {
  if (std::isinf(x)) return 0;
  if (std::abs(x) > 0.5) return std::sin(x) / x;
  const double square = x * x;
  double term = 1, sum = 1;
  for (int k = 1; k < 9; ++k) {
    term *= -square / (2 * k * (2 * k + 1));
    sum += term;
  }
  return sum;
}

double airy(double x) {
  if (std::isinf(x)) return kNaN;
  return x > 104 ? 0 : boost::math::airy_ai(x, Quiet());
}

const std::initializer_list<std::string_view> kPositive = {
    "f64[5,7]:positive", "f32[4,1,6]:positive", "i64[3,5]:positive", "u8[7]:positive",
    "f64[6]:positive"};

void declare_modified(Registrar& r) {
  const auto rising_from_0 = where_nonnegative(kRising);
  special_function(r, "i0", "modified Bessel function I0 of each element",
                   [](double x) { return modified_i(0, x); })
      .families(rising_from_0)
      .samples(kSpecialSamples);
  special_function(r, "special_modified_bessel_i0", "modified Bessel function I0 of each element",
                   [](double x) { return modified_i(0, x); })
      .families(rising_from_0)
      .samples(kSpecialSamples);
  special_function(r, "special_i0e", "exp(-|x|) I0(x) of each element",
                   [](double x) { return scaled_i(0, x); })
      .families(where_nonnegative(kFalling))
      .samples(kSpecialSamples)
      .also("prims.bessel_i0e");
  special_function(r, "special_i1", "modified Bessel function I1 of each element",
                   [](double x) { return modified_i(1, x); })
      .families(kRising)
      .samples(kSpecialSamples)
      .also("prims.bessel_i1");
  special_function(r, "special_modified_bessel_i1", "modified Bessel function I1 of each element",
                   [](double x) { return modified_i(1, x); })
      .families(kRising)
      .samples(kSpecialSamples);
  special_function(r, "special_i1e", "exp(-|x|) I1(x) of each element",
                   [](double x) { return scaled_i(1, x); })
      .families(where_flag(kRising))
      .samples(kSpecialSamples)
      .also("prims.bessel_i1e");
  for (const int n : {0, 1}) {
    const std::string order = std::to_string(n);
    special_function(r, "special_modified_bessel_k" + order,
                     "modified Bessel function K" + order + " of each element",
                     [n](double x) { return modified_k(n, x); })
        .families(where_nonnegative(kFalling, kFallingFromBelow))
        .samples(kPositive);
    special_function(
        r, "special_scaled_modified_bessel_k" + order, "exp(x) K" + order + "(x) of each element",
        [n](double x) { return scaled_k(n, x); }, "x")
        .families(where_nonnegative(kFallingInX, kFallingInXFromBelow, "x"))
        .samples(kPositive);
  }
}

void declare_wavering(Registrar& r) {
  for (const int n : {0, 1}) {
    const std::string order = std::to_string(n);
    special_function(r, "special_bessel_j" + order,
                     "Bessel function J" + order + " of each element",
                     [n](double x) { return bessel_j(n, x); })
        .families(where_flag(n == 0 ? kFalling : kRising))
        .samples(kSpecialSamples)
        .also("prims.bessel_j" + order);
    special_function(r, "special_bessel_y" + order,
                     "Bessel function Y" + order + " of each element",
                     [n](double x) { return bessel_y(n, x); })
        .samples({"f64[5,7]:positive", "f32[4,1,6]:positive", "i64[3,5]:positive",
                  "f64[6]:positive", "f64[2,3]:positive"});
  }
  special_function(r, "special_spherical_bessel_j0", "sin(x) / x of each element", spherical_bessel,
                   "x")
      .families(where_flag(kFallingInX, {}, "x"))
      .samples(kSpecialSamples);
  // The same function, whose argument has another name.
  r.op("prims.spherical_bessel_j0(Tensor self) -> Tensor")
      .summary("sin(x) / x of each element")
      .pointwise(Promotion::kFloating)
      .refuses(kNarrowFloats)
      .flops(50)
      .families(where_flag(kFalling))
      .compute(FloatTypes{},
               [](auto x) { return static_cast<decltype(x)>(spherical_bessel(double{x})); })
      .samples(kSpecialSamples);
  special_function(r, "special_airy_ai", "Airy function Ai of each element", airy, "x")
      .families(where_nonnegative(kFallingInX, {}, "x"))
      .samples(kSpecialSamples);
}

}  // namespace

void declare_bessel(Registrar& r) {
  declare_modified(r);
  declare_wavering(r);
}

}  // namespace pointwise
