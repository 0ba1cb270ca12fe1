// Powers. (x y)^e = x^e y^e for whole e or for factors that are never negative, so products pass in
// the base; b^(x + y) = b^x b^y makes a product of a sum of exponents. Max and min pass where the
// power never falls: for odd e > 0, or on a base that is never negative. What passes depends on the
// exponent, or on the base, where one of them is a number.
//   pow.Tensor_Scalar f64[4,6], e = 3: P(max) | P(max);  P(product) | P(product).  e = 2:
//   no P(max) | P(max), as max(-3, 1)^2 is 1 and max(9, 1) is 9.  pow.Scalar 2 to f64[4,6]:
//   P(product) | P(sum)

#include <cmath>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

bool is_integer(double value) { return std::floor(value) == value && std::isfinite(value); }

// x^exponent.
Families power_families(const Call& call, std::complex<double> exponent) {
  constexpr std::string_view kBase = "self";
  const bool is_real = exponent.imag() == 0;
  const double e = exponent.real();
  Families families;
  if (exponent == 1.0) {
    add_identity(families, call, kBase);
    return families;
  }
  const bool is_whole = is_real && is_integer(e);
  const bool nonnegative = know(call, kBase).nonnegative;
  if (know(call, kBase).is_flag && is_real && e > 0) add_flag_result(families, call, kBase);
  if (is_whole || (nonnegative && is_real)) families.push_back({kMultiplicative, {kBase}});
  if (!is_real || e == 0) return families;
  if (nonnegative || (is_whole && e > 0 && std::fmod(e, 2) != 0)) {
    families.push_back({e > 0 ? KindTable(kIncreasing) : KindTable(kDecreasing), {kBase}});
  } else if (!is_whole) {
    families.push_back(
        {e > 0 ? KindTable(kIncreasingFromBelow) : KindTable(kDecreasingFromBelow), {kBase}});
  }
  return families;
}

// base^x. Integers cut negative powers to 0 and wrap beyond their range, so there only sums of
// exponents that are not negative pass, or of any for the base -1, whose powers tell odd from even:
// a product is odd if all its factors are.
constexpr std::array<KindPair, 1> kOddProduct = {{{"product", "max"}}};

Families exponential_families(const Call& call, std::complex<double> base) {
  constexpr std::string_view kExponent = "exponent";
  const DType dtype = call.output().dtype();
  const bool nonnegative = know(call, kExponent).nonnegative;
  const bool is_whole = category(call.tensor(kExponent).dtype()) < 2;
  const bool is_positive = base.imag() == 0 && base.real() > 0;
  const bool adds = category(dtype) < 2
                        ? nonnegative || base == -1.0
                        : is_positive || is_whole || (is_complex(dtype) && base != 0.0);
  Families families;
  if (adds) families.push_back({kExponential, {kExponent}});
  if (is_whole && base == -1.0) families.push_back({kOddProduct, {kExponent}});
  if (category(dtype) < 2) return families;
  if (is_positive && base.real() > 1) families.push_back({kIncreasing, {kExponent}});
  if (is_positive && base.real() < 1) families.push_back({kDecreasing, {kExponent}});
  return families;
}

// Base and exponent are tensors; the true base of a fractional power is positive.
Families power_families(const Call& call) {
  const std::optional<std::complex<double>> base = know(call, "self").number;
  if (base) return exponential_families(call, *base);
  const Knowledge exponent = know(call, "exponent");
  if (exponent.number) return power_families(call, *exponent.number);
  Families families;
  if (category(call.output().dtype()) >= 2 || exponent.nonnegative)
    families.push_back({kExponential, {"exponent"}});
  if (category(call.tensor("exponent").dtype()) < 2)
    families.push_back({kMultiplicative, {"self"}});
  if (know(call, "self").nonnegative && exponent.nonnegative)
    families.push_back({kIncreasing, {"self"}});
  return families;
}

PointwiseDTypes power_dtypes(const Call& call) {
  const DType dtype = common_dtype(call, std::array<std::string, 2>{"self", "exponent"});
  const Knowledge exponent = know(call, "exponent");
  require(category(dtype) >= 2 || !exponent.number || exponent.number->real() >= 0,
          "integers to negative integer powers are not allowed");
  return {dtype, dtype};
}

int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = times(result, base);
    base = times(base, base);
  }
  return result;
}

