// Remainders, common divisors, and pairs of magnitude and sign.
//   i64[4,6]: gcd shards like any elementwise op, S(0) | S(0), S(0); no order or sum passes it

#include <cmath>
#include <numbers>
#include <numeric>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

// The sign of the result is self's (fmod), or other's (remainder).
enum class SignOf { kSelf, kOther };

template <typename C>
C remainder_of(C a, C b, SignOf sign) {
  if constexpr (std::is_integral_v<C>) {
    if (b == -1) return 0;
    const C rest = a % b;
    return sign == SignOf::kOther && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const C rest = std::fmod(a, b);
    return sign == SignOf::kOther && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

// Integers have no infinity, so a zero is found before anything is written.
void check_divisor(const Call& call) {
  const DType dtype = common_dtype(call, std::array<std::string, 2>{"self", "other"});
  if (!is_integral(dtype)) return;
  const Operand other = operand(call, "other");
  const std::vector<int64_t> divisors = other.tensor.present()
                                            ? load_dense<int64_t>(other.tensor)
                                            : std::vector<int64_t>{other.value->integer};
  require(std::find(divisors.begin(), divisors.end(), 0) == divisors.end(),
          "integer remainder by zero");
}

// Of whole numbers by 2 or -2 it tells the odd ones; a product is odd if all its factors are. The
// sign of self, which fmod keeps, is lost where products wrap around.
constexpr std::array<KindPair, 2> kIsOdd = {{{"product", "min"}, {"product", "product"}}};
constexpr std::array<KindPair, 1> kIsOddNegated = {{{"product", "max"}}};

Families parity_families(const Call& call, SignOf sign) {
  const Knowledge self = know(call, "self"), other = know(call, "other");
  const bool is_whole = call.has_tensor("self") && is_integral(call.output().dtype());
  const bool has_sign = sign == SignOf::kSelf && !self.nonnegative;
  if (!is_whole || has_sign) return {};
  const bool is_flag = other.is(2) || (sign == SignOf::kSelf && other.is(-2));
  if (is_flag) return {{kIsOdd, {"self"}}, {kFlagResult, {}}};
  return other.is(-2) ? Families{{kIsOddNegated, {"self"}}} : Families{};
}

OpBuilder& remainder(Registrar& r, const std::string& schema, SignOf sign) {
  return r.op(schema)
      .summary(sign == SignOf::kSelf ? "what self / other leaves, with the sign of self"
                                     : "what self / other leaves, with the sign of other")
      .pointwise(Promotion::kCommon, {"self", "other"})
      .refuses(kF8DTypes | kBoolDTypes)
      .families([sign](const Call& call) { return parity_families(call, sign); })
      .elementwise<2>(RealTypes{}, [sign](const Call& call) {
        check_divisor(call);
        return [sign](auto a, auto b) { return remainder_of(a, b, sign); };
      });
}

void declare_remainders(Registrar& r) {
  const std::initializer_list<std::string_view> pairs = {
      "f64[5,7]; f64[5,7]:nonzero", "f64[4,1]; f64[1,6]:nonzero", "i64[5,3]; i64[3]:nonzero",
      "f32[5]; i64[5]:nonzero",     "bf16[6]; bf16[6]:nonzero",   "u8[5]; u8[5]:nonzero"};
  const std::initializer_list<std::string_view> numbers = {
      "f64[5,7]; other=2.5", "f32[4,1,6]; other=-1.5", "i64[3,5]; other=3", "i64[5]; other=-2",
      "bf16[7]; other=2",    "i32[6]; other=2",        "u8[7]; other=2"};
  for (const SignOf sign : {SignOf::kSelf, SignOf::kOther}) {
    const std::string op = sign == SignOf::kSelf ? "fmod" : "remainder";
    remainder(r, op + ".Tensor(Tensor self, Tensor other) -> Tensor", sign)
        .samples(pairs)
        .in_place()
        .out(op + ".Tensor_out");
    remainder(r, op + ".Scalar(Tensor self, Scalar other) -> Tensor", sign)
        .samples(numbers)
        .in_place()
        .out(op + ".Scalar_out");
  }
  remainder(r, "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", SignOf::kOther)
      .samples({"f64[5,7]:nonzero; self=2.5", "f32[4,1,6]:nonzero; self=-1.5",
                "i64[3,5]:nonzero; self=7", "i64[5]:nonzero; self=-9", "bf16[7]:nonzero; self=2"})
      .out("remainder.Scalar_Tensor_out");
}

int64_t common_divisor(int64_t a, int64_t b) {
  a = a < 0 ? minus<int64_t>(0, a) : a;
  b = b < 0 ? minus<int64_t>(0, b) : b;
  while (a != 0) {
    const int64_t rest = a == -1 ? 0 : b % a;
    b = a;
    a = rest;
  }
  return b;
}

int64_t common_multiple(int64_t a, int64_t b) {
  const int64_t divisor = common_divisor(a, b);
  if (divisor == 0) return 0;
  const int64_t multiple = times(a / divisor, b);
  return multiple < 0 ? minus<int64_t>(0, multiple) : multiple;
}

template <typename F>
OpBuilder& divisor_op(Registrar& r, std::string_view name, std::string_view summary, F f) {
  const std::string text(name);
  return r.op(text + "(Tensor self, Tensor other) -> Tensor")
      .summary(summary)
      .pointwise()
      .refuses(kBoolDTypes)
      .flops(20)
      .compute(ComputeTypes<int64_t>{}, f)
      .samples({"i64[5,7]; i64[5,7]", "i64[4,1]; i64[1,6]", "i32[5,3]; i32[3]", "u8[6]; u8[6]",
                "i64[5]; i16[5]", "i64[2,3]; i64[3]", "i32[7]; i32[7]"})
      .in_place()
      .out(text + ".out");
}

void declare_divisors(Registrar& r) {
  divisor_op(r, "gcd", "the greatest common divisor", common_divisor).also("prims.gcd");
  divisor_op(r, "lcm", "the least common multiple", common_multiple);
}

void declare_hypot(Registrar& r) {
  r.op("hypot(Tensor self, Tensor other) -> Tensor")
      .summary("the length of the hypotenuse over self and other")
      .pointwise()
      .refuses(kF8DTypes)
      .flops(8)
      .compute(FloatTypes{}, [](auto a, auto b) { return std::hypot(a, b); })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "bf16[6]; bf16[6]",
                "f64[5]; f64[]", "f32[2,3]; f32[3]"})
      .also("prims.hypot")
      .in_place()
      .out("hypot.out");
}

