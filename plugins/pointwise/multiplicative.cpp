// Products and quotients. A product is linear in each factor beside a whole other one, a quotient
// in its dividend; of two sums the cross terms x_r y_s of different ranks would be missing.
// Products of factors are factors' products, so P(product) passes in both at once, and not beside a
// whole factor, which would count once a rank. A max passes beside a number whose sign is known.
//   mul.Tensor f64[4,6], f64[6]: S(1) | S(1), S(0);  P(sum) | P(sum), R;
//   P(product) | P(product), P(product);  no P(sum) | P(sum), P(sum).  mul.Scalar f64[4,6] by -3:
//   P(max) | P(min)

#include <cmath>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

int sign_of(const Knowledge& known) { return known.nonnegative ? 1 : known.nonpositive ? -1 : 0; }

// Products are linear in each factor and multiplicative in both. A factor of known sign also keeps
// or swaps max and min; one that is 0 or 1 is its own square, so products pass it.
void add_factor(Families& families, std::string_view name, const Knowledge& other) {
  families.push_back({kLinear, {name}});
  add_scaled(families, name, sign_of(other));
  if (other.is_flag) families.push_back({kMultiplicative, {name}});
}

Families product_families(const Call& call) {
  const Knowledge self = know(call, "self"), other = know(call, "other");
  Families families = {{kMultiplicative, {"self", "other"}}};
  add_factor(families, "self", other);
  add_factor(families, "other", self);
  if (self.is(1)) add_identity(families, call, "other");
  if (other.is(1)) add_identity(families, call, "self");
  const bool is_and = self.nonnegative && other.nonnegative && (self.is_flag || other.is_flag);
  if (is_and) families.push_back({kMinPreserving, {"self", "other"}});
  return families;
}

// The product of flags is their min.
void flag_rules(const Call& call, RuleSink& rules) {
  if (know(call, "other").is_flag)
    add_partial_rule(call, rules, "product", {{"self", "product"}, {"other", "min"}});
  if (know(call, "self").is_flag)
    add_partial_rule(call, rules, "product", {{"self", "min"}, {"other", "product"}});
}

void declare_mul(Registrar& r) {
  const auto mul = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("self * other")
        .pointwise(Promotion::kCommon, {"self", "other"})
        .refuses(kF8DTypes)
        .families(product_families)
        .rules(flag_rules)
        .compute(AllTypes{}, [](auto a, auto b) { return times(a, b); });
  };
  mul("mul.Tensor(Tensor self, Tensor other) -> Tensor")
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "i64[5,3]; i64[3]",
                "bool[7]; bool[7]", "f32[5]; bool[5]", "f32[5]; i64[5]", "c64[3,4]; c64[4]",
                "bf16[6]; bf16[6]", "f64[5]; other=2.5", "f32[3,1,2]; other=-1", "f32[5,2]; f32[]",
                "f64[2,3]; f64[]", "i64[4]; i64[]", "bf16[5]; bf16[]", "c64[2]; c64[]"})
      .in_place()
      .out("mul.out")
      .over_lists("_foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]")
      .over_lists("_foreach_mul.Tensor(Tensor[] self, Tensor other) -> Tensor[]");
  mul("mul.Scalar(Tensor self, Scalar other) -> Tensor")
      .samples({"f64[5,7]; other=3", "f32[4,1,6]; other=-1.5", "i64[3,5]; other=2",
                "f64[5]; other=1", "f64[4]; other=0", "i64[5]; other=-0.5", "bool[6]; other=2",
                "c64[3,2]; other=2", "bf16[7]; other=1.5"})
      .in_place()
      .out("mul.Scalar_out")
      .over_lists("_foreach_mul.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
      .over_lists("_foreach_mul.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]");
}

enum class Rounding { kNone, kFloor, kTrunc };

Rounding rounding_of(const Call& call) {
  if (!call.has_attribute("rounding_mode")) return Rounding::kNone;
  const auto mode = call.attribute<std::string_view>("rounding_mode");
  require(mode == "floor" || mode == "trunc", "rounding_mode must be floor, trunc or none");
  return mode == "floor" ? Rounding::kFloor : Rounding::kTrunc;
}

Families quotient_families(const Call& call) {
  const Knowledge self = know(call, "self"), other = know(call, "other");
  const bool is_rounded = rounding_of(call) != Rounding::kNone;
  const bool is_whole = is_rounded && category(call.output().dtype()) < 2;
  Families families;
  if (!is_rounded) families = {{kLinear, {"self"}}, {kMultiplicative, {"self", "other"}}};
  if (!is_rounded && other.is(1)) add_identity(families, call, "self");
  if (is_whole && other.is(1)) families.push_back({kIdentity, {"self"}});
  if (is_whole && other.is(-1)) families.push_back({kLinear, {"self"}});
  add_scaled(families, "self", sign_of(other));
  if (self.nonnegative && other.nonnegative) families.push_back({kDecreasing, {"other"}});
  return families;
}

PointwiseDTypes quotient_dtypes(const Call& call) {
  DType dtype = common_dtype(call, std::array<std::string, 2>{"self", "other"});
  const bool is_rounded = rounding_of(call) != Rounding::kNone;
  if (!is_rounded) dtype = to_floating(dtype);
  require(!is_rounded || !(is_bool(dtype) || is_complex(dtype)),
          "division with rounding is not defined for bool and complex");
  return {dtype, dtype};
}

