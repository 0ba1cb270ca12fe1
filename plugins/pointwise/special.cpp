// Floating-point functions of two arguments.

#include <cmath>

#include "knowledge.hpp"

namespace pointwise {
namespace {

void declare_logaddexp(Registrar& r) {
  r.op("logaddexp(Tensor self, Tensor other) -> Tensor")
      .summary("log(exp(self) + exp(other)), without overflow")
      .pointwise()
      .refuses(kF8DTypes)
      .flops(20)
      .families({{kIncreasing, {"self"}}, {kIncreasing, {"other"}}})
      .compute(FloatTypes{},
               [](auto a, auto b) {
                 if (std::isinf(a) && a == b) return a;
                 const auto high = a != a || a > b ? a : b;
                 return high + std::log1p(std::exp(-std::abs(a - b)));
               })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "bf16[6]; bf16[6]",
                "f64[5]; f64[]", "f64[5]; other=0.5"})
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
    if (is_positive) families.push_back({kIncreasing, {"self"}});
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
                "bf16[6]; bf16[6]:nonzero"})
      .out("copysign.out");
  copysign("copysign.Scalar(Tensor self, Scalar other) -> Tensor")
      .samples({"f64[5,7]; other=2", "f32[4,1,6]; other=-1.5", "i64[3,5]; other=-1",
                "f64[5]; other=0.0", "bf16[7]; other=1", "i64[4]; other=1.5"})
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
                "bf16[6]; bf16[6]", "f64[5]; other=2"})
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
