// Linear combinations, and sums with products and quotients. Sums of ranks' parts add up term by
// term, sum_r (x_r + y_r) = x + y, so both terms must be partial: a whole y would be counted once a
// rank. A mean counts it once, and a max or a min is only shifted by it, the other way round under
// a minus. Two maxima do not meet: the ranks where x and y are largest may differ.
//   add.Tensor f64[4,6], f64[6]: S(1) | S(1), S(0);  P(sum) | P(sum), P(sum);  P(avg) | P(avg), R;
//   P(max) | P(max), R;  no P(sum) | P(sum), R.  sub.Tensor of them: P(max) | R, P(min)

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

using Complex = std::complex<double>;

void check_alpha(const Call& call, DType result) {
  const onedim_value_t* alpha = call.find_attribute("alpha");
  if (alpha == nullptr) return;
  require(alpha->kind != ONEDIM_VALUE_BOOL || is_bool(result), "a bool alpha needs bool operands");
  require(
      category(result) >= 2 || alpha->kind == ONEDIM_VALUE_INT || alpha->kind == ONEDIM_VALUE_BOOL,
      "integer operands need an integer alpha");
}

// self and other, checked as ATen does; subtraction refuses bool altogether.
PointwiseDTypesFn sum_dtypes(bool subtracts) {
  return [subtracts](const Call& call) {
    const std::array<std::string, 2> names = {"self", "other"};
    const DType dtype = common_dtype(call, names);
    for (const std::string& name : names) {
      const Operand found = operand(call, name);
      const bool has_bool = found.tensor.present() ? is_bool(found.tensor.dtype())
                                                   : found.value->kind == ONEDIM_VALUE_BOOL;
      require(!subtracts || !has_bool, "subtraction is not defined for bool, use logical_xor");
    }
    check_alpha(call, dtype);
    return PointwiseDTypes{dtype, dtype};
  };
}

// self_factor * self + other_factor * other, where one factor is +-1 and the other +-alpha.
using FactorsFn = std::array<Complex, 2> (*)(Complex alpha);

void sum_rules(const Call& call, RuleSink& rules, FactorsFn factors_of) {
  constexpr std::array<std::string_view, 2> kNames = {"self", "other"};
  const std::array<Complex, 2> factors = factors_of(operand(call, "alpha").number);
  for (int i = 0; i < 2; ++i) {
    if (factors[1 - i] == 0.0 && factors[i] == 1.0) {
      return add_ignoring(call, rules, kNames[i], {{kNames[1 - i]}});
    }
  }
  add_families(call, rules, linear_combination(call, kNames, factors));
  // For bool, + is or.
  const bool is_or = call.output().dtype() == DType::kBool;
  if (is_or) add_family(call, rules, {kMaxPreserving, {"self", "other"}});
}

template <typename F>
OpBuilder& sum_like(Registrar& r, std::string_view schema, bool subtracts, FactorsFn factors, F f) {
  return r.op(schema)
      .pointwise(sum_dtypes(subtracts))
      .refuses(kF8DTypes)
      .rules([factors](const Call& call, RuleSink& rules) { sum_rules(call, rules, factors); })
      .elementwise(AllTypes{}, {"self", "other", "alpha"}, [f](const Call&) { return f; });
}

constexpr auto kAdd = [](auto a, auto b, auto alpha) { return plus(a, times(alpha, b)); };
constexpr auto kSubtract = [](auto a, auto b, auto alpha) { return minus(a, times(alpha, b)); };
constexpr auto kSubtractFrom = [](auto a, auto b, auto alpha) { return minus(b, times(alpha, a)); };

std::array<Complex, 2> add_factors(Complex alpha) { return {1.0, alpha}; }
std::array<Complex, 2> sub_factors(Complex alpha) { return {1.0, -alpha}; }
std::array<Complex, 2> rsub_factors(Complex alpha) { return {-alpha, 1.0}; }

void declare_add(Registrar& r) {
  sum_like(r, "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", false,
           add_factors, kAdd)
      .summary("self + alpha * other")
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]; alpha=-2", "f32[3,4]; f32[4]; alpha=0",
                "i64[5,3]; i64[3]", "bool[7]; bool[7]", "f32[5]; i64[5]; alpha=0.5",
                "c64[3,4]; c64[4]; alpha=2", "bf16[6]; bf16[6]", "f64[5]; other=2.5",
                "f32[3,1,2]; other=0", "i32[7]; f32[]", "f64[2,3]; f64[]; alpha=2",
                "f32[4]; f32[]; alpha=-1", "i64[3]; i64[]; alpha=3", "bf16[5]; bf16[]",
                "c64[2]; c64[]"})
      .in_place()
      .out("add.out")
      .over_lists("_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]")
      .over_lists(
          "_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]");
  sum_like(r, "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", false, add_factors,
           kAdd)
      .summary("self + alpha * other")
      .samples({"f64[5,7]; other=3", "f32[4,1,6]; other=-1.5; alpha=2", "i64[3,5]; other=2",
                "f64[5]; other=0", "f64[4]; other=2; alpha=0", "i64[5]; other=0.5",
                "bool[6]; other=2", "c64[3,2]; other=1", "bf16[7]; other=1.5"})
      .in_place()
      .out("add.Scalar_out")
      .over_lists("_foreach_add.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
      .over_lists("_foreach_add.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]");
}