// Python's floor division: exact quotients stay exact, and the result is never above a / b.
template <typename C>
C floor_divide(C a, C b) {
  if (b == 0) return a / b;
  const C remainder = std::fmod(a, b);
  C quotient = (a - remainder) / b;
  if (remainder != 0 && (b < 0) != (remainder < 0)) quotient -= C(1);
  if (quotient == 0) return std::copysign(C(0), a / b);
  const C rounded = std::floor(quotient);
  return quotient - rounded > C(0.5) ? rounded + C(1) : rounded;
}

// `b` is not 0.
int64_t divide_integers(int64_t a, int64_t b, bool floors) {
  if (b == -1) return minus<int64_t>(0, a);
  const int64_t quotient = a / b;
  return floors && a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

template <typename C>
C divide(C a, C b, Rounding rounding) {
  if constexpr (std::is_integral_v<C>) {
    return divide_integers(a, b, rounding == Rounding::kFloor);
  } else if constexpr (std::is_floating_point_v<C>) {
    if (rounding == Rounding::kFloor) return floor_divide(a, b);
    return rounding == Rounding::kTrunc ? std::trunc(a / b) : a / b;
  } else {
    return a / b;
  }
}

// Integers have no infinity, so a zero is found before anything is written.
void check_divisor(const Call& call, DType dtype) {
  if (!is_integral(dtype)) return;
  const Operand other = operand(call, "other");
  const std::vector<int64_t> divisors = other.tensor.present()
                                            ? load_dense<int64_t>(other.tensor)
                                            : std::vector<int64_t>{other.value->integer};
  require(std::find(divisors.begin(), divisors.end(), 0) == divisors.end(),
          "integer division by zero");
}

OpBuilder& quotient(Registrar& r, std::string_view schema, std::string_view summary) {
  return r.op(schema)
      .summary(summary)
      .pointwise(quotient_dtypes, {"self", "other"})
      .refuses(kF8DTypes)
      .families(quotient_families)
      .elementwise<2>(AllTypes{}, [](const Call& call) {
        const Rounding rounding = rounding_of(call);
        check_divisor(call, quotient_dtypes(call).compute);
        return [rounding](auto a, auto b) { return divide(a, b, rounding); };
      });
}

void declare_div(Registrar& r) {
  quotient(r, "div.Tensor(Tensor self, Tensor other) -> Tensor", "self / other, in floating point")
      .samples({"f64[5,7]; f64[5,7]:nonzero", "f64[4,1]; f64[1,6]:nonzero",
                "f32[3,4]; f32[4]:nonzero", "i64[5,3]; i64[3]:nonzero", "f32[5]; i64[5]:nonzero",
                "c64[3,4]; c64[4]:nonzero", "bf16[6]; bf16[6]:nonzero", "f64[5]; other=-2.5",
                "f32[5]; f32[]:nonzero", "f64[2,3]; f64[]:nonzero", "f32[4,1]; f32[]:nonzero",
                "bf16[5]; bf16[]:nonzero", "c64[2]; c64[]:nonzero"})
      .also("true_divide.Tensor", true)
      .also("prims.div")
      .in_place()
      .out("div.out")
      .over_lists("_foreach_div.List(Tensor[] self, Tensor[] other) -> Tensor[]")
      .over_lists("_foreach_div.Tensor(Tensor[] self, Tensor other) -> Tensor[]");
  quotient(r, "div.Scalar(Tensor self, Scalar other) -> Tensor", "self / other, in floating point")
      .samples({"f64[5,7]; other=4", "f32[4,1,6]; other=-1.5", "i64[3,5]; other=2",
                "f64[5]; other=1", "bool[6]; other=2", "c64[3,2]; other=2", "bf16[7]; other=-2"})
      .also("true_divide.Scalar", true)
      .in_place()
      .out("div.Scalar_out")
      .over_lists("_foreach_div.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
      .over_lists("_foreach_div.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]");
}

void declare_div_mode(Registrar& r) {
  quotient(r, "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
           "self / other, rounded to integers: floor, trunc or not at all")
      .samples({"f64[5,7]; f64[5,7]:nonzero; rounding_mode=floor",
                "f64[4,1]; f64[1,6]:nonzero; rounding_mode=trunc",
                "f32[3,4]; f32[4]:nonzero; rounding_mode=null",
                "i64[5,3]; i64[3]:nonzero; rounding_mode=floor",
                "i64[5]; i64[]:nonzero; rounding_mode=trunc",
                "f64[5]; other=2.5; rounding_mode=floor",
                "bf16[6]; bf16[6]:nonzero; rounding_mode=trunc"})
      .in_place()
      .out("div.out_mode");
  quotient(r, "div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
           "self / other, rounded to integers: floor, trunc or not at all")
      .samples({"f64[5,7]; other=2; rounding_mode=floor",
                "f32[4,1,6]; other=-1.5; rounding_mode=trunc",
                "i64[3,5]; other=2; rounding_mode=floor", "i64[5]; other=1; rounding_mode=trunc",
                "i64[5]; other=-1; rounding_mode=floor", "f64[5]; other=1; rounding_mode=trunc",
                "i64[3]; other=4; rounding_mode=null"})
      .in_place()
      .out("div.Scalar_mode_out");
}

}  // namespace

void declare_multiplicative(Registrar& r) {
  declare_mul(r);
  declare_div(r);
  declare_div_mode(r);
}

}  // namespace pointwise
