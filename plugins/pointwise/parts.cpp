// Parts of numbers: a complex number's sign, angle and conjugate, a float's mantissa and exponent.
//   c64[4,6]: sgn(a b) = sgn(a) sgn(b), so P(product) | P(product); conj is linear, P(sum) | P(sum)

#include <cmath>
#include <numbers>

#include <onedim/arithmetic.hpp>

#include "knowledge.hpp"

namespace pointwise {
namespace {

PointwiseDTypes own_dtype(const Call& call) {
  const DType dtype = call.tensor("self").dtype();
  return {dtype, dtype};
}

template <typename C>
C sign(C x) {
  if constexpr (std::is_integral_v<C> || std::is_floating_point_v<C>) {
    return static_cast<C>(static_cast<int>(C(0) < x) - static_cast<int>(x < C(0)));
  } else {
    const auto length = std::abs(x);
    return length == 0 ? C(0) : x / length;
  }
}

void declare_sgn(Registrar& r) {
  r.op("sgn(Tensor self) -> Tensor")
      .summary("each element divided by its magnitude, 0 where that is 0")
      .pointwise(own_dtype)
      .refuses(kF8DTypes)
      .families([](const Call& call) {
        Families families = {{kIncreasing, {"self"}}, {kMultiplicative, {"self"}}};
        if (!know(call, "self").nonnegative) return families;
        families.push_back({kIsPositive, {"self"}});
        add_flag_result(families, call, "self");
        return families;
      })
      .compute(AllTypes{}, [](auto x) { return sign(x); })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "u8[7]", "bool[6]", "bf16[6]", "c128[3,4]"})
      .in_place()
      .out("sgn.out");
}

// A real number's angle is 0 or pi: it falls where the number changes from below 0 to above.
void declare_angle(Registrar& r) {
  r.op("angle(Tensor self) -> Tensor")
      .summary("the angle of each element, of real ones 0 or pi")
      .pointwise([](const Call& call) {
        const DType dtype = to_floating(call.tensor("self").dtype());
        return PointwiseDTypes{dtype, to_real(dtype)};
      })
      .refuses(kF8DTypes)
      .flops(8)
      .families({{kDecreasing, {"self"}}})
      .compute(AllTypes{},
               [](auto x) {
                 using C = decltype(x);
                 if constexpr (std::is_integral_v<C> || std::is_floating_point_v<C>)
                   return x != x ? x : x < C(0) ? static_cast<C>(std::numbers::pi) : C(0);
                 else
                   return C(std::arg(x));
               })
      .samples({"f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "c128[3,4]"})
      .out("angle.out");
}

void declare_conj(Registrar& r) {
  r.op("conj_physical(Tensor self) -> Tensor")
      .summary("the complex conjugate, written out")
      .pointwise(own_dtype)
      .families([](const Call& call) {
        Families families;
        add_identity(families, call, "self");
        return families;
      })
      .compute(AllTypes{},
               [](auto x) {
                 using C = decltype(x);
                 if constexpr (std::is_integral_v<C> || std::is_floating_point_v<C>)
                   return x;
                 else
                   return std::conj(x);
               })
      .samples({"c64[5,7]", "c128[4,1,6]", "f64[3,5]", "i64[7]", "bf16[6]", "bool[5]"})
      .also("prims.conj_physical")
      .in_place()
      .out("conj_physical.out");
}

// Two outputs, placed alike. Neither knows an order: 0.5 and 1 have the mantissa 0.5.
void declare_frexp(Registrar& r) {
  r.op("frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)")
      .summary("self as mantissa * 2^exponent, the mantissa's magnitude from 0.5 up to 1")
      .infer([](const Call& call, OutputSink& outputs) {
        const TensorView self = call.tensor("self");
        require(is_floating(self.dtype()), "frexp is defined for floats only");
        outputs.add(self.dtype(), shape_of(self));
        outputs.add(DType::kI32, shape_of(self));
      })
      .rules(pointwise_rules)
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) {
                 const std::array in = {operand(call, "self")};
                 const auto exponent_of = [](double x) {
                   int exponent = 0;
                   std::frexp(x, &exponent);
                   return static_cast<double>(exponent);
                 };
                 map_elements<double>(call.output(0), in, [](double x) {
                   int exponent = 0;
                   return std::frexp(x, &exponent);
                 });
                 map_elements<double>(call.output(1), in, exponent_of);
               })
      .samples({"f64[5,7]", "f32[4,1,6]", "f64[3,5]", "bf16[7]", "f16[2,3]"})
      .also("prims.frexp");
}

}  // namespace

void declare_parts(Registrar& r) {
  declare_sgn(r);
  declare_angle(r);
  declare_conj(r);
  declare_frexp(r);
}

}  // namespace pointwise
