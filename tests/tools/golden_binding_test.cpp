#include "tools/golden_binding.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onedim {
namespace {

class GoldenBinding : public testing::Test {
 protected:
  Result<BoundCall> bind(const std::string& schema_text, GoldenCall call) {
    Result<Schema> schema = parse_schema(schema_text);
    EXPECT_TRUE(schema.ok()) << schema.status();
    schema_ = *std::move(schema);
    return bind_golden_call(schema_, call);
  }
  std::string fault(const std::string& schema_text, GoldenCall call) {
    const Result<BoundCall> bound = bind(schema_text, std::move(call));
    return bound.ok() ? "" : std::string(message_of(bound.status()));
  }

  Schema schema_;
  GoldenValue tensor_{Tensor::zeros(DType::kF32, {2})};
};

TEST_F(GoldenBinding, TensorsBecomeSlotsAndDefaultsAreFilledIn) {
  const auto bound = bind("add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                          {"add", {{"other", tensor_}, {"self", tensor_}}, {}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->inputs.size(), 2u);
  EXPECT_EQ(*bound->call.attribute("alpha"), Value{int64_t{1}});
}

TEST_F(GoldenBinding, ANumberForATensorIsAnAttribute) {
  const auto bound = bind("add(Tensor self, Tensor other) -> Tensor",
                          {"add", {{"self", tensor_}, {"other", {Value{2.0}}}}, {}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->inputs.size(), 1u);
  EXPECT_EQ(*bound->call.attribute("other"), Value{2.0});
}

TEST_F(GoldenBinding, TheSchemaSaysWhatIsComplexOrInfinite) {
  const Value pair{ValueList{Value{1.0}, Value{2.0}}};
  const auto bound = bind("f(Tensor self, Scalar alpha, float limit, int[] dim) -> Tensor",
                          {"f",
                           {{"self", tensor_},
                            {"alpha", {pair}},
                            {"limit", {Value{std::string("-inf")}}},
                            {"dim", {Value{ValueList{Value{int64_t{0}}, Value{int64_t{1}}}}}}},
                           {}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(*bound->call.attribute("alpha"), Value{std::complex<double>(1, 2)});
  EXPECT_EQ(*bound->call.attribute("limit"), Value{-INFINITY});
  EXPECT_TRUE(bound->call.attribute("dim")->get_if<ValueList>() != nullptr);
}

TEST_F(GoldenBinding, ListsAndAbsentTensorsKeepTheirSlots) {
  const GoldenValue list{GoldenList{tensor_, GoldenValue{Value{}}}};
  const auto bound =
      bind("f(Tensor?[] indices, Tensor? bias=None) -> Tensor", {"f", {{"indices", list}}, {}});
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ(bound->inputs.size(), 3u);
  EXPECT_TRUE(bound->inputs[0].has_value());
  EXPECT_FALSE(bound->inputs[1].has_value());
  EXPECT_FALSE(bound->inputs[2].has_value());
}

TEST_F(GoldenBinding, ArgumentsWithoutMeaningOnTheCpuAreTaken) {
  const auto bound =
      bind("clone(Tensor self) -> Tensor",
           {"clone",
            {{"self", tensor_}, {"memory_format", {Value{std::string("preserve_format")}}}},
            {}});
  EXPECT_TRUE(bound.ok()) << bound.status();
}

TEST_F(GoldenBinding, SaysWhatDoesNotFit) {
  const std::string schema = "add(Tensor self, Tensor other) -> Tensor";
  EXPECT_EQ(fault(schema, {"add", {{"self", tensor_}}, {}}), "add needs \"other\"");
  EXPECT_EQ(fault(schema, {"add", {{"self", tensor_}, {"othr", tensor_}}, {}}),
            "add has no argument \"othr\"; did you mean \"other\"?");
  EXPECT_NE(fault(schema, {"add", {{"self", {GoldenList{tensor_}}}, {"other", tensor_}}, {}}), "");
  EXPECT_NE(fault("f(Tensor[] tensors) -> Tensor", {"f", {{"tensors", tensor_}}, {}}), "");
  EXPECT_NE(fault("f(int dim) -> Tensor", {"f", {{"dim", tensor_}}, {}}), "");
}

}  // namespace
}  // namespace onedim
