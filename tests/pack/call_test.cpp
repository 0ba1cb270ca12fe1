#include "core/pack/call.hpp"

#include <gtest/gtest.h>

#include "tests/pack/mutate_text.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;

Schema schema_of(std::string_view text) {
  Result<Schema> schema = parse_schema(text);
  EXPECT_TRUE(schema.ok()) << schema.status();
  return *std::move(schema);
}

const char* const kAdd = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
const char* const kCat = "cat(Tensor[] tensors, int dim=0) -> Tensor";
const char* const kIndex = "index(Tensor self, Tensor?[] indices) -> Tensor";
const char* const kNorm =
    "norm(Tensor x, int[] shape, Tensor? w=None, Tensor? b=None, float eps=1e-05) -> Tensor";

TEST(ParseCall, TensorsInSchemaOrderThenAttributes) {
  const Schema schema = schema_of(kAdd);
  const Result<CallText> text = parse_call(schema, "f32[4,1]; i64[6]:positive; alpha=-2");
  ASSERT_TRUE(text.ok()) << text.status();
  const Call& call = text->call;
  ASSERT_EQ(call.inputs.size(), 2u);
  EXPECT_EQ(call.inputs[1]->dtype, DType::kI64);
  EXPECT_EQ(call.arguments[1].first, 1);
  EXPECT_EQ(call.arguments[2].first, -1);
  EXPECT_EQ(*call.attribute("alpha"), Value{int64_t{-2}});
  EXPECT_EQ(text->domains[0].name, "");
  EXPECT_EQ(text->domains[1].name, "positive");
  EXPECT_EQ(call.attribute("beta"), nullptr);
}

TEST(ParseCall, NumberForATensorIsAnAttributeWithoutSlot) {
  const Schema schema = schema_of(kAdd);
  const Result<CallText> text = parse_call(schema, "f32[4]; other=2.5");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->call.inputs.size(), 1u);
  EXPECT_EQ(text->call.arguments[1].first, -1);
  EXPECT_EQ(*text->call.attribute("other"), Value{2.5});
  EXPECT_EQ(*parse_call(schema, "f32[4]; self=true")->call.attribute("self"), Value{true});
  EXPECT_EQ(format_call(text->call, text->domains), "f32[4]; other=2.5");
}

TEST(ParseCall, ListsWithAndWithoutBrackets) {
  const Schema cat = schema_of(kCat);
  EXPECT_EQ(parse_call(cat, "f32[2]; f32[3]; dim=0")->call.inputs.size(), 2u);
  EXPECT_EQ(parse_call(cat, "[f32[2]; f32[3]; f32[4]]")->call.inputs.size(), 3u);
  EXPECT_EQ(parse_call(cat, "[]")->call.inputs.size(), 0u);
  const Schema index = schema_of(kIndex);
  const Result<CallText> text = parse_call(index, "f32[4,6]; [-; i64[3]:index(6)]");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_FALSE(text->call.inputs[1].has_value());
  EXPECT_EQ(text->domains[2].arguments[0], Value{int64_t{6}});
  EXPECT_EQ(text->call.arguments[1].count, 2);
}

TEST(ParseCall, AbsentOptionalTensorsKeepTheirSlot) {
  const Schema schema = schema_of(kNorm);
  const Result<CallText> text = parse_call(schema, "f32[4,6]; -; f32[6]; shape=[6]");
  ASSERT_TRUE(text.ok()) << text.status();
  ASSERT_EQ(text->call.inputs.size(), 3u);
  EXPECT_FALSE(text->call.inputs[1].has_value());
  EXPECT_EQ(text->call.arguments[2].count, 1);
  EXPECT_EQ(format_call(text->call, text->domains), "f32[4,6]; -; f32[6]; shape=[6]");
  EXPECT_EQ(parse_call(schema, "f32[4,6]; shape=[6]")->call.inputs.size(), 3u);
}

