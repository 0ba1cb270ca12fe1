// The greater and the lesser of two, and values held between bounds. NaN wins, except in fmax and
// fmin. A max of maxima is the max of all, so maximum takes P(max) in both at once; beside a whole
// y it never falls as x grows, so P(min) passes too. Two minima do not: of the pairs (1,2) and
// (2,1) on two ranks each has the maximum 2, but the minima are 1 and 1. Nothing is linear.
//   maximum f64[4,6], f64[6]: S(1) | S(1), S(0);  P(max) | P(max), P(max);  P(min) | P(min), R;
//   no P(min) | P(min), P(min).  clamp f64[4,6] to [0,1]: P(max) | P(max);  P(min) | P(min)

#include <cmath>

#include "knowledge.hpp"

namespace pointwise {
namespace {

constexpr auto kMaximum = [](auto a, auto b) {
  if (a != a) return a;
  return b != b || a < b ? b : a;
};
constexpr auto kMinimum = [](auto a, auto b) {
  if (a != a) return a;
  return b != b || b < a ? b : a;
};
// A NaN loses to a number.
constexpr auto kNumberMaximum = [](auto a, auto b) { return b != b || a > b ? a : b; };
constexpr auto kNumberMinimum = [](auto a, auto b) { return b != b || a < b ? a : b; };

// Monotone in each argument, and a homomorphism of max (or min) in both.
Families extreme_families(KindTable preserved, std::string_view a, std::string_view b) {
  return {{kIncreasing, {a}}, {kIncreasing, {b}}, {preserved, {a, b}}};
}

void declare_pairs(Registrar& r) {
  const auto extreme = [&r](std::string_view name, std::string_view summary, KindTable preserved,
                            auto f) {
    const std::string text(name);
    r.op(text + "(Tensor self, Tensor other) -> Tensor")
        .summary(summary)
        .pointwise()
        .refuses(kF8DTypes)
        .families(extreme_families(preserved, "self", "other"))
        .compute(RealTypes{}, f)
        .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]",
                  "i64[5,3]; i64[3]", "bool[7]; bool[7]", "f32[5]; i64[5]", "bf16[6]; bf16[6]",
                  "f32[5,2]; f32[]"})
        .also("prims." + text)
        .out(text + ".out");
  };
  extreme("maximum", "the greater of two elements", kMaxPreserving, kMaximum);
  extreme("minimum", "the lesser of two elements", kMinPreserving, kMinimum);
  extreme("fmax", "the greater of two elements, numbers before NaN", kMaxPreserving,
          kNumberMaximum);
  extreme("fmin", "the lesser of two elements, numbers before NaN", kMinPreserving, kNumberMinimum);
}

// A bound as a number, in the precision of the result; absent ones are infinitely far.
double bound_of(const Call& call, std::string_view name, double absent) {
  const Operand found = operand(call, name);
  if (found.value == nullptr) return absent;
  const DType dtype = call.output().dtype();
  return category(dtype) < 2
             ? static_cast<double>(settled(detail::number_as<int64_t>(found), dtype))
             : found.number.real();
}

// Bounds that no element reaches leave everything as it is.
void clamp_rules(const Call& call, RuleSink& rules) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Range range = range_of(call.tensor("self").dtype());
  const bool is_identity = bound_of(call, "min", -kInfinity) <= range.lowest &&
                           bound_of(call, "max", kInfinity) >= range.highest;
  Families families = {{kIncreasing, {"self"}}};
  if (is_identity) add_identity(families, call, "self");
  add_families(call, rules, families);
}

void require_bound(const Call& call) {
  bool any = false;
  for (std::string_view name : {"min", "max"}) {
    any = any || call.has_tensor(name) || call.has_attribute(name);
  }
  require(any, "clamp needs min, max or both");
}

// NaN bounds win over numbers, and everything is `high` where the bounds cross.
template <typename C>
C clamp(C x, C low, C high, bool has_low, bool has_high) {
  if (has_low) x = kMaximum(x, low);
  if (has_high) x = kMinimum(x, high);
  return x;
}

