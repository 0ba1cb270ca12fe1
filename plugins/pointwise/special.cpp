// Floating-point functions of two arguments. logaddexp never falls in either, so one max or min
// passes beside a whole other one; of two the ranks that have the largest may differ. copysign is
// |x| times the sign of y, both multiplicative, and a step in y; in x it falls and rises. The angle
// atan2(y, x) rises in y only right of the axis, x >= 0, so x must be known.
//   logaddexp f64[4,6], f64[6]: S(1) | S(1), S(0);  P(max) | P(max), R;
//   no P(max) | P(max), P(max).  copysign.Tensor of them: P(product) | P(product), P(product);
//   P(max) | R, P(max).  atan2 f64[4,6], x = 2: P(max) | P(max)

#include <cmath>
#include <limits>

#include "knowledge.hpp"

namespace pointwise {
namespace {

// log(1 + z) without loss near 0.
template <typename T>
std::complex<T> log_of_one_plus(std::complex<T> z) {
  const T angle = std::atan2(z.imag(), z.real() + 1);
  if (std::abs(z) >= T(0.5)) return {std::log(std::hypot(z.real() + 1, z.imag())), angle};
  const T square = z.real() * (2 + z.real()) + z.imag() * z.imag();
  return {square == 0 ? z.real() : std::log1p(square) / 2, angle};
}

template <typename T>
T log_add_exp(T a, T b) {
  if (std::isinf(a) && a == b) return a;
  const T high = a != a || a > b ? a : b;
  return high + std::log1p(std::exp(-std::abs(a - b)));
}

// Scaled by the operand with the greater real part.
template <typename T>
std::complex<T> log_add_exp(std::complex<T> a, std::complex<T> b) {
  const auto has_nan = [](std::complex<T> z) {
    return std::isnan(z.real()) || std::isnan(z.imag());
  };
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  if (has_nan(a) || has_nan(b)) return {kNaN, kNaN};
  const std::complex<T> low = a.real() < b.real() ? a : b, high = a.real() >= b.real() ? a : b;
  if (!std::isfinite(low.real()) && low.real() == high.real())
    return low.real() < 0 ? low : std::log(std::exp(low) + std::exp(high));
  return log_of_one_plus(std::exp(low - high)) + high;
}

void declare_logaddexp(Registrar& r) {
  r.op("logaddexp(Tensor self, Tensor other) -> Tensor")
      .summary("log(exp(self) + exp(other)), without overflow")
      .pointwise()
      .refuses(kF8DTypes)
      .flops(20)
      .families({{kIncreasing, {"self"}}, {kIncreasing, {"other"}}})
      .compute(FloatComplexTypes{}, [](auto a, auto b) { return log_add_exp(a, b); })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "bf16[6]; bf16[6]",
                "c128[3,4]; c128[4]", "f64[5]; f64[]", "f64[5]; other=0.5"})
      .out("logaddexp.out");
}

// |self| with the sign of other: a step in other, hence monotone; signs multiply as the numbers do,
// where there is a negative zero to keep the sign of a vanishing product.
Families copysign_families(const Call& call) {
  const Knowledge self = know(call, "self"), other = know(call, "other");
  const bool is_positive =
      other.nonnegative && !(other.number && std::signbit(other.number->real()));
  Families families = {{kIncreasing, {"other"}}};
  const TensorView sign = call.tensor("other");
  if (sign.present() && category(sign.dtype()) >= 2)
    families.push_back({kMultiplicative, {"self", "other"}});
  if (is_positive) families.push_back({kMultiplicative, {"self"}});
  if (self.nonnegative) {
    families.push_back({kLinear, {"self"}});
    if (is_positive) add_identity(families, call, "self");
    if (other.number && !is_positive) families.push_back({kDecreasing, {"self"}});
  }
  return families;
}

void declare_copysign(Registrar& r) {
  const auto copysign = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("the magnitude of self with the sign of other")
        .pointwise(Promotion::kFloating, {"self", "other"})
        .refuses(kF8DTypes)
        .families(copysign_families)
        .compute(FloatTypes{}, [](auto a, auto b) { return std::copysign(a, b); })
        .in_place();
  };
  copysign("copysign.Tensor(Tensor self, Tensor other) -> Tensor")
      .samples({"f64[5,7]; f64[5,7]:nonzero", "f64[4,1]; f64[1,6]:nonzero",
                "f32[3,4]; f32[4]:nonzero", "i64[5,3]; i64[3]", "f32[5]; i64[5]",
                "bf16[6]; bf16[6]:nonzero", "f64[2,3]; f64[2,1]:nonzero"})
      .out("copysign.out");
  copysign("copysign.Scalar(Tensor self, Scalar other) -> Tensor")
      .samples({"f64[5,7]; other=2", "f32[4,1,6]; other=-1.5", "i64[3,5]; other=-1",
                "f64[5]; other=0.0", "bf16[7]; other=1", "i64[4]; other=1.5", "f64[2,3]; other=-1"})
      .out("copysign.Scalar_out");
}

// The angle is monotone in one coordinate on the half plane that the sign of the other names.
Families angle_families(const Call& call) {
  Families families;
  const std::optional<std::complex<double>> y = know(call, "self").number,
                                            x = know(call, "other").number;
  if (x && x->real() >= 0) families.push_back({kIncreasing, {"self"}});
  if (y)
    families.push_back(
        {std::signbit(y->real()) ? KindTable(kIncreasing) : KindTable(kDecreasing), {"other"}});
  return families;
}

void declare_atan2(Registrar& r) {
  r.op("atan2(Tensor self, Tensor other) -> Tensor")
      .summary("the angle of the point (other, self)")
      .pointwise(Promotion::kFloating)
      .refuses(kF8DTypes)
      .flops(20)
      .families(angle_families)
      .compute(FloatTypes{}, [](auto a, auto b) { return std::atan2(a, b); })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "i64[5,3]; i64[3]",
                "bf16[6]; bf16[6]", "f64[5]; other=2", "f16[2,3]; f16[3]"})
      .in_place()
      .out("atan2.out");
}

}  // namespace

void declare_special(Registrar& r) {
  declare_logaddexp(r);
  declare_copysign(r);
  declare_atan2(r);
}

}  // namespace pointwise
