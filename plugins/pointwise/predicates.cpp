// Questions about single numbers: their sign, and whether they are numbers at all.
//   f64[4]: isnan of P(max) is P(max): a max of which one is no number is none

#include <cmath>
#include <limits>

#include "float_functions.hpp"

namespace pointwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const uint64_t kComplexDTypes = dtype_bit(DType::kC64) | dtype_bit(DType::kC128);

// Both extremes propagate what is no number.
constexpr std::array<KindPair, 2> kAnyNaN = {{{"max", "max"}, {"min", "max"}}};

// Sums and products are finite if all their parts are: infinity plus or times anything is infinite
// or no number. (A sum of finite numbers that overflows is beyond what rules speak of.)
constexpr std::array<KindPair, 3> kAllFinite = {
    {{"sum", "min"}, {"avg", "min"}, {"product", "min"}}};

const std::initializer_list<std::string_view> kNonfinite = {
    "f64[5,7]:nonfinite", "f32[4,1,6]:nonfinite", "bf16[7]:nonfinite",
    "i64[3,5]",           "f64[6]:nonfinite",     "f16[5]:nonfinite"};

PointwiseDTypes flag_of_self(const Call& call) {
  return {call.tensor("self").dtype(), DType::kBool};
}

// `f` is asked of real numbers; a complex one is asked part by part, joined by `any`.
template <typename F>
OpBuilder& predicate(Registrar& r, std::string_view name, std::string_view summary, bool any, F f) {
  const std::string text(name);
  return r.op(text + "(Tensor self) -> Tensor")
      .summary(summary)
      .pointwise(flag_of_self)
      .compute(AllTypes{}, [any, f](auto x) {
        using C = decltype(x);
        if constexpr (std::is_integral_v<C>) {
          return static_cast<C>(f(static_cast<double>(x)));
        } else if constexpr (std::is_floating_point_v<C>) {
          return static_cast<C>(f(static_cast<double>(x)));
        } else {
          const bool real = f(static_cast<double>(x.real()));
          const bool imaginary = f(static_cast<double>(x.imag()));
          return C(any ? real || imaginary : real && imaginary);
        }
      });
}

void declare_finiteness(Registrar& r) {
  predicate(r, "isnan", "whether each element is no number", true,
            [](double x) { return std::isnan(x); })
      .families({{kAnyNaN, {"self"}}})
      .samples(kNonfinite)
      .out("isnan.out");
  predicate(r, "isinf", "whether each element is infinite", true,
            [](double x) { return std::isinf(x); })
      .samples(kNonfinite)
      .out("isinf.out");
  predicate(r, "isfinite", "whether each element is a finite number", false,
            [](double x) { return std::isfinite(x); })
      .families({{kAllFinite, {"self"}}})
      .samples(kNonfinite);
}

// An extreme is the infinity that nothing lies beyond if all its parts are. If one is, a NaN may
// hide it.
void declare_infinities(Registrar& r) {
  predicate(r, "isposinf", "whether each element is infinity", true,
            [](double x) { return x == kInfinity; })
      .refuses(kComplexDTypes)
      .families({{kMinPreserving, {"self"}}})
      .samples(kNonfinite)
      .out("isposinf.out");
  predicate(r, "isneginf", "whether each element is minus infinity", true,
            [](double x) { return x == -kInfinity; })
      .refuses(kComplexDTypes)
      .families({{kDecreasingFromAbove, {"self"}}})
      .samples(kNonfinite)
      .out("isneginf.out");
}

void declare_signbit(Registrar& r) {
  r.op("signbit(Tensor self) -> Tensor")
      .summary("whether each element has a minus sign, zeros too")
      .pointwise(flag_of_self)
      .refuses(kF8DTypes)
      .families({{kDecreasing, {"self"}}})
      .compute(RealTypes{},
               [](auto x) {
                 using C = decltype(x);
                 if constexpr (std::is_integral_v<C>)
                   return static_cast<C>(x < 0);
                 else
                   return static_cast<C>(std::signbit(x));
               })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "i8[6]"})
      .also("prims.signbit")
      .out("signbit.out");
}

// Replacements for what is no finite number, in the precision of the result.
struct Replacements {
  double nan, high, low;
};

double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kC128:
      return std::numeric_limits<double>::max();
    case DType::kBF16:
      return 0x1.fep127;
    case DType::kF16:
      return 65504;
    default:
      return std::numeric_limits<float>::max();
  }
}

Replacements replacements_of(const Call& call) {
  const auto number = [&](std::string_view name, double otherwise) {
    return call.attribute<std::optional<double>>(name).value_or(otherwise);
  };
  const double largest = largest_of(call.output().dtype());
  return {number("nan", 0), number("posinf", largest), number("neginf", -largest)};
}

template <typename C>
C replace(C x, const Replacements& by) {
  if (std::isnan(x)) return static_cast<C>(by.nan);
  if (std::isinf(x)) return static_cast<C>(x > 0 ? by.high : by.low);
  return x;
}

// Over integers the identity. Over floats nothing passes but shards: a max of NaN and 5 is NaN,
// which becomes 0, not the larger of 0 and 5.
void declare_nan_to_num(Registrar& r) {
  r.op("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor")
      .summary("NaN and infinities replaced by numbers")
      .pointwise()
      .refuses(kF8DTypes)
      .families([](const Call& call) {
        Families families;
        if (category(call.tensor("self").dtype()) < 2) add_identity(families, call, "self");
        return families;
      })
      .elementwise<1>(AllTypes{},
                      [](const Call& call) {
                        return [by = replacements_of(call)](auto x) {
                          using C = decltype(x);
                          if constexpr (std::is_integral_v<C>)
                            return x;
                          else if constexpr (std::is_floating_point_v<C>)
                            return replace(x, by);
                          else
                            return C(replace(x.real(), by), replace(x.imag(), by));
                        };
                      })
      .samples({"f64[5,7]:nonfinite; posinf=9.0; neginf=-5.0", "f32[4,1,6]:nonfinite; nan=2.0",
                "i64[3,5]", "bf16[7]:nonfinite; posinf=1.0; neginf=-1.0",
                "f64[6]:nonfinite; nan=1.0; posinf=64.0; neginf=0.0"})
      .in_place()
      .out("nan_to_num.out");
}

}  // namespace

void declare_predicates(Registrar& r) {
  declare_finiteness(r);
  declare_infinities(r);
  declare_signbit(r);
  declare_nan_to_num(r);
}

}  // namespace pointwise
