// Truth values of numbers and what joins them; bits of integers.
//   bool[4]: logical_and of P(min), P(min) is P(min); f64[4]: logical_and of P(product), P(product)
//   is P(min), since a product is 0 where one of its factors is

#include "knowledge.hpp"

namespace pointwise {
namespace {

// The partials of an argument that say, joined by the kind `out`, whether it is not 0.
std::vector<std::string_view> kinds_of_truth(const Call& call, std::string_view name,
                                             std::string_view out) {
  if (!call.has_tensor(name)) return {};
  const DType dtype = call.tensor(name).dtype();
  const bool nonnegative = know(call, name).nonnegative;
  std::vector<std::string_view> kinds;
  if (nonnegative) kinds.push_back(out);
  if (out == "min") kinds.push_back("product");
  if (out == "max" && nonnegative) kinds.push_back("sum");
  std::erase_if(kinds, [dtype](std::string_view kind) { return !is_legal_partial(kind, dtype); });
  return kinds;
}

// `both` is the kind that may join both arguments at once: min for and, max for or.
void add_truth_rules(const Call& call, RuleSink& rules, std::string_view both) {
  for (std::string_view out : {"min", "max"}) {
    const auto self = kinds_of_truth(call, "self", out);
    const auto other = kinds_of_truth(call, "other", out);
    for (std::string_view kind : self) add_partial_rule(call, rules, out, {{"self", kind}});
    for (std::string_view kind : other) add_partial_rule(call, rules, out, {{"other", kind}});
    if (out != both) continue;
    for (std::string_view a : self) {
      for (std::string_view b : other)
        add_partial_rule(call, rules, out, {{"self", a}, {"other", b}});
    }
  }
}

const std::initializer_list<std::string_view> kLogicalPairs = {
    "bool[5,7]; bool[5,7]",
    "f64[4,1]:values(-1,0,2); f64[1,6]:values(0,1,2)",
    "i64[5,3]:values(-1,0,3); i64[3]:values(0,1,3)",
    "u8[5]:values(0,1,2); u8[5]:values(0,1)",
    "f32[5]:values(-1,0,1); bool[5]",
    "bf16[6]:values(-1,0,1); bf16[6]:values(0,1)",
    "c64[3,4]:values(0,1); c64[4]:values(0,1)"};

template <typename F>
void logical_pair(Registrar& r, std::string_view name, std::string_view word, F f,
                  const OpBuilder::RulesFn& rules) {
  const std::string text(name);
  r.op(text + "(Tensor self, Tensor other) -> Tensor")
      .summary("whether self is not 0 " + std::string(word) + " other is not 0")
      .pointwise(Promotion::kComparison)
      .rules(rules)
      .compute(AllTypes{},
               [f](auto a, auto b) {
                 using C = decltype(a);
                 return static_cast<C>(f(a != C(0), b != C(0)));
               })
      .samples(kLogicalPairs)
      .in_place()
      .out(text + ".out");
}

// A product is 0 if a factor is; a sum of what is never negative is 0 if all its terms are.
Families negation_families(const Call& call) {
  const bool adds = know(call, "self").nonnegative;
  Families families = {{adds ? KindTable(kIsZero) : KindTable(kIsZero).subspan(1), {"self"}}};
  if (adds) families.push_back({kDecreasing, {"self"}});
  return families;
}

void declare_logical(Registrar& r) {
  logical_pair(
      r, "logical_and", "and", [](bool a, bool b) { return a && b; },
      [](const Call& call, RuleSink& rules) { add_truth_rules(call, rules, "min"); });
  logical_pair(
      r, "logical_or", "or", [](bool a, bool b) { return a || b; },
      [](const Call& call, RuleSink& rules) { add_truth_rules(call, rules, "max"); });
  logical_pair(
      r, "logical_xor", "differs from whether", [](bool a, bool b) { return a != b; },
      [](const Call&, RuleSink&) {});
  r.op("logical_not(Tensor self) -> Tensor")
      .summary("whether each element is 0")
      .pointwise(Promotion::kComparison)
      .families(negation_families)
      .compute(AllTypes{}, [](auto x) { return static_cast<decltype(x)>(x == decltype(x)(0)); })
      .samples({"bool[5,7]", "f64[4,1,6]:values(-1,0,2)", "i64[3,5]:values(-1,0,3)",
                "u8[7]:values(0,1,2)", "bf16[6]:values(-1,0,1)", "c64[5]:values(0,1)"})
      .in_place()
      .out("logical_not.out");
}

constexpr uint64_t kNoIntegers = kF8DTypes;

// and of bool is their min, or their max; of integers neither is.
Families bit_families(const Call& call, KindTable preserved) {
  if (!is_bool(call.output().dtype()) || preserved.empty()) return {};
  return {{kIncreasing, {"self"}}, {kIncreasing, {"other"}}, {preserved, {"self", "other"}}};
}

using IntegerTypes = ComputeTypes<int64_t>;

template <typename F>
OpBuilder& bits(Registrar& r, const std::string& schema, std::string_view summary,
                KindTable preserved, F f) {
  return r.op(schema)
      .summary(summary)
      .pointwise(Promotion::kCommon, {"self", "other"})
      .refuses(kNoIntegers)
      .families([preserved](const Call& call) { return bit_families(call, preserved); })
      .compute(IntegerTypes{}, f);
}

const std::initializer_list<std::string_view> kBitPairs = {
    "i64[5,7]; i64[5,7]", "i64[4,1]; i64[1,6]", "i32[5,3]; i32[3]",
    "bool[7]; bool[7]",   "u8[6]; u8[6]",       "i64[5]; i32[5]"};
const std::initializer_list<std::string_view> kBitNumbers = {
    "i64[5,7]; other=3", "i32[4,1,6]; other=-2", "u8[7]; other=5", "bool[6]; other=true",
    "i16[3]; other=1"};

// NAME.Tensor, NAME.Scalar and NAME.Scalar_Tensor, and the operator's own names `__xor__`.
template <typename F>
void bit_pair(Registrar& r, std::string_view name, std::string_view word, KindTable preserved,
              F f) {
  const std::string op = "bitwise_" + std::string(name);
  const std::string summary = "bitwise " + std::string(word) + " of self and other";
  bits(r, op + ".Tensor(Tensor self, Tensor other) -> Tensor", summary, preserved, f)
      .samples(kBitPairs)
      .in_place()
      .out(op + ".Tensor_out");
  bits(r, op + ".Scalar(Tensor self, Scalar other) -> Tensor", summary, preserved, f)
      .samples(kBitNumbers)
      .in_place()
      .out(op + ".Scalar_out");
  bits(r, op + ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", summary, preserved, f)
      .samples({"i64[5,7]; self=3", "i32[4,1,6]; self=-2", "u8[7]; self=5", "bool[6]; self=true",
                "i16[3]; self=1"})
      .out(op + ".Scalar_Tensor_out");
  for (const std::string type : {"Tensor", "Scalar"}) {
    const std::string own(name);
    bits(r, "__" + own + "__." + type + "(Tensor self, " + type + " other) -> Tensor", summary,
         preserved, f)
        .samples(type == "Tensor" ? kBitPairs : kBitNumbers)
        .in_place("__i" + own + "__." + type);
  }
}

void declare_bits(Registrar& r) {
  bit_pair(r, "and", "and", kMinPreserving, [](int64_t a, int64_t b) { return a & b; });
  bit_pair(r, "or", "or", kMaxPreserving, [](int64_t a, int64_t b) { return a | b; });
  bit_pair(r, "xor", "exclusive or", {}, [](int64_t a, int64_t b) { return a ^ b; });
  r.op("bitwise_not(Tensor self) -> Tensor")
      .summary("each element with its bits turned: -x - 1, of bool its negation")
      .pointwise()
      .refuses(kNoIntegers)
      .families({{kDecreasing, {"self"}}})
      .elementwise<1>(IntegerTypes{},
                      [](const Call& call) {
                        const bool is_flag = is_bool(call.output().dtype());
                        return [is_flag](int64_t x) { return is_flag ? int64_t{x == 0} : ~x; };
                      })
      .samples({"i64[5,7]", "i32[4,1,6]", "u8[7]", "bool[6]", "i8[3,5]"})
      .also("prims.bitwise_not")
      .in_place()
      .out("bitwise_not.out");
}

// A shift by more than the bits there are leaves nothing, or the sign.
struct Shift {
  int width;
  bool is_signed;
  int64_t left(int64_t x, int64_t by) const {
    if (by < 0 || by >= width) return 0;
    return static_cast<int64_t>(static_cast<uint64_t>(x) << by);
  }
  int64_t right(int64_t x, int64_t by) const {
    const int most = width - (is_signed ? 1 : 0);
    return x >> (by < 0 || by >= most ? std::min(most, 63) : by);
  }
};

// To the left is a product with a power of two, to the right a quotient rounded down: both grow
// with self. Where self is not negative, they fall or grow with the bits to shift by, as far as
// those are in range.
Families shift_families(const Call&, bool is_left) {
  Families families = {{kIncreasing, {"self"}}};
  if (is_left) families.push_back({kLinear, {"self"}});
  return families;
}

OpBuilder& shift(Registrar& r, const std::string& schema, bool is_left) {
  return r.op(schema)
      .summary(is_left ? "self's bits moved to the left, zeros behind them"
                       : "self's bits moved to the right, its sign behind them")
      .pointwise(Promotion::kCommon, {"self", "other"})
      .refuses(kNoIntegers | kBoolDTypes)
      .families([is_left](const Call& call) { return shift_families(call, is_left); })
      .elementwise<2>(IntegerTypes{}, [is_left](const Call& call) {
        const DType dtype = call.output().dtype();
        const Shift bits{static_cast<int>(8 * size_of(dtype)), dtype != DType::kU8};
        return [bits, is_left](int64_t x, int64_t by) {
          return is_left ? bits.left(x, by) : bits.right(x, by);
        };
      });
}

void declare_shifts(Registrar& r) {
  for (const bool is_left : {true, false}) {
    const std::string op = is_left ? "bitwise_left_shift" : "bitwise_right_shift";
    const std::string own = is_left ? "lshift" : "rshift";
    const std::initializer_list<std::string_view> pairs = {
        "i64[5,7]; i64[5,7]:values(0,1,3,8)", "i64[4,1]; i64[1,6]:values(0,1,5)",
        "i32[5,3]; i32[3]:values(0,2,7)", "u8[6]; u8[6]:values(0,1,2)",
        "i16[5]; i16[5]:values(0,1,4)"};
    const std::initializer_list<std::string_view> numbers = {
        "i64[5,7]; other=3", "i32[4,1,6]; other=1", "u8[7]; other=2", "i16[6]; other=0",
        "i8[3]; other=1"};
    shift(r, op + ".Tensor(Tensor self, Tensor other) -> Tensor", is_left)
        .samples(pairs)
        .in_place()
        .out(op + ".Tensor_out");
    shift(r, op + ".Tensor_Scalar(Tensor self, Scalar other) -> Tensor", is_left)
        .samples(numbers)
        .in_place()
        .out(op + ".Tensor_Scalar_out");
    shift(r, op + ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", is_left)
        .samples({"i64[5,7]:values(0,1,3,8); self=3", "i32[4,1,6]:values(0,2,7); self=-5",
                  "u8[7]:values(0,1,2); self=2", "i16[6]:values(0,1,4); self=1",
                  "i8[3]:values(0,1,2); self=7"})
        .out(op + ".Scalar_Tensor_out");
    for (const std::string type : {"Tensor", "Scalar"}) {
      shift(r, "__" + own + "__." + type + "(Tensor self, " + type + " other) -> Tensor", is_left)
          .samples(type == "Tensor" ? pairs : numbers)
          .in_place("__i" + own + "__." + type);
    }
  }
}

}  // namespace

void declare_logic(Registrar& r) {
  declare_logical(r);
  declare_bits(r);
  declare_shifts(r);
}

}  // namespace pointwise