void declare_sub(Registrar& r) {
  sum_like(r, "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", true,
           sub_factors, kSubtract)
      .summary("self - alpha * other")
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]; alpha=-2", "f32[3,4]; f32[4]; alpha=0",
                "i64[5,3]; i64[3]", "f32[5]; i64[5]; alpha=0.5", "c64[3,4]; c64[4]",
                "bf16[6]; bf16[6]", "f64[5]; other=2.5"})
      .in_place()
      .out("sub.out")
      .over_lists(
          "_foreach_sub.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]");
  sum_like(r, "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", true, sub_factors,
           kSubtract)
      .summary("self - alpha * other")
      .samples({"f64[5,7]; other=3", "f32[4,1,6]; other=-1.5; alpha=2", "i64[3,5]; other=2",
                "f64[5]; other=0", "i64[5]; other=0.5", "c64[3,2]; other=1", "bf16[7]; other=1.5"})
      .in_place()
      .out("sub.Scalar_out")
      .over_lists("_foreach_sub.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]")
      .over_lists("_foreach_sub.ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]");
  sum_like(r, "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", true,
           rsub_factors, kSubtractFrom)
      .summary("other - alpha * self")
      .samples({"f64[5,7]; f64[5,7]", "f64[4,1]; f64[1,6]; alpha=-2", "f32[3,4]; f32[4]; alpha=0",
                "i64[5,3]; i64[3]", "f32[5]; i64[5]; alpha=0.5", "c64[3,4]; c64[4]"})
      .out("rsub.Tensor_out");
  sum_like(r, "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", true,
           rsub_factors, kSubtractFrom)
      .summary("other - alpha * self")
      .samples({"f64[5,7]; other=3", "f32[4,1,6]; other=-1.5; alpha=2", "i64[3,5]; other=2",
                "f64[5]; other=0", "f64[5]; other=0; alpha=-1", "i64[5]; other=0.5; alpha=-2.0",
                "c64[3,2]; other=1"})
      .out("rsub.Scalar_out");
}

// lerp(self, end, w) = (1 - w) * self + w * end.
void lerp_rules(const Call& call, RuleSink& rules) {
  const Knowledge weight = know(call, "weight");
  if (!weight.number) {
    return add_families(call, rules, {{kLinear, {"self", "end"}}, {kAffine, {"weight"}}});
  }
  if (weight.is(0)) return add_ignoring(call, rules, "self", {{"end"}});
  if (weight.is(1)) return add_ignoring(call, rules, "end", {{"self"}});
  add_families(call, rules,
               linear_combination(call, {"self", "end"}, {1.0 - *weight.number, *weight.number}));
}

PointwiseDTypes lerp_dtypes(const Call& call) {
  const DType dtype = call.tensor("self").dtype();
  for (std::string_view name : {"end", "weight"}) {
    const TensorView tensor = call.tensor(name);
    require(!tensor.present() || tensor.dtype() == dtype, "lerp needs tensors of one dtype");
  }
  return {dtype, dtype};
}

// From the nearer end, so that weights 0 and 1 are exact.
constexpr auto kLerp = [](auto a, auto b, auto weight) {
  const decltype(a) one(1);
  return std::abs(weight) < 0.5 ? a + weight * (b - a) : b - (b - a) * (one - weight);
};

void declare_lerp(Registrar& r) {
  const auto lerp = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("self + weight * (end - self)")
        .pointwise(lerp_dtypes, {"self", "end", "weight"})
        .refuses(kF8DTypes)
        .flops(3)
        .rules(lerp_rules)
        .compute(FloatComplexTypes{}, kLerp);
  };
  lerp("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor")
      .samples({"f64[5,7]; f64[5,7]; weight=0.25", "f64[4,1]; f64[1,6]; weight=1.5",
                "f32[3,4]; f32[4]; weight=-0.5", "f64[2,5]; f64[5]; weight=0",
                "f64[5]; f64[5]; weight=1", "bf16[6]; bf16[6]; weight=0.5",
                "c64[3,2]; c64[2]; weight=0.25"})
      .in_place()
      .out("lerp.Scalar_out")
      .over_lists(
          "_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]")
      .over_lists(
          "_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> "
          "Tensor[]");
  lerp("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor")
      .samples({"f64[5,3]; f64[5,3]; f64[5,3]", "f64[4,1]; f64[1,3]; f64[3]",
                "f32[3]; f32[3]; f32[]", "c64[3]; c64[3]; c64[3]", "bf16[5]; bf16[5]; bf16[5]",
                "f32[2,3]; f32[2,3]; f32[2,3]", "f64[2,3]; f64[2,3]; weight=0.5"})
      .in_place()
      .out("lerp.Tensor_out")
      .over_lists(
          "_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> "
          "Tensor[]");
}