// 0 below 0 and 1 above; at 0 what `values` say. Values that are not asked for are the same on all
// ranks, and 0 and 1 are their own squares.
void declare_heaviside(Registrar& r) {
  r.op("heaviside(Tensor self, Tensor values) -> Tensor")
      .summary("0 below 0, 1 above, values where self is 0")
      .pointwise([](const Call& call) {
        const DType dtype = call.tensor("self").dtype();
        require(!call.has_tensor("values") || call.tensor("values").dtype() == dtype,
                "self and values must be of one dtype");
        return PointwiseDTypes{dtype, dtype};
      })
      .refuses(kF8DTypes)
      .families([](const Call& call) {
        Families families = {
            {kIncreasing, {"values"}}, {kAffine, {"values"}}, {kMultiplicative, {"values"}}};
        if (know(call, "values").is_flag) {
          families.push_back({kIncreasing, {"self"}});
          if (is_bool(call.output().dtype()))
            families.push_back({kMaxPreserving, {"self", "values"}});
        }
        return families;
      })
      .compute(RealTypes{},
               [](auto x, auto value) {
                 using C = decltype(x);
                 return x == C(0) ? value : static_cast<C>(x > C(0));
               })
      .samples({"f64[5,7]:values(-1,0,2); f64[5,7]", "f64[4,1]:values(-1,0,2); f64[1,6]",
                "i64[5,3]:values(-1,0,2); i64[3]", "f32[5]:values(-1,0,2); f32[]",
                "bf16[6]:values(-1,0,2); bf16[6]", "bool[6]; bool[6]"})
      .in_place()
      .out("heaviside.out");
}

// The next number from self towards other. Both steps keep the order of what they start from. That
// a step is no identity shows at infinity, whose neighbour is finite; in f32, where a mean of such
// does not overflow.
void declare_nextafter(Registrar& r) {
  r.op("nextafter(Tensor self, Tensor other) -> Tensor")
      .summary("the next number after self towards other")
      .pointwise()
      .refuses(kF8DTypes | dtype_bit(DType::kBF16) | dtype_bit(DType::kF16))
      .families({{kIncreasing, {"self"}}, {kIncreasing, {"other"}}})
      .compute(FloatTypes{}, [](auto a, auto b) { return std::nextafter(a, b); })
      .samples({"f32[5,7]:nonfinite; f32[5,7]:nonfinite", "f32[4,1]:nonfinite; f32[1,6]:nonfinite",
                "f32[3,4]:nonfinite; f32[4]:nonfinite", "f32[6]:nonfinite; f32[6]:nonfinite",
                "f32[2,1,5]:nonfinite; f32[3,5]:nonfinite", "f32[2,3]:nonfinite; f32[3]:nonfinite",
                "f32[2,2,3]:nonfinite; f32[2,2,3]:nonfinite"})
      .also("prims.nextafter")
      .in_place()
      .out("nextafter.out");
}

// self * 2^other: linear in self. A product of such is one again, but where self is 0 and the power
// infinite: exponents that sum to an ordinary one need not be ordinary.
void declare_ldexp(Registrar& r) {
  r.op("ldexp.Tensor(Tensor self, Tensor other) -> Tensor")
      .summary("self * 2^other")
      .pointwise(Promotion::kFloating)
      .refuses(kF8DTypes)
      .flops(4)
      .families([](const Call& call) {
        Families families = {{kLinear, {"self"}}, {kIncreasing, {"self"}}};
        if (know(call, "self").nonnegative) families.push_back({kMaxPreserving, {"other"}});
        return families;
      })
      .compute(FloatComplexTypes{},
               [](auto a, auto b) {
                 using C = decltype(a);
                 if constexpr (std::is_floating_point_v<C>)
                   return a * std::exp2(b);
                 else
                   return a * std::exp(b * C(std::numbers::ln2));
               })
      .samples({"f64[5,7]:values(0,0.5,-2,3); i64[5,7]", "f64[4,1]:values(0,0.5,-2,3); i64[1,6]",
                "f32[3,4]:values(0,0.5,-2,3); f32[4]", "i64[5]:values(0,1,-2,3); i64[5]",
                "bf16[6]:values(0,0.5,-2,3); i32[6]", "u8[5]:values(0,0,1,3); i64[5]",
                "f32[2,3]:values(0,0.5,-2,3); f32[3]", "f32[6]:values(0,0.5,-2,3); i64[6]",
                "c64[3,2]; i64[2]:values(-2,0,1)"})
      .in_place("ldexp_")
      .out("ldexp.out");
}

}  // namespace

void declare_remainder(Registrar& r) {
  declare_remainders(r);
  declare_divisors(r);
  declare_hypot(r);
  declare_heaviside(r);
  declare_nextafter(r);
  declare_ldexp(r);
}

}  // namespace pointwise
