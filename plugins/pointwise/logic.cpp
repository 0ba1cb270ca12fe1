// Truth values of numbers and what joins them.
//   bool[4]: logical_and of P(min), P(min) is P(min); f64[4]: logical_and of P(product), P(product)
//   is P(min), since a product is 0 where one of its factors is

#include "knowledge.hpp"

namespace pointwise {
namespace {

// The partials of an argument that say, joined by the kind `out`, whether it is not 0. In place,
// results may be integers or floats: then the product of flags is their min.
std::vector<std::string_view> kinds_of_truth(const Call& call, std::string_view name,
                                             std::string_view out) {
  if (!call.has_tensor(name)) return {};
  const DType dtype = call.tensor(name).dtype();
  const bool nonnegative = know(call, name).nonnegative;
  std::vector<std::string_view> kinds;
  if (nonnegative) kinds.push_back(out == "product" ? "min" : out);
  if (out != "max") kinds.push_back("product");
  if (out == "max" && nonnegative) kinds.push_back("sum");
  std::erase_if(kinds, [dtype](std::string_view kind) { return !is_legal_partial(kind, dtype); });
  return kinds;
}

// `both` is the kind that may join both arguments at once: min for and, max for or.
void add_truth_rules(const Call& call, RuleSink& rules, std::string_view both) {
  for (std::string_view out : {"min", "max", "product"}) {
    const auto self = kinds_of_truth(call, "self", out);
    const auto other = kinds_of_truth(call, "other", out);
    for (std::string_view kind : self) add_partial_rule(call, rules, out, {{"self", kind}});
    for (std::string_view kind : other) add_partial_rule(call, rules, out, {{"other", kind}});
    if ((out == "max") != (both == "max")) continue;
    for (std::string_view a : self) {
      for (std::string_view b : other)
        add_partial_rule(call, rules, out, {{"self", a}, {"other", b}});
    }
  }
}

const std::initializer_list<std::string_view> kLogicalPairs = {
    "bool[5,7]; bool[5,7]",
    "f64[4,1]:values(-1,0,2); f64[1,6]:values(-2,0,1)",
    "i64[5,3]:values(-1,0,3); i64[3]:values(-3,0,1)",
    "u8[5]:values(0,1,2); u8[5]:values(0,1)",
    "f32[5]:values(-1,0,1); bool[5]",
    "bf16[6]:values(-1,0,1); bf16[6]:values(-1,0,1)",
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

}  // namespace

void declare_logic(Registrar& r) { declare_logical(r); }

}  // namespace pointwise
