#pragma once
// What families of functions in floating point share: the declaration `NAME(Tensor self) ->
// Tensor` with its forms, and the families that hold on part of the line only. ATen has no in-place
// forms of special functions.

#include "knowledge.hpp"

namespace pointwise {

// Functions on an interval that is bounded above: smaller locals stay within it if 0 does.
inline constexpr std::array<KindPair, 1> kIncreasingFromAbove = kMaxPreserving;
inline constexpr std::array<KindPair, 1> kDecreasingFromAbove = {{{"max", "min"}}};

inline const std::initializer_list<std::string_view> kRealSamples = {
    "f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "bool[6]", "f64[6]", "f16[2,3]"};
inline const std::initializer_list<std::string_view> kComplexSamples = {
    "f64[5,7]", "f32[4,1,6]", "i64[3,5]", "bf16[7]", "bool[6]", "c128[3,4]", "f16[6]"};

// Integers and bool become the default float.
inline OpBuilder& float_function(Registrar& r, std::string_view name, std::string_view summary,
                                 std::string_view argument = "self") {
  const std::string text(name);
  OpBuilder& op = r.op(text + "(Tensor " + std::string(argument) + ") -> Tensor")
                      .summary(summary)
                      .pointwise(Promotion::kFloating)
                      .refuses(kF8DTypes)
                      .flops(8)
                      .out(text + ".out");
  return name.starts_with("special_") ? op : op.in_place();
}

using FamiliesFn = std::function<Families(const Call&)>;

// On numbers >= 0, as unsigned and bool tensors hold, or on all.
inline FamiliesFn where_nonnegative(Families there, Families elsewhere = {},
                                    std::string_view name = "self") {
  return [there, elsewhere, name](const Call& call) {
    return know(call, name).nonnegative ? there : elsewhere;
  };
}

// On 0 and 1 alone, as bool tensors hold, or from 0 up, or elsewhere.
inline FamiliesFn where_flag(Families on_flags, Families on_nonnegative = {},
                             std::string_view name = "self") {
  return [on_flags, on_nonnegative, name](const Call& call) {
    const Knowledge self = know(call, name);
    return self.is_flag ? on_flags : self.nonnegative ? on_nonnegative : Families{};
  };
}

}  // namespace pointwise