template <typename C>
C power(C base, C exponent) {
  if constexpr (!std::is_floating_point_v<C>) {
    if (exponent == C(2)) return times(base, base);
    if (exponent == C(0.5)) return std::sqrt(base);
  }
  return std::pow(base, exponent);
}

void declare_pow(Registrar& r) {
  const auto pow = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("self to the power of exponent")
        .pointwise(power_dtypes, {"self", "exponent"})
        .refuses(kF8DTypes | kBoolDTypes)
        .flops(16)
        .families([](const Call& call) { return power_families(call); })
        .compute(AllTypes{}, [](auto a, auto b) { return power(a, b); });
  };
  pow("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
      .samples({"f64[5,7]:positive; f64[5,7]", "f64[4,1]:positive; f64[1,6]",
                "f32[5,3]:nonzero; i64[3]", "i64[5,3]; i64[3]:nonnegative",
                "i64[3]; u8[5,3]:values(0,1,2)", "c128[3,4]:nonzero; c128[4]",
                "bf16[6]:positive; bf16[6]"})
      .in_place("pow_.Tensor")
      .out("pow.Tensor_Tensor_out")
      .over_lists("_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]");
  pow("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
      .samples({"f64[5,7]; exponent=2", "f64[4,1,6]; exponent=3", "f64[5]; exponent=1",
                "f64[3,5]:nonnegative; exponent=0.5", "f32[5]:nonzero; exponent=-1",
                "f64[7]:positive; exponent=-0.5", "f64[5]; exponent=0", "i64[3,5]; exponent=2",
                "i64[5]; exponent=3", "i64[5]:nonnegative; exponent=1.5", "u8[5]; exponent=2.0",
                "c128[3,4]; exponent=2", "bf16[6]; exponent=3"})
      .in_place("pow_.Scalar")
      .out("pow.Tensor_Scalar_out")
      .over_lists("_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]")
      .over_lists("_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]");
  pow("pow.Scalar(Scalar self, Tensor exponent) -> Tensor")
      .samples({"f64[5,7]; self=2", "f32[4,1,6]; self=0.5", "i64[3,5]; self=-1", "f64[5]; self=1",
                "i64[5]; self=2.5", "c128[3]; self=2", "bf16[6]; self=2"})
      .out("pow.Scalar_out")
      .over_lists("_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
                  OpBuilder::ListForms::kNotInPlace);
}

// In f64, or c128, whatever the arguments' dtypes.
PointwiseDTypes float_power_dtypes(const Call& call) {
  const DType dtype = common_dtype(call, std::array<std::string, 2>{"self", "exponent"});
  const DType wide = is_complex(dtype) ? DType::kC128 : DType::kF64;
  return {wide, wide};
}

void declare_float_power(Registrar& r) {
  const auto float_power = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("self to the power of exponent, in f64")
        .pointwise(float_power_dtypes, {"self", "exponent"})
        .flops(16)
        .families([](const Call& call) { return power_families(call); })
        .compute(ComputeTypes<double, std::complex<double>>{},
                 [](auto a, auto b) { return power(a, b); });
  };
  float_power("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
      .samples({"f64[5,7]:positive; f64[5,7]", "f32[4,1]:positive; f32[1,6]",
                "i64[5,3]:nonzero; i64[3]", "c128[3,4]:nonzero; c128[4]",
                "bf16[6]:positive; bf16[6]", "f64[2,3]:positive; f32[3]",
                "f64[4]:positive; i64[4]"})
      .in_place("float_power_.Tensor")
      .out("float_power.Tensor_Tensor_out");
  float_power("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
      .samples({"f64[5,7]; exponent=2", "f32[4,1,6]; exponent=3", "i64[5]:nonzero; exponent=-1",
                "f64[3,5]:nonnegative; exponent=0.5", "c128[3,4]; exponent=2",
                "f64[4,2]:positive; exponent=-1.5"})
      .in_place("float_power_.Scalar")
      .out("float_power.Tensor_Scalar_out");
  float_power("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor")
      .samples({"f64[5,7]; self=2", "f32[4,1,6]; self=0.5", "i64[3,5]; self=3", "f64[5]; self=1",
                "c128[3]; self=2"})
      .out("float_power.Scalar_out");
}

}  // namespace

void declare_power(Registrar& r) {
  declare_pow(r);
  declare_float_power(r);
}

}  // namespace pointwise
