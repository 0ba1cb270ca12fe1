#include "core/pack/infer_check.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;

TensorMeta meta(Dims shape, Dims strides = {}) {
  TensorMeta result = TensorMeta::contiguous(DType::kF32, std::move(shape));
  if (!strides.empty()) result.strides = std::move(strides);
  return result;
}

Status check(std::string_view schema_text, std::string_view call,
             std::vector<OptionalOutput> outputs) {
  const Result<Schema> schema = parse_schema(schema_text);
  EXPECT_TRUE(schema.ok()) << schema.status();
  const Result<CallText> text = parse_call(*schema, call);
  EXPECT_TRUE(text.ok()) << text.status();
  return check_outputs(*schema, text->call, outputs);
}

TEST(InferCheck, CountsFollowTheSchema) {
  const OptionalOutput one = OutputMeta{meta({2}), -1, 0};
  EXPECT_TRUE(check("a(Tensor x) -> Tensor", "f32[2]", {one}).ok());
  EXPECT_TRUE(check("a(Tensor x) -> ()", "f32[2]", {}).ok());
  EXPECT_TRUE(check("a(Tensor x) -> Tensor[]", "f32[2]", {one, one, one}).ok());
  EXPECT_TRUE(check("a(Tensor x) -> Tensor[]", "f32[2]", {}).ok());
  EXPECT_TRUE(check("a(Tensor x) -> (Tensor, Tensor?)", "f32[2]", {one, std::nullopt}).ok());
  EXPECT_TRUE(fails_with(check("a(Tensor x) -> Tensor", "f32[2]", {one, one}),
                         "2 outputs, but the schema returns 1"));
  EXPECT_TRUE(fails_with(check("a(Tensor x) -> ()", "f32[2]", {one}),
                         "1 outputs, but the schema returns 0"));
  EXPECT_TRUE(
      fails_with(check("a(Tensor x) -> (Tensor, Tensor[])", "f32[2]", {}), "returns at least 1"));
  EXPECT_TRUE(fails_with(check("a(Tensor x) -> (Tensor, Tensor)", "f32[2]", {one, std::nullopt}),
                         "output 1: absent, but the schema does not say `Tensor?`"));
}

TEST(InferCheck, FreshOutputsHaveSaneStrides) {
  const auto with = [](TensorMeta result) {
    return check("a(Tensor x) -> Tensor", "f32[2]", {OutputMeta{std::move(result), -1, 0}});
  };
  EXPECT_TRUE(with(meta({2, 3}, {1, 2})).ok());
  EXPECT_TRUE(with(meta({0, 3}, {0, 0})).ok());
  EXPECT_TRUE(with(meta({1, 3}, {0, 1})).ok());
  EXPECT_TRUE(
      fails_with(with(meta({2, 3}, {0, 1})), "strides [0,1] let elements of shape [2,3] overlap"));
  EXPECT_TRUE(fails_with(with(meta({2, 3}, {2, 1})), "overlap"));
  EXPECT_TRUE(fails_with(with(meta({2, 3}, {int64_t{1} << 40, 1})),
                         "spread 6 elements over 1099511627779"));
  EXPECT_TRUE(fails_with(with(meta({4, 3}, {int64_t{1} << 61, 1})), "more than 2^62"));
  EXPECT_TRUE(fails_with(check("a(Tensor x) -> Tensor", "f32[2]", {OutputMeta{meta({2}), -1, 4}}),
                         "not a view"));
}