OpBuilder& clamp_op(Registrar& r, std::string_view schema) {
  return r.op(schema)
      .summary("each element held between min and max")
      .pointwise(
          [](const Call& call) {
            require_bound(call);
            const DType dtype =
                common_dtype(call, std::array<std::string, 3>{"self", "min", "max"});
            return PointwiseDTypes{dtype, dtype};
          },
          {"self", "min", "max"})
      .refuses(kF8DTypes | kBoolDTypes)
      .flops(2)
      .elementwise<3>(RealTypes{}, [](const Call& call) {
        const bool has_low = call.has_tensor("min") || call.has_attribute("min");
        const bool has_high = call.has_tensor("max") || call.has_attribute("max");
        return [has_low, has_high](auto x, auto low, auto high) {
          return clamp(x, low, high, has_low, has_high);
        };
      });
}

void declare_clamp(Registrar& r) {
  clamp_op(r, "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor")
      .rules(clamp_rules)
      .samples({"f64[5,7]; min=-1.5; max=2.0", "f32[4,1,6]; min=0", "f64[3,5]; max=1.5",
                "i64[5,3]; min=-2; max=2", "i64[5]; min=-0.5", "u8[7]; max=5",
                "bf16[6]; min=-1; max=1", "f64[5]; min=-inf; max=inf", "bool[5]; min=0; max=2"})
      .also("clip", true)
      .in_place()
      .out("clamp.out");
  // min(max(self, min), max): max passes where only the inner pair is partial, min where the outer.
  clamp_op(r, "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
      .families({{kIncreasing, {"self"}},
                 {kIncreasing, {"min"}},
                 {kIncreasing, {"max"}},
                 {kMaxPreserving, {"self", "min"}},
                 {kMinPreserving, {"self", "max"}},
                 {kMinPreserving, {"min", "max"}}})
      .samples({"f64[5,3]; f64[5,3]; f64[5,3]", "f64[4,1]; f64[3]; f64[4,3]", "f32[5,2]; -; f32[2]",
                "f32[5,2]; f32[5,2]; -", "i64[7]; i64[7]; i64[]", "bf16[5]; bf16[5]; bf16[5]"})
      .also("clip.Tensor", true)
      .in_place()
      .out("clamp.Tensor_out");
}

// clamp_min and clamp_max: one bound, `bound` by name.
void declare_one_bound(Registrar& r, std::string_view bound, KindTable preserved, auto f) {
  const std::string name(bound);
  const std::string op = "clamp_" + name;
  const std::string extreme = name == "min" ? "maximum" : "minimum";
  const auto declare = [&](const std::string& schema, uint64_t refused) -> OpBuilder& {
    return r.op(schema)
        .summary("each element held " + std::string(name == "min" ? "above " : "below ") + name)
        .pointwise(Promotion::kCommon, {"self", name})
        .refuses(refused)
        .compute(RealTypes{}, f);
  };
  declare(op + "(Tensor self, Scalar " + name + ") -> Tensor", kF8DTypes | kBoolDTypes)
      .rules(clamp_rules)
      .samples({"f64[5,7]; " + name + "=1.5", "f32[4,1,6]; " + name + "=0",
                "i64[5,3]; " + name + "=-2", "i64[5]; " + name + "=0.5", "bf16[6]; " + name + "=1",
                "f16[2,3]; " + name + "=-1"})
      .in_place()
      .out(op + ".out")
      .over_lists("_foreach_" + op + ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
      .over_lists("_foreach_" + op + ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]")
      .over_lists("_foreach_" + extreme + ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
      .over_lists("_foreach_" + extreme +
                  ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]");
  declare(op + ".Tensor(Tensor self, Tensor " + name + ") -> Tensor", kF8DTypes)
      .families(
          [preserved, name](const Call&) { return extreme_families(preserved, "self", name); })
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]", "f32[3,4]; f32[4]", "i64[5,3]; i64[3]",
                "f32[5]; i64[5]", "bool[7]; bool[7]", "bf16[6]; bf16[6]"})
      .in_place()
      .out(op + ".Tensor_out")
      .over_lists("_foreach_" + op + ".List(Tensor[] self, Tensor[] other) -> Tensor[]")
      .over_lists("_foreach_" + extreme + ".List(Tensor[] self, Tensor[] other) -> Tensor[]");
}

}  // namespace

void declare_extremes(Registrar& r) {
  declare_pairs(r);
  declare_clamp(r);
  declare_one_bound(r, "min", kMaxPreserving, kMaximum);
  declare_one_bound(r, "max", kMinPreserving, kMinimum);
}

}  // namespace pointwise