TEST(ParseCall, AttributesFromTheCommandLine) {
  const Schema schema =
      schema_of("x(Tensor a, ScalarType? dtype=None, str mode=\"a\", float p=1) -> Tensor");
  const std::vector<std::string> attributes{"dtype=bf16", "mode=b", "p=inf", "device=cpu",
                                            "pin_memory=false"};
  const Result<CallText> text = parse_call(schema, "f32[2]", attributes);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text->call.attribute("dtype"), Value{DType::kBF16});
  EXPECT_EQ(*text->call.attribute("mode"), Value{std::string("b")});
  EXPECT_EQ(text->call.attribute("device"), nullptr);
  EXPECT_EQ(text->call.attributes.size(), 3u);
}

TEST(ParseCall, TextRoundTrips) {
  const std::pair<const char*, const char*> cases[] = {
      {kAdd, "f32[4,1]; bool[6]:positive; alpha=-2"},
      {kAdd, "i64[3]:values(0,2,5); f64[]"},
      {kCat, "[f32[2]; f32[3]:nonfinite]; dim=1"},
      {kCat, "[]"},
      {kIndex, "f32[4,6]; [-; i64[3]:index(6)]"},
      {kNorm, "f32[4,6]; -; f32[6]; shape=[6]; eps=0.5"},
      {"a(Tensor? x, Tensor? y) -> Tensor", "-; f32[2]"},
      {"a(Tensor? x, Tensor? y) -> Tensor", ""},
      {"a(Tensor x, Tensor[]? y, Tensor? z) -> Tensor", "f32[1]; -; f32[2]"},
      {"a(bool[] b, str? s=None, complex c=1) -> Tensor", "b=[true,false]; s=\"a;b\""},
  };
  for (const auto& [schema_text, text] : cases) {
    const Schema schema = schema_of(schema_text);
    const Result<CallText> call = parse_call(schema, text);
    ASSERT_TRUE(call.ok()) << text << ": " << call.status();
    EXPECT_EQ(format_call(call->call, call->domains), text);
  }
}

TEST(ParseCall, ErrorsPointAtWhatIsWrong) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {kAdd, "f32[4", "at column"},
      {kAdd, "f32[4]; f32[4]; f32[4]", "more tensors than add.Tensor takes"},
      {kAdd, "f32[4]", "add.Tensor: tensor \"other\" is missing"},
      {kAdd, "f32[4]; -", "tensor \"other\" must not be absent"},
      {kAdd, "f32[4]; f32[4]; alpah=2",
       "add.Tensor has no argument \"alpah\"; its signature is add.Tensor(Tensor self, Tensor "
       "other, *, Scalar alpha=1) -> Tensor; did you mean \"alpha\"?"},
      {kAdd, "f32[4]; f32[4]; alpha=[1]", "argument \"alpha\" is Scalar, but the value is [1]"},
      {kAdd, "f32[4]; f32[4]; alpha=1; alpha=2", "argument \"alpha\" is given twice"},
      {kAdd, "f32[4]; alpha=1; f32[4]", "tensors come before attributes at column 18"},
      {kAdd, "f32[4]; f32[4]; other=2", "more tensors than add.Tensor takes"},
      {kAdd, "[f32[4]]; f32[4]", "\"self\" is one tensor, not a list at column 1"},
      {kAdd, "f32[4]; f33[4]", "tensor 2: unknown dtype \"f33\""},
      {kAdd, "f32[4]; ; f32[4]", "expected a tensor such as `f32[4,6]`"},
      {kAdd, "f32[4]:positiv; f32[4]",
       "unknown domain \"positiv\" at column 8 of \"f32[4]:positiv; f32[4]\"; did you mean "
       "\"positive\"?"},
      {kAdd, "f32[4]:index; f32[4]", "domain \"index\" takes 1 argument, not 0"},
      {kAdd, "f32[4]:index(-1); f32[4]", "domain \"index\" takes a size, not -1"},
      {kAdd, "f32[4]:positive(1); f32[4]", "domain \"positive\" takes 0 arguments, not 1"},
      {kAdd, "f32[4]; f32[4]; alpha=", "alpha"},
      {kAdd, "f32[4]; other=\"two\"", "argument \"other\" is Tensor"},
      {kCat, "f32[2]; [f32[3]]", "\"tensors\" is a list; put its tensors in brackets"},
      {kCat, "[f32[2]]; [f32[3]]", "more tensors than cat takes"},
      {kCat, "", "tensor list \"tensors\" is missing; an empty one is `[]`"},
      {kCat, "[f32[2]; -]", "an element of \"tensors\" must not be absent"},
      {kCat, "[f32[2]", "tensor 1: expected"},
      {kCat, "tensors=3", "argument \"tensors\" must be a tensor list, not 3"},
      {kIndex, "f32[4]; i64[3]", "\"indices\" is a list; put its tensors in brackets: `[i64[3]]`"},
      {kNorm, "f32[4]", "argument \"shape\" (int[]) is missing"},
      {"a_(Tensor(a!) self) -> Tensor(a!)", "self=3", "argument \"self\" must be a tensor, not 3"},
  };
  for (const auto& [schema_text, text, part] : cases) {
    const Schema schema = schema_of(schema_text);
    EXPECT_TRUE(fails_with(parse_call(schema, text), part)) << text;
  }
  const Schema schema = schema_of(kAdd);
  const std::vector<std::string> attributes{"alpha"};
  EXPECT_TRUE(fails_with(parse_call(schema, "f32[4]; f32[4]", attributes),
                         "expected an attribute, `name=value`"));
}

