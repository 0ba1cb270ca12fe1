// Bits of integers: and, or, exclusive or, not, shifts.
//   i32[4]: P(max) & -4 is P(max), since clearing low bits keeps the order; P(max) & 5 is not
//   P(max) i64[4]: P(product) & 1 is P(product), since a product is odd if all its factors are
// A shift to the left loses bits: it adds up modulo the range, but keeps no order.

#include "knowledge.hpp"

namespace pointwise {
namespace {

constexpr uint64_t kNoIntegers = kF8DTypes;

using IntegerTypes = ComputeTypes<int64_t>;

DType bits_dtype(const Call& call) {
  return common_dtype(call, std::array<std::string, 2>{"self", "other"});
}

// Of a tensor and a number: the tensor's name, and the number among the integers of the dtype.
struct Beside {
  std::string_view tensor;
  int64_t number;
};
std::optional<Beside> number_beside(const Call& call) {
  const std::array<std::string_view, 2> names = {"self", "other"};
  for (int i = 0; i < 2; ++i) {
    const Operand found = operand(call, names[i]);
    if (found.value == nullptr) continue;
    const int64_t number = settled(detail::number_as<int64_t>(found), bits_dtype(call));
    return Beside{names[1 - i], number};
  }
  return std::nullopt;
}

// `value` with every bit set that the dtype lacks.
int64_t sign_filled(int64_t value, DType dtype) {
  return dtype == DType::kU8 ? value | ~int64_t{0xff} : value;
}

// 2^k - 1 for some k >= 0; -1 is all bits.
bool is_low_bits(int64_t value) { return (value & (value + 1)) == 0; }

// A function of a flag is monotone, and a flag itself where both its values are.
Families flag_function(std::string_view name, int64_t at_0, int64_t at_1) {
  Families families;
  if (at_0 <= at_1) families.push_back({kIncreasing, {name}});
  if (at_0 >= at_1) families.push_back({kDecreasing, {name}});
  const auto is_flag = [](int64_t value) { return value == 0 || value == 1; };
  if (!is_flag(at_0) || !is_flag(at_1)) return families;
  families.push_back(
      {at_0 <= at_1 ? KindTable(kFlagIncreasing) : KindTable(kFlagDecreasing), {name}});
  families.push_back({kFlagResult, {}});
  return families;
}

// One value where `name` is even, another where it is odd: a product is odd if all its factors are.
void add_parity(Families& families, std::string_view name, int64_t even, int64_t odd) {
  static constexpr std::array<KindPair, 1> kAllAreOdd = {{{"product", "min"}}};
  static constexpr std::array<KindPair, 1> kOneIsEven = {{{"product", "max"}}};
  families.push_back({even < odd ? kAllAreOdd : kOneIsEven, {name}});
  if (even != 0 || odd != 1) return;
  families.push_back({kMultiplicative, {name}});
  families.push_back({kFlagResult, {}});
}

// One value where `name` is 0, another elsewhere; `adds` where no element is below 0.
void add_zero_test(Families& families, std::string_view name, int64_t at_0, int64_t elsewhere,
                   bool adds) {
  static constexpr std::array<KindPair, 1> kAllAreZero = {{{"sum", "product"}}};
  const KindTable table = at_0 > elsewhere ? KindTable(kIsZero) : KindTable(kIsPositive).first(2);
  families.push_back({adds ? table : table.subspan(1), {name}});
  if (at_0 != 1 || elsewhere != 0) return;
  families.push_back({kFlagResult, {}});
  if (!adds) return;
  families.push_back({kAllAreZero, {name}});
  families.push_back({kFlagDecreasing, {name}});
}

enum class Bitwise { kAnd, kOr, kXor };

int64_t apply(Bitwise op, int64_t a, int64_t b) {
  return op == Bitwise::kAnd ? a & b : op == Bitwise::kOr ? a | b : a ^ b;
}

// Clearing or setting the k lowest bits is rounding to multiples of 2^k; other bits cleared or set
// break the order. Exclusive or turns bits: all of them, and so the order, or else it breaks it.
Families number_families(const Call& call, Bitwise op, const Beside& beside) {
  const auto& [name, number] = beside;
  if (know(call, name).is_flag)
    return flag_function(name, apply(op, 0, number), apply(op, 1, number));
  const DType dtype = bits_dtype(call);
  const int64_t cleared = ~sign_filled(number, dtype);  // by and; kept by or
  Families families;
  if (op == Bitwise::kAnd ? cleared == 0 : number == 0) add_identity(families, call, name);
  if (op == Bitwise::kXor && cleared == 0) families.push_back({kDecreasing, {name}});
  if (op == Bitwise::kAnd && is_low_bits(cleared)) families.push_back({kIncreasing, {name}});
  if (op == Bitwise::kOr && is_low_bits(number)) families.push_back({kIncreasing, {name}});
  if (op == Bitwise::kAnd && number == 1) add_parity(families, name, 0, 1);
  if (op == Bitwise::kOr && cleared == 1) add_parity(families, name, number, number | 1);
  return families;
}

// The name of the one flag among two tensors; the other's elements meet its 0 or 1 as integers.
std::optional<int> flag_among(const Call& call, std::span<const std::string_view, 2> names) {
  const bool self = know(call, names[0]).is_flag, other = know(call, names[1]).is_flag;
  if (self == other) return std::nullopt;
  return self ? 0 : 1;
}

// and of bool is their min, or is their max. Beside a flag, and is whether an integer is odd and
// the flag is 1, or sets the lowest bit.
Families bit_families(const Call& call, Bitwise op) {
  if (const auto beside = number_beside(call)) return number_families(call, op, *beside);
  if (op == Bitwise::kXor) return {};
  const std::array<std::string_view, 2> names = {"self", "other"};
  const bool is_and = op == Bitwise::kAnd;
  if (is_bool(bits_dtype(call))) {
    const KindTable preserved = is_and ? KindTable(kMinPreserving) : KindTable(kMaxPreserving);
    return {{kIncreasing, {"self"}}, {kIncreasing, {"other"}}, {preserved, {"self", "other"}}};
  }
  const std::optional<int> flag = flag_among(call, names);
  if (!flag) return {};
  const std::string_view integer = names[1 - *flag];
  if (!is_and) return {{kIncreasing, {names[*flag]}}, {kIncreasing, {integer}}};
  Families families = {{kFlagIncreasing, {names[*flag]}}};
  add_parity(families, integer, 0, 1);
  return families;
}

void odd_and_flag_rules(const Call& call, RuleSink& rules) {
  const std::array<std::string_view, 2> names = {"self", "other"};
  const std::optional<int> flag = flag_among(call, names);
  if (!flag || number_beside(call)) return;
  for (std::string_view out : {"min", "product"})
    add_partial_rule(call, rules, out, {{names[*flag], "min"}, {names[1 - *flag], "product"}});
}

OpBuilder& bits(Registrar& r, const std::string& schema, std::string_view summary, Bitwise op) {
  OpBuilder& builder = r.op(schema)
                           .summary(summary)
                           .pointwise(Promotion::kCommon, {"self", "other"})
                           .refuses(kNoIntegers)
                           .families([op](const Call& call) { return bit_families(call, op); });
  if (op == Bitwise::kAnd) builder.rules(odd_and_flag_rules);
  switch (op) {
    case Bitwise::kAnd:
      return builder.compute(IntegerTypes{}, [](int64_t a, int64_t b) { return a & b; });
    case Bitwise::kOr:
      return builder.compute(IntegerTypes{}, [](int64_t a, int64_t b) { return a | b; });
    default:
      return builder.compute(IntegerTypes{}, [](int64_t a, int64_t b) { return a ^ b; });
  }
}

const std::initializer_list<std::string_view> kBitPairs = {
    "i64[5,7]; i64[5,7]", "i64[4,1]; i64[1,6]", "i32[5,3]; i32[3]", "bool[7]; bool[7]",
    "u8[6]; u8[6]",       "i64[5]; i32[5]",     "i16[6]; bool[6]"};
const std::initializer_list<std::string_view> kBitNumbers = {
    "i64[5,7]; other=3",   "i32[4,1,6]; other=-2", "u8[7]; other=5",
    "bool[6]; other=true", "i16[3]; other=1",      "i8[4]; other=-1",
    "i64[5]; other=0",     "u8[5]; other=240",     "bool[5]; other=6"};
const std::initializer_list<std::string_view> kNumberBits = {
    "i64[5,7]; self=3", "i32[4,1,6]; self=-2", "u8[7]; self=5", "bool[6]; self=true",
    "i16[3]; self=1"};

// NAME.Tensor, NAME.Scalar and NAME.Scalar_Tensor, and the operator's own names `__xor__`.
void bit_pair(Registrar& r, const std::string& own, std::string_view word, Bitwise op) {
  const std::string name = "bitwise_" + own;
  const std::string summary = "bitwise " + std::string(word) + " of self and other";
  bits(r, name + ".Tensor(Tensor self, Tensor other) -> Tensor", summary, op)
      .samples(kBitPairs)
      .in_place()
      .out(name + ".Tensor_out");
  bits(r, name + ".Scalar(Tensor self, Scalar other) -> Tensor", summary, op)
      .samples(kBitNumbers)
      .in_place()
      .out(name + ".Scalar_out");
  bits(r, name + ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", summary, op)
      .samples(kNumberBits)
      .out(name + ".Scalar_Tensor_out");
  for (const std::string type : {"Tensor", "Scalar"}) {
    bits(r, "__" + own + "__." + type + "(Tensor self, " + type + " other) -> Tensor", summary, op)
        .samples(type == "Tensor" ? kBitPairs : kBitNumbers)
        .in_place("__i" + own + "__." + type);
  }
}

void declare_bitwise(Registrar& r) {
  bit_pair(r, "and", "and", Bitwise::kAnd);
  bit_pair(r, "or", "or", Bitwise::kOr);
  bit_pair(r, "xor", "exclusive or", Bitwise::kXor);
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

// A shift by more than the bits there are leaves nothing, or the sign; so does one by less than 0.
struct Shift {
  bool is_left;
  int width;
  bool is_signed;

  Shift(bool to_left, DType dtype)
      : is_left(to_left),
        width(static_cast<int>(8 * size_of(dtype))),
        is_signed(dtype != DType::kU8) {}
  int64_t left(int64_t x, int64_t by) const {
    if (by < 0 || by >= width) return 0;
    return static_cast<int64_t>(static_cast<uint64_t>(x) << by);
  }
  int64_t right(int64_t x, int64_t by) const {
    const int most = width - (is_signed ? 1 : 0);
    return x >> (by < 0 || by >= most ? std::min(most, 63) : by);
  }
  int64_t operator()(int64_t x, int64_t by) const { return is_left ? left(x, by) : right(x, by); }
};

// By a known number of bits: to the left a product with a power of two, modulo the range; to the
// right a quotient rounded down.
Families shifted_by_number(const Call& call, const Shift& shift, int64_t by) {
  Families families = {shift.is_left ? Family{kLinear, {"self"}} : Family{kIncreasing, {"self"}}};
  if (by == 0) add_identity(families, call, "self");
  if (shift.is_left && by == shift.width - 1)
    add_parity(families, "self", 0, shift.is_signed ? -1 : 1 << by);
  if (!shift.is_left && !shift.is_signed && by == shift.width - 1) {
    families.push_back({kFlagIncreasing, {"self"}});
    families.push_back({kFlagResult, {}});
  }
  return families;
}

// A known number by more and more bits, from 0 on where those are unsigned: to the right it goes
// towards 0, or -1; to the left it grows until bits are lost, unless ones are all that there is
// above its zeros. What remains of the last bit tells only whether there was a shift at all.
Families number_shifted(const Call& call, const Shift& shift, int64_t number, DType dtype) {
  Families families;
  const bool adds = know(call, "other").nonnegative;
  const int64_t filled = sign_filled(number, dtype);
  const bool falls = shift.is_left ? filled < 0 && is_low_bits(~filled) : number >= 0;
  const bool is_order = adds && (!shift.is_left || !shift.is_signed);
  if (is_order && falls) families.push_back({kDecreasing, {"other"}});
  if (is_order && !falls && !shift.is_left) families.push_back({kIncreasing, {"other"}});
  const int64_t once = settled(shift(number, 1), dtype);
  if (number != once && once == settled(shift(number, shift.width), dtype))
    add_zero_test(families, "other", number, once, adds);
  return families;
}

Families shift_families(const Call& call, bool is_left) {
  const DType dtype = bits_dtype(call);
  const Shift shift(is_left, dtype);
  if (const auto beside = number_beside(call)) {
    const auto& [name, number] = *beside;
    const bool is_self = name == "self";
    if (!know(call, name).is_flag) {
      return is_self ? shifted_by_number(call, shift, number)
                     : number_shifted(call, shift, number, dtype);
    }
    const auto at = [&, number = number](int64_t x) {
      return settled(is_self ? shift(x, number) : shift(number, x), dtype);
    };
    return flag_function(name, at(0), at(1));
  }
  if (is_left) return {{kLinear, {"self"}}};
  Families families = {{kIncreasing, {"self"}}};
  if (know(call, "self").nonnegative && know(call, "other").nonnegative)
    families.push_back({kDecreasing, {"other"}});
  return families;
}

OpBuilder& shift(Registrar& r, const std::string& schema, bool is_left) {
  return r.op(schema)
      .summary(is_left ? "self's bits moved to the left, zeros behind them"
                       : "self's bits moved to the right, its sign behind them")
      .pointwise(Promotion::kCommon, {"self", "other"})
      .refuses(kNoIntegers | kBoolDTypes)
      .families([is_left](const Call& call) { return shift_families(call, is_left); })
      .elementwise<2>(IntegerTypes{},
                      [is_left](const Call& call) { return Shift(is_left, bits_dtype(call)); });
}

// Values that lose bits as they are shifted to the left, counts that lose them, and, to the right,
// counts below 0.
const std::initializer_list<std::string_view> kShiftPairs = {
    "i64[5,7]:values(-1,0,3,1152921504606846976,-1152921504606848000); "
    "i64[5,7]:values(-1,0,1,3,8)",
    "i64[4,1]:values(-3,2,5,288230376151711744,-288230376151711808); i64[1,6]:values(0,1,5)",
    "i32[5,3]:values(-3,2,5,1073741824,-1073741825); i32[3]:values(0,1,2,7,31)",
    "u8[6]; u8[6]:values(0,1,2)",
    "i16[5]:values(-3,2,5,16384,-16385); i16[5]:values(0,1,4)",
    "i8[4,3]:values(-3,2,5,64,-65); i8[4,3]:values(0,1,3)"};
const std::initializer_list<std::string_view> kShiftNumbers = {
    "i64[5,7]:values(-3,2,1152921504606846976,-1152921504606848000); other=3",
    "i32[4,1,6]:values(-3,2,1073741824,-1073741825); other=1",
    "u8[7]; other=2",
    "i16[6]; other=0",
    "i8[3]:values(-3,2,64,-65); other=1",
    "u8[5]:values(1,127,128,200,255); other=7"};
const std::initializer_list<std::string_view> kShiftsOfNumber = {
    "i64[5,7]:values(-1,0,1,3,8,60,62); self=3", "i32[4,1,6]:values(-1,0,2,7,28,29); self=-5",
    "u8[7]:values(0,1,2,6,7); self=2",           "i16[6]:values(-1,0,1,4,14,15); self=1",
    "i8[3]:values(-1,0,1,2,4,5); self=7",        "u8[7]:values(0,1,2,7,8); self=1"};

void declare_shifts(Registrar& r) {
  for (const bool is_left : {true, false}) {
    const std::string op = is_left ? "bitwise_left_shift" : "bitwise_right_shift";
    const std::string own = is_left ? "lshift" : "rshift";
    shift(r, op + ".Tensor(Tensor self, Tensor other) -> Tensor", is_left)
        .samples(kShiftPairs)
        .in_place()
        .out(op + ".Tensor_out");
    shift(r, op + ".Tensor_Scalar(Tensor self, Scalar other) -> Tensor", is_left)
        .samples(kShiftNumbers)
        .in_place()
        .out(op + ".Tensor_Scalar_out");
    shift(r, op + ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", is_left)
        .samples(kShiftsOfNumber)
        .out(op + ".Scalar_Tensor_out");
    for (const std::string type : {"Tensor", "Scalar"}) {
      shift(r, "__" + own + "__." + type + "(Tensor self, " + type + " other) -> Tensor", is_left)
          .samples(type == "Tensor" ? kShiftPairs : kShiftNumbers)
          .in_place("__i" + own + "__." + type);
    }
  }
}

}  // namespace

void declare_bits(Registrar& r) {
  declare_bitwise(r);
  declare_shifts(r);
}

}  // namespace pointwise