// self + value * tensor1 * tensor2: linear in self with one factor at a time.
void addcmul_rules(const Call& call, RuleSink& rules) {
  const Complex value = operand(call, "value").number;
  if (value == 0.0) return add_ignoring(call, rules, "self", {{"tensor1"}, {"tensor2"}});
  Families families = {
      {kLinear, {"self", "tensor1"}}, {kLinear, {"self", "tensor2"}}, {kIncreasing, {"self"}}};
  const std::array<std::string_view, 2> factors = {"tensor1", "tensor2"};
  for (int i = 0; i < 2; ++i) {
    const Knowledge other = know(call, factors[1 - i]);
    const int sign = other.nonnegative ? 1 : other.nonpositive ? -1 : 0;
    add_scaled(families, factors[i], sign * sign_of(value));
  }
  add_families(call, rules, families);
}

void addcdiv_rules(const Call& call, RuleSink& rules) {
  const Complex value = operand(call, "value").number;
  // A divisor must not vanish on any rank, as factors of one that does not cannot.
  if (value == 0.0)
    return add_ignoring(call, rules, "self", {{"tensor1"}, {"tensor2", kMultiplicative}});
  Families families = {{kLinear, {"self", "tensor1"}}, {kIncreasing, {"self"}}};
  const Knowledge divisor = know(call, "tensor2");
  const int sign = divisor.nonnegative ? 1 : divisor.nonpositive ? -1 : 0;
  add_scaled(families, "tensor1", sign * sign_of(value));
  add_families(call, rules, families);
}

PointwiseDTypes addc_dtypes(const Call& call) {
  const DType dtype = common_dtype(call, std::array<std::string, 3>{"self", "tensor1", "tensor2"});
  return {dtype, dtype};
}

void declare_addc(Registrar& r) {
  r.op("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
      .summary("self + value * tensor1 * tensor2")
      .pointwise(addc_dtypes)
      .refuses(kF8DTypes | kBoolDTypes)
      .flops(3)
      .rules(addcmul_rules)
      .elementwise(AllTypes{}, {"self", "tensor1", "tensor2", "value"},
                   [](const Call&) {
                     return [](auto a, auto b, auto c, auto value) {
                       return plus(a, times(times(value, b), c));
                     };
                   })
      .samples({"f64[5,3]; f64[5,3]; f64[5,3]; value=2", "f64[4,1]; f64[3]; f64[4,3]; value=-0.5",
                "f32[3]; f32[3]; f32[]", "i64[2,3]; i64[3]; i64[2,1]; value=3",
                "f64[5]; f64[5]; f64[5]; value=0", "c64[3]; c64[3]; c64[3]",
                "bf16[5]; bf16[5]; bf16[5]"})
      .in_place()
      .out("addcmul.out")
      .over_lists(
          "_foreach_addcmul.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar "
          "value=1) -> Tensor[]")
      .over_lists(
          "_foreach_addcmul.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, "
          "Scalar[] scalars) -> Tensor[]");
  r.op("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
      .summary("self + value * tensor1 / tensor2")
      .pointwise([](const Call& call) {
        const auto is_whole = [&call](std::string_view name) {
          return call.has_tensor(name) && category(call.tensor(name).dtype()) < 2;
        };
        require(!is_whole("tensor1") || !is_whole("tensor2"),
                "addcdiv divides floats only, convert tensor1 or tensor2");
        return addc_dtypes(call);
      })
      .refuses(kF8DTypes)
      .flops(3)
      .rules(addcdiv_rules)
      .elementwise(FloatComplexTypes{}, {"self", "tensor1", "tensor2", "value"},
                   [](const Call&) {
                     return [](auto a, auto b, auto c, auto value) { return a + value * b / c; };
                   })
      .samples({"f64[5,3]; f64[5,3]; f64[5,3]:nonzero; value=2",
                "f64[4,1]; f64[3]; f64[4,3]:nonzero; value=-0.5", "f32[3]; f32[3]; f32[]:nonzero",
                "f64[5]; f64[5]; f64[5]:nonzero; value=0", "c64[3]; c64[3]; c64[3]:nonzero",
                "bf16[5]; bf16[5]; bf16[5]:nonzero"})
      .in_place()
      .out("addcdiv.out")
      .over_lists(
          "_foreach_addcdiv.Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar "
          "value=1) -> Tensor[]")
      .over_lists(
          "_foreach_addcdiv.ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, "
          "Scalar[] scalars) -> Tensor[]");
}

}  // namespace

void declare_additive(Registrar& r) {
  declare_add(r);
  declare_sub(r);
  declare_lerp(r);
  declare_addc(r);
}

}  // namespace pointwise