TEST(ParseCall, DamagedTextsAreRefusedOrRoundTrip) {
  std::mt19937_64 random(random_seed());
  const std::pair<const char*, const char*> cases[] = {
      {kAdd, "f32[4,1]; bool[6]:positive; alpha=-2"},
      {kIndex, "f32[4,6]; [-; i64[3]:index(6)]"},
      {kNorm, "f32[4,6]; -; f32[6]; shape=[6]; eps=0.5"},
      {"a(str s, complex c, ScalarType? d=None) -> Tensor", "s=\"a;b\"; c=1+2j; d=bf16"},
  };
  for (const auto& [schema_text, text] : cases) {
    const Schema schema = schema_of(schema_text);
    for (int round = 0; round < 3000; ++round) {
      const std::string damaged = mutate_text(text, random);
      const Result<CallText> call = parse_call(schema, damaged);
      if (!call.ok()) continue;
      const std::string printed = format_call(call->call, call->domains);
      const Result<CallText> again = parse_call(schema, printed);
      ASSERT_TRUE(again.ok()) << damaged << " -> " << printed << ": " << again.status();
      EXPECT_EQ(format_call(again->call, again->domains), printed) << damaged;
    }
  }
}

TEST(MakeCall, ChecksWhatParsersCannotProduce) {
  const Schema schema = schema_of(kAdd);
  const OptionalMeta meta = TensorMeta::contiguous(DType::kF32, {2});
  EXPECT_TRUE(fails_with(make_call(schema, {{meta, meta}, {meta}}, {}),
                         "argument \"self\" is one tensor, not 2"));
  EXPECT_TRUE(fails_with(make_call(schema, {{meta}, {meta}, {meta}}, {}),
                         "argument \"alpha\" is Scalar, not a tensor"));
  EXPECT_TRUE(fails_with(make_call(schema, {{meta}, {meta}}, {{"self", Value{int64_t{1}}}}),
                         "given both as a tensor"));
  const Result<Call> call = make_call(schema, {{meta}}, {{"other", Value{int64_t{1}}}});
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(format_inputs(*call), std::vector<std::string>{"f32[2]"});
  ASSERT_EQ(given_attributes(*call).size(), 1u);
  EXPECT_EQ(given_attributes(*call)[0].first, "other");
}

TEST(MakeCall, NullForAnOptionalTensorIsAbsent) {
  const Schema schema = schema_of("a(Tensor x, Tensor? y) -> Tensor");
  const Result<Call> call =
      make_call(schema, {{TensorMeta::contiguous(DType::kF32, {2})}}, {{"y", Value{}}});
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_EQ(call->inputs.size(), 2u);
  EXPECT_FALSE(call->inputs[1].has_value());
}

}  // namespace
}  // namespace onedim