TEST(InferCheck, ViewsLieInsideTheirInput) {
  const auto with = [](OutputMeta output) {
    return check("v(Tensor(a) x, Tensor y) -> Tensor(a)", "f32[4,6]; f32[4]", {std::move(output)});
  };
  EXPECT_TRUE(with({meta({6, 4}, {1, 6}), 0, 0}).ok());
  EXPECT_TRUE(with({meta({4, 4}, {6, 1}), 0, 2}).ok());
  EXPECT_TRUE(with({meta({5, 4}, {0, 6}), 0, 5}).ok());
  EXPECT_TRUE(with({meta({0}), 0, 24}).ok());
  EXPECT_TRUE(fails_with(with({meta({4, 4}, {6, 1}), 0, 3}), "leaves the 96 bytes of input 0"));
  EXPECT_TRUE(fails_with(with({meta({4, 4}), 0, -1}), "from -1 on"));
  EXPECT_TRUE(fails_with(with({meta({4, 7}), 0, 0}), "a view of 28 elements"));
  EXPECT_TRUE(fails_with(with({meta({4}), 1, 0}), "no alias mark"));
  EXPECT_TRUE(fails_with(with({meta({4}), 2, 0}), "a view of input 2, which is not there"));
  TensorMeta wide = meta({4, 3});
  wide.dtype = DType::kF64;
  EXPECT_TRUE(with({wide, 0, 0}).ok());
  EXPECT_TRUE(fails_with(with({wide, 0, 1}), "a view of 12 elements from 1 on"));
}

TEST(InferCheck, WrittenOutputsAreTheirArgument) {
  const auto with = [](OutputMeta output) {
    return check("w_(Tensor(a!) x) -> Tensor(a!)", "f32[4,6]", {std::move(output)});
  };
  EXPECT_TRUE(with({meta({4, 6}), 0, 0}).ok());
  EXPECT_TRUE(fails_with(with({meta({4, 6}), -1, 0}), "not described as a view"));
  EXPECT_TRUE(fails_with(with({meta({24}), 0, 0}), "must be described as input 0, f32[4,6]"));
}

TEST(InferCheck, NumbersHaveNoDimsAndTheirOwnDtypes) {
  const auto with = [](std::string_view type, DType dtype, Dims shape, int view = -1) {
    return check(fmt::format("n(Tensor x) -> {}", type), "f64[1]",
                 {OutputMeta{TensorMeta::contiguous(dtype, std::move(shape)), view, 0}});
  };
  EXPECT_TRUE(with("bool", DType::kBool, {}).ok());
  EXPECT_TRUE(with("int", DType::kI64, {}).ok());
  EXPECT_TRUE(with("float", DType::kF64, {}).ok());
  EXPECT_TRUE(with("complex", DType::kC128, {}).ok());
  for (const DType dtype : {DType::kBool, DType::kI64, DType::kF64, DType::kC128})
    EXPECT_TRUE(with("Scalar", dtype, {}).ok());
  EXPECT_TRUE(fails_with(with("float", DType::kF32, {}),
                         "f32[], but the schema returns a number, which is f64 without dims"));
  EXPECT_TRUE(fails_with(with("Scalar", DType::kI32, {}), "bool or i64 or f64 or c128"));
  EXPECT_TRUE(fails_with(with("bool", DType::kBool, {1}), "bool[1], but the schema"));
  EXPECT_TRUE(fails_with(with("float", DType::kF64, {}, 0), "and no view"));
  EXPECT_TRUE(fails_with(check("n(Tensor x) -> bool", "f64[1]", {std::nullopt}), "absent"));
}

TEST(InferCheck, NumbersAreToldFromTensors) {
  const Schema schema = *parse_schema("n(Tensor x) -> (Tensor[] many, int count)");
  EXPECT_FALSE(is_number_output(schema, 0, 3));
  EXPECT_FALSE(is_number_output(schema, 1, 3));
  EXPECT_TRUE(is_number_output(schema, 2, 3));
  EXPECT_FALSE(is_number_output(*parse_schema("w_(Tensor(a!)[] x) -> ()"), 0, 2));
}

TEST(InferCheck, ReturnsOfListsShareTheRest) {
  const Schema schema = *parse_schema("a(Tensor x) -> (Tensor first, Tensor[] many, Tensor last)");
  EXPECT_EQ(return_of_output(schema, 0, 4).name, "first");
  EXPECT_EQ(return_of_output(schema, 1, 4).name, "many");
  EXPECT_EQ(return_of_output(schema, 2, 4).name, "many");
  EXPECT_EQ(return_of_output(schema, 3, 4).name, "last");
  EXPECT_EQ(return_of_output(schema, 1, 2).name, "last");
}

}  // namespace
}  // namespace onedim
