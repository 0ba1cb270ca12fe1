// Choices between values by a condition. Where the condition is whole each element is one side's on
// all ranks, so every partial kind passes that both sides have. A whole side of a sum would be
// counted once a rank; it may stand beside P(avg), P(max) and P(min), for equal values are those of
// themselves. The condition may be partial where it is known which side is greater.
//   where.self bool[4,6], f64[4,6], f64[4,6]: P(sum) | R, P(sum), P(sum);  P(max) | R, P(max), R;
//   no P(sum) | R, P(sum), R.  masked_fill.Scalar f64[4,6], bool[4,6] with 0: P(sum) | P(sum), R

#include "knowledge.hpp"

namespace pointwise {
namespace {

using Complex = std::complex<double>;

// What is known of an argument's values: one number, or what its dtype can hold.
Range values_of(const Call& call, std::string_view name) {
  const std::optional<Complex> number = know(call, name).number;
  if (number && number->imag() == 0) return {number->real(), number->real()};
  const TensorView tensor = call.tensor(name);
  return range_of(tensor.present() ? tensor.dtype() : DType::kF64);
}

// Values that a condition mixes pass every partial: each element comes from one of them. The
// condition itself may be partial where one side is known to be the greater: then a choice is a max
// or a min of what the ranks choose, as the side that wins is the same on all of them.
void choice_rules(const Call& call, RuleSink& rules, std::string_view condition,
                  std::string_view yes, std::string_view no) {
  add_family(call, rules, {kIdentity, {yes, no}});
  const Range yes_values = values_of(call, yes), no_values = values_of(call, no);
  if (yes_values.lowest >= no_values.highest) {
    add_partial_rule(call, rules, "max", {{condition, "max"}, {no, "max"}});
    add_partial_rule(call, rules, "min", {{condition, "min"}, {yes, "min"}});
  }
  if (yes_values.highest <= no_values.lowest) {
    add_partial_rule(call, rules, "max", {{condition, "min"}, {yes, "max"}});
    add_partial_rule(call, rules, "min", {{condition, "max"}, {no, "min"}});
  }
  // With 0 on one side a choice is a product with a flag.
  if (know(call, no).is(0))
    add_partial_rule(call, rules, "product", {{condition, "min"}, {yes, "product"}});
  if (know(call, yes).is(0))
    add_partial_rule(call, rules, "product", {{condition, "max"}, {no, "product"}});
  const bool is_flag = know(call, no).is_flag && know(call, yes).is_flag;
  if (is_flag && !is_bool(call.output().dtype())) add_family(call, rules, {kFlagResult, {}});
}

constexpr auto kChoose = [](auto condition, auto yes, auto no) {
  return condition != decltype(condition)(0) ? yes : no;
};

void check_condition(const Call& call, std::string_view name) {
  const DType dtype = call.tensor(name).dtype();
  if (!is_bool(dtype) && dtype != DType::kU8)
    fail(std::string(name) + " must be bool, not " + name_of(dtype));
}

void declare_where(Registrar& r) {
  const auto where = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("self where condition holds, other elsewhere")
        .pointwise(
            [](const Call& call) {
              check_condition(call, "condition");
              const DType dtype = common_dtype(call, std::array<std::string, 2>{"self", "other"});
              return PointwiseDTypes{dtype, dtype};
            },
            {"condition", "self", "other"})
        .rules([](const Call& call, RuleSink& rules) {
          choice_rules(call, rules, "condition", "self", "other");
        })
        .compute(AllTypes{}, kChoose);
  };
  where("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor")
      .samples({"bool[5,3]; f64[5,3]; f64[5,3]", "bool[3]; f64[4,1]; f64[4,3]",
                "bool[4,3]; f32[]; f32[3]", "bool[5,1]; i64[5,2]; i64[2]",
                "bool[5]; bool[5]; bool[5]", "bool[5]; f32[5]; i64[5]", "bool[3]; c64[3]; c64[3]",
                "bool[7]; bf16[7]; bf16[7]", "bool[6]; f64[6]; other=0"})
      .out("where.self_out");
  where("where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor")
      .samples({"bool[5,3]; f64[5,3]; self=2", "bool[3]; f64[4,3]; self=0",
                "bool[4,3]; f32[3]; self=1", "bool[5]; i64[5]; self=-1",
                "bool[5]; bool[5]; self=true", "bool[3]; c64[3]; self=1"});
  where("where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor")
      .samples({"bool[5,3]; f64[5,3]; other=2", "bool[3]; f64[4,3]; other=0",
                "bool[4,3]; f32[3]; other=1", "bool[5]; i64[5]; other=-1",
                "bool[5]; bool[5]; other=false", "bool[5]; u8[5]; other=0",
                "bool[3]; c64[3]; other=1"});
  where("where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor")
      .samples({"bool[5,7]; self=2; other=1", "bool[4,1,6]; self=-1.5; other=0.5",
                "bool[5]; self=true; other=false", "bool[]; self=0; other=3",
                "bool[6]; self=1; other=0.0"});
}

// The result has self's dtype; a value tensor is one number.
PointwiseDTypes fill_dtypes(const Call& call) {
  require(is_bool(call.tensor("mask").dtype()), "mask must be bool");
  const TensorView value = call.tensor("value");
  require(!value.present() || value.ndim() == 0, "value must be a number or a 0-dim tensor");
  const DType dtype = call.tensor("self").dtype();
  const DType filled =
      value.present() ? value.dtype() : number_dtype(*call.find_attribute("value"));
  require(is_complex(dtype) || !is_complex(filled), "a complex value needs a complex self");
  return {dtype, dtype};
}

void declare_masked_fill(Registrar& r) {
  const auto masked_fill = [&r](std::string_view schema) -> OpBuilder& {
    return r.op(schema)
        .summary("value where mask holds, self elsewhere")
        .pointwise(fill_dtypes, {"mask", "value", "self"})
        .rules([](const Call& call, RuleSink& rules) {
          choice_rules(call, rules, "mask", "value", "self");
        })
        .compute(AllTypes{}, kChoose)
        .in_place();
  };
  masked_fill("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor")
      .samples({"f64[5,3]; bool[5,3]; value=0", "f64[4,3]; bool[3]; value=1",
                "f32[3]; bool[4,1]; value=-2.5", "i64[5,3]; bool[5,1]; value=3",
                "bool[7]; bool[7]; value=true", "bool[7]; bool[7]; value=false",
                "u8[5]; bool[5]; value=0", "c64[3,2]; bool[2]; value=0",
                "bf16[6]; bool[6]; value=2"})
      .out("masked_fill.Scalar_out");
  masked_fill("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor")
      .samples({"f64[5,3]; bool[5,3]; f64[]", "f64[4,3]; bool[3]; f64[]",
                "f32[3]; bool[4,1]; f32[]", "i64[5,3]; bool[5,1]; i64[]",
                "bool[7]; bool[7]; bool[]", "c64[3]; bool[3]; c64[]", "f64[5]; bool[5]; value=0"})
      .out("masked_fill.Tensor_out");
}

}  // namespace

void declare_selection(Registrar& r) {
  declare_where(r);
  declare_masked_fill(r);
}

}  // namespace pointwise
