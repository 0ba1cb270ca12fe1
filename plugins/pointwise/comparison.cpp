// Comparisons: bool out, of which P(max) is `or` and P(min) is `and`. x_r < y holds on some rank
// exactly if it holds of the smallest x_r, so `or` comes from a min on the left and a max on the
// right, and `and` the other way round. Equality has no such order: of the parts 3 and 5 one is 3,
// but their max is not. Sums pass neither: parts below y may add up to more.
//   lt.Tensor f64[4,6], f64[6]: S(1) | S(1), S(0);  P(max) | P(min), R;  P(min) | R, P(min).
//   eq.Tensor of them: S(0) | S(0), R;  no P(max) | P(max), R

#include "knowledge.hpp"

namespace pointwise {
namespace {

// Where both sides are bool, an order is `not a and b` or `not a or b`, which joins both sides: the
// partial that comes out, and what goes in.
struct FlagRule {
  std::string_view out;
  std::string_view self;
  std::string_view other;
};

struct Order {
  std::string_view name;
  std::string_view sign;
  KindTable self;
  KindTable other;
  FlagRule on_flags;
};

constexpr std::array<Order, 4> kOrders = {{
    {"lt", "<", kDecreasing, kIncreasing, {"min", "max", "min"}},
    {"le", "<=", kDecreasing, kIncreasing, {"max", "min", "max"}},
    {"gt", ">", kIncreasing, kDecreasing, {"min", "min", "max"}},
    {"ge", ">=", kIncreasing, kDecreasing, {"max", "max", "min"}},
}};

void order_rules(const Call& call, RuleSink& rules, const Order& order) {
  add_family(call, rules, {order.self, {"self"}});
  add_family(call, rules, {order.other, {"other"}});
  const Knowledge self = know(call, "self"), other = know(call, "other");
  // Numbers >= 0 against 0.
  if (self.nonnegative && other.is(0) && order.name == "gt")
    add_family(call, rules, {kIsPositive, {"self"}});
  if (self.nonnegative && other.is(0) && order.name == "le")
    add_family(call, rules, {kIsZero, {"self"}});
  if (!self.is_flag || !other.is_flag) return;
  const auto& [out, self_kind, other_kind] = order.on_flags;
  add_partial_rule(call, rules, out, {{"self", self_kind}, {"other", other_kind}});
}

// Equality with the end of a dtype's range is an order: no element lies beyond.
void equality_rules(const Call& call, RuleSink& rules, bool is_equal) {
  const std::array<std::string_view, 2> names = {"self", "other"};
  for (int i = 0; i < 2; ++i) {
    const Knowledge other = know(call, names[1 - i]);
    if (!call.has_tensor(names[i]) || !other.number) continue;
    const DType dtype = call.tensor(names[i]).dtype();
    const KindTable zero = is_equal ? KindTable(kIsZero) : KindTable(kIsPositive);
    const bool adds = know(call, names[i]).nonnegative;  // else only products tell of zeros
    if (other.is(0)) add_family(call, rules, {adds ? zero : zero.subspan(1), {names[i]}});
    if (category(dtype) > 1) continue;
    const Range range = range_of(dtype);
    const bool is_low = other.is(range.lowest), is_high = other.is(range.highest);
    if (!is_low && !is_high) continue;
    add_family(call, rules,
               {is_high == is_equal ? KindTable(kIncreasing) : KindTable(kDecreasing), {names[i]}});
  }
}

// NAME.Tensor and NAME.Scalar.
template <typename Types, typename F>
void comparison(Registrar& r, std::string_view name, std::string_view sign, Types types,
                const OpBuilder::RulesFn& rules, F f,
                std::initializer_list<std::string_view> tensors,
                std::initializer_list<std::string_view> scalars) {
  const auto declare = [&](const std::string& type,
                           std::initializer_list<std::string_view> samples) {
    const std::string overload = std::string(name) + "." + type;
    OpBuilder& op = r.op(overload + "(Tensor self, " + type + " other) -> Tensor");
    if (name == "ne" && type == "Tensor") op.also("prims.ne");
    op.summary("whether self " + std::string(sign) + " other, element by element")
        .pointwise(Promotion::kComparison, {"self", "other"})
        .rules(rules)
        .compute(types, f)
        .in_place()
        .out(overload + "_out")
        .samples(samples);
  };
  declare("Tensor", tensors);
  declare("Scalar", scalars);
}

void declare_orders(Registrar& r) {
  const auto declare = [&r](const Order& order, auto f) {
    comparison(r, order.name, order.sign, RealTypes{},
               [order](const Call& call, RuleSink& rules) { order_rules(call, rules, order); }, f,
               {"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "i64[5,3]; i64[3]", "bool[7]; bool[7]",
                "f32[5]; i64[5]", "bf16[6]; bf16[6]", "f32[5,2]; f32[]", "f64[5]; other=2.5"},
               {"f64[5,7]; other=0.5", "f32[4,1,6]; other=-1", "i64[3,5]; other=2",
                "bf16[7]; other=1", "f64[]; other=0", "i64[5]; other=0.5"});
  };
  declare(kOrders[0], [](auto a, auto b) { return static_cast<decltype(a)>(a < b); });
  declare(kOrders[1], [](auto a, auto b) { return static_cast<decltype(a)>(a <= b); });
  declare(kOrders[2], [](auto a, auto b) { return static_cast<decltype(a)>(a > b); });
  declare(kOrders[3], [](auto a, auto b) { return static_cast<decltype(a)>(a >= b); });
}

// Few values, so that equal ones meet.
const std::initializer_list<std::string_view> kPairs = {
    "f64[5,7]:values(-1,0,1,2); f64[5,7]:values(0,1,2)",
    "f64[4,1]:values(-1,0,2); f64[1,6]:values(0,1,2)",
    "i64[5,3]:values(0,1,3); i64[3]:values(0,1,3)",
    "bool[7]; bool[7]",
    "f32[5]:values(-1,0,1,2); i64[5]:values(0,1,2)",
    "bf16[6]:values(-1,0,1,2); bf16[6]:values(0,1,2)",
    "c64[3,4]:values(0,1); c64[4]:values(0,1)"};
const std::initializer_list<std::string_view> kNumbers = {
    "f64[5,7]; other=0.5", "f32[4,1,6]; other=-1", "i64[3,5]; other=2", "bf16[7]; other=1",
    "bool[6]; other=true", "u8[7]; other=0",       "c64[7]; other=0",   "f64[5]; other=0"};

void declare_equalities(Registrar& r) {
  const auto rules_of = [](bool is_equal) {
    return [is_equal](const Call& call, RuleSink& rules) { equality_rules(call, rules, is_equal); };
  };
  comparison(
      r, "eq", "==", AllTypes{}, rules_of(true),
      [](auto a, auto b) { return static_cast<decltype(a)>(a == b); }, kPairs, kNumbers);
  comparison(
      r, "ne", "!=", AllTypes{}, rules_of(false),
      [](auto a, auto b) { return static_cast<decltype(a)>(a != b); }, kPairs, kNumbers);
}

}  // namespace

void declare_comparison(Registrar& r) {
  declare_orders(r);
  declare_equalities(r);
}

}  // namespace pointwise
