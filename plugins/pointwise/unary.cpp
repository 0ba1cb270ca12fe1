// Functions of one argument that keep its dtype. A partial passes where f commutes with its
// reduction: f(max x_r) = max f(x_r) if f never falls, a min comes out if f never rises, f(x y) =
// f(x) f(y) passes products, a linear f passes sums.
//   neg f64[4,6]: P(sum) | P(sum);  P(max) | P(min).  relu: P(max) | P(max), but
//   no P(sum) | P(sum), as relu(-1) + relu(1) is 1 and relu(0) is 0.  abs: P(product) | P(product),
//   but no P(max) | P(max), as |max(-3, 1)| is 1 and max(3, 1) is 3

#include <cmath>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

PointwiseDTypes own_dtype(const Call& call) {
  const DType dtype = call.tensor("self").dtype();
  return {dtype, dtype};
}

OpBuilder& unary(Registrar& r, std::string_view name, std::string_view summary,
                 PointwiseDTypesFn dtypes = own_dtype) {
  const std::string text(name);
  return r.op(text + "(Tensor self) -> Tensor")
      .summary(summary)
      .pointwise(std::move(dtypes))
      .refuses(kF8DTypes)
      .in_place()
      .out(text + ".out");
}

// The identity where no element can be negative.
std::function<Families(const Call&)> unless_unsigned(Families families) {
  return [families](const Call& call) {
    return know(call, "self").nonnegative ? Families{{kIdentity, {"self"}}} : families;
  };
}

void declare_abs(Registrar& r) {
  unary(r, "abs", "magnitude of each element; real for complex ones",
        [](const Call& call) {
          const DType dtype = call.tensor("self").dtype();
          return PointwiseDTypes{dtype, to_real(dtype)};
        })
      .refuses(kBoolDTypes)
      .families(unless_unsigned({{kMultiplicative, {"self"}}}))
      .compute(AllTypes{},
               [](auto x) {
                 if constexpr (std::is_integral_v<decltype(x)>)
                   return x < 0 ? minus(decltype(x)(0), x) : x;
                 else
                   return std::abs(x);
               })
      .over_lists(list_form("abs"))
      .also("prims.abs")
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bf16[6]", "c128[3,4]", "f64[]"});
}

void declare_signs(Registrar& r) {
  unary(r, "neg", "-x of each element")
      .refuses(kBoolDTypes)
      .families({{kLinear, {"self"}}, {kDecreasing, {"self"}}})
      .compute(AllTypes{},
               [](auto x) {
                 if constexpr (std::is_integral_v<decltype(x)>)
                   return minus(decltype(x)(0), x);
                 else
                   return -x;
               })
      .over_lists(list_form("neg"))
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "i8[7]", "bf16[6]", "c128[3,4]", "f64[]"});
  unary(r, "sign", "-1, 0 or 1 by the sign of each element")
      .families([](const Call& call) {
        Families families = {{kIncreasing, {"self"}}, {kMultiplicative, {"self"}}};
        if (!know(call, "self").nonnegative) return families;
        families.push_back({kIsPositive, {"self"}});
        add_flag_result(families, call, "self");
        return families;
      })
      .compute(RealTypes{},
               [](auto x) {
                 using C = decltype(x);
                 return static_cast<C>(static_cast<int>(C(0) < x) - static_cast<int>(x < C(0)));
               })
      .over_lists(list_form("sign"))
      .also("prims.sign")
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bool[6]", "bf16[6]", "f64[]"});
}

void declare_steps(Registrar& r) {
  unary(r, "floor", "the largest integer not above each element")
      .refuses(kBoolDTypes)
      .families([](const Call& call) {
        const bool is_identity = is_integral(call.tensor("self").dtype());
        return is_identity ? Families{{kIdentity, {"self"}}} : Families{{kIncreasing, {"self"}}};
      })
      .compute(RealTypes{},
               [](auto x) {
                 if constexpr (std::is_integral_v<decltype(x)>)
                   return x;
                 else
                   return std::floor(x);
               })
      .over_lists(list_form("floor"))
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bf16[6]", "f64[]"});
  unary(r, "relu", "max(x, 0) of each element")
      .refuses(kBoolDTypes)
      .families(unless_unsigned({{kIncreasing, {"self"}}}))
      .compute(RealTypes{}, [](auto x) { return x <= decltype(x)(0) ? decltype(x)(0) : x; })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bf16[6]", "f64[]"});
}

void declare_square(Registrar& r) {
  unary(r, "square", "x * x of each element",
        [](const Call& call) {
          const DType dtype = call.tensor("self").dtype();
          const DType result = is_bool(dtype) ? DType::kI64 : dtype;
          return PointwiseDTypes{result, result};
        })
      .families([](const Call& call) {
        Families families = {{kMultiplicative, {"self"}}};
        if (know(call, "self").nonnegative) families.push_back({kIncreasing, {"self"}});
        if (know(call, "self").is_flag) add_flag_result(families, call, "self");
        return families;
      })
      .compute(AllTypes{}, [](auto x) { return times(x, x); })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bool[6]", "bf16[6]", "c128[3,4]", "f64[]"});
}

// `positive` returns its argument itself.
void declare_positive(Registrar& r) {
  r.op("positive(Tensor(a) self) -> Tensor(a)")
      .summary("the tensor itself, if it holds numbers")
      .pointwise()
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        require(!is_bool(self.dtype()), "positive is not defined for bool");
        outputs.add(Output{
            self.dtype(), shape_of(self), {self.strides().begin(), self.strides().end()}, 0, 0});
      })
      .families({{kIdentity, {"self"}}})
      .flops(0)
      .compute(AllTypes{}, [](auto x) { return x; })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bf16[6]", "c128[3,4]", "f64[]"});
}

}  // namespace

void declare_unary(Registrar& r) {
  declare_abs(r);
  declare_signs(r);
  declare_steps(r);
  declare_square(r);
  declare_positive(r);
}

}  // namespace pointwise
