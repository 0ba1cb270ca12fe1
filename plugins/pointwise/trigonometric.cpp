// Circular and hyperbolic functions and their inverses. Where one is monotone on the whole line it
// passes max and min; the inverses of cosine and sine only know [-1, 1], which locals may leave.
//   f64[4,6]: sinh of P(max) is P(max); asinh and atan likewise; cosh is even, so it is not

#include <cmath>

#include "float_functions.hpp"

namespace pointwise {
namespace {

const Families kRising = {{kIncreasing, {"self"}}};
const Families kFalling = {{kDecreasing, {"self"}}};
const Families kRisingBelowTop = {{kIncreasingFromAbove, {"self"}}};
const Families kFallingBelowTop = {{kDecreasingFromAbove, {"self"}}};

const std::initializer_list<std::string_view> kUnit = {
    "f64[5,7]:unit",     "f32[4,1,6]:unit", "i64[3,5]:values(-1,0,1)",
    "u8[7]:values(0,1)", "bf16[6]:unit",    "bool[6]",
    "c128[3,4]",         "f64[]:unit"};

void declare_circular(Registrar& r) {
  float_function(r, "tan", "tangent of each element")
      .families(where_flag(kRising))
      .compute(FloatComplexTypes{}, [](auto x) { return std::tan(x); })
      .samples(kComplexSamples)
      .over_lists(list_form("tan"));
  float_function(r, "acos", "inverse cosine of each element")
      .families(where_flag(kFalling, kFallingBelowTop))
      .compute(FloatComplexTypes{}, [](auto x) { return std::acos(x); })
      .samples(kUnit)
      .over_lists(list_form("acos"));
  float_function(r, "asin", "inverse sine of each element")
      .families(where_flag(kRising, kRisingBelowTop))
      .compute(FloatComplexTypes{}, [](auto x) { return std::asin(x); })
      .samples(kUnit)
      .over_lists(list_form("asin"));
  float_function(r, "atan", "inverse tangent of each element")
      .families(kRising)
      .compute(FloatComplexTypes{}, [](auto x) { return std::atan(x); })
      .samples(kComplexSamples)
      .over_lists(list_form("atan"));
}

void declare_hyperbolic(Registrar& r) {
  float_function(r, "sinh", "hyperbolic sine of each element")
      .families(kRising)
      .compute(FloatComplexTypes{}, [](auto x) { return std::sinh(x); })
      .samples(kComplexSamples)
      .over_lists(list_form("sinh"));
  float_function(r, "cosh", "hyperbolic cosine of each element")
      .families(where_nonnegative(kRising))
      .compute(FloatComplexTypes{}, [](auto x) { return std::cosh(x); })
      .samples(kComplexSamples)
      .over_lists(list_form("cosh"));
  float_function(r, "asinh", "inverse hyperbolic sine of each element")
      .families(kRising)
      .compute(FloatComplexTypes{}, [](auto x) { return std::asinh(x); })
      .samples(kComplexSamples);
  float_function(r, "acosh", "inverse hyperbolic cosine of each element, from 1 on")
      .families({{kIncreasingFromBelow, {"self"}}})
      .compute(FloatComplexTypes{}, [](auto x) { return std::acosh(x); })
      .samples({"f64[5,7]:values(1,1.5,2,4,9)", "f32[4,1,6]:values(1,1.5,2,4,9)",
                "i64[3,5]:values(1,2,5)", "bf16[6]:values(1,2,4)", "c128[3,4]",
                "f64[]:values(1,2,3)"});
  float_function(r, "atanh", "inverse hyperbolic tangent of each element")
      .families([](const Call& call) {
        return know(call, "self").nonnegative ? kRisingBelowTop : Families{};
      })
      .compute(FloatComplexTypes{}, [](auto x) { return std::atanh(x); })
      .samples({"f64[5,7]:values(-0.9,-0.5,0,0.25,0.75)", "f32[4,1,6]:values(-0.9,0,0.5)",
                "bf16[6]:values(-0.5,0,0.25)", "c128[3,4]", "f64[]:values(-0.5,0.5)",
                "f16[5]:values(-0.5,0,0.5)"});
}

// sin(pi x) / (pi x), 1 at 0.
template <typename C>
C sinc(C x) {
  if (x == C(0)) return C(1);
  const C turn = x * C(3.14159265358979323846);
  return std::sin(turn) / turn;
}

void declare_angles(Registrar& r) {
  float_function(r, "sinc", "sin(pi x) / (pi x) of each element")
      .families(where_flag(kFalling))
      .compute(FloatComplexTypes{}, [](auto x) { return sinc(x); })
      .samples(kComplexSamples);
  const Families scaled = {{kLinear, {"self"}}, {kIncreasing, {"self"}}};
  float_function(r, "deg2rad", "degrees to radians")
      .families(scaled)
      .compute(FloatTypes{}, [](auto x) { return x * decltype(x)(0.017453292519943295); })
      .samples(kRealSamples);
  float_function(r, "rad2deg", "radians to degrees")
      .families(scaled)
      .compute(FloatTypes{}, [](auto x) { return x * decltype(x)(57.295779513082323); })
      .samples(kRealSamples);
}

}  // namespace

void declare_trigonometric(Registrar& r) {
  declare_circular(r);
  declare_hyperbolic(r);
  declare_angles(r);
}

}  // namespace pointwise
