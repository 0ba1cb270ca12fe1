#include "core/pack/schema.hpp"

#include <gtest/gtest.h>

#include "tests/pack/mutate_text.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::fails_with;

TEST(Schema, ReadsAndWritesBackWhatATenWrites) {
  for (const std::string_view text : {
           "mm(Tensor self, Tensor mat2) -> Tensor",
           "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> "
           "Tensor",
           "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
           "cat(Tensor[] tensors, int dim=0) -> Tensor",
           "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
           "split(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
           "sort(Tensor self, int dim=-1, bool descending=false) -> (Tensor values, Tensor "
           "indices)",
           "store_(Tensor(a!) self, Tensor source) -> ()",
           "fresh(int[] size, *, ScalarType? dtype=null) -> Tensor",
           "conv(Tensor x, Tensor w, Tensor? b, int[2] stride=[1,1], str mode=zeros) -> (Tensor, "
           "Tensor?)",
           "equal(Tensor self, Tensor other) -> bool",
           "stats(Tensor x) -> (Tensor values, int count, Scalar largest)",
           "max.out(Tensor x, *, Tensor(a!) v, Tensor(b!) i) -> (Tensor(a!) values, Tensor(b!) "
           "indices)",
       }) {
    const Result<Schema> schema = parse_schema(text);
    ASSERT_TRUE(schema.ok()) << schema.status();
    EXPECT_EQ(format_schema(*schema), text);
  }
}

TEST(Schema, ReadsATensOtherSpellings) {
  const Result<Schema> schema = parse_schema(
      "x(Tensor(a! -> a|b) self, SymInt[2] size=1, ScalarType dtype=long, int reduction=Mean, "
      "float eps=1, "
      "Device? device=None, MemoryFormat? memory_format=None, bool[3] mask=[True,False,True], "
      "str mode='a,b') -> Tensor(a!)");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(*schema->find("size")->default_value,
            (Value{ValueList{Value{int64_t{1}}, Value{int64_t{1}}}}));
  EXPECT_EQ(*schema->find("dtype")->default_value, Value{DType::kI64});
  EXPECT_EQ(*schema->find("reduction")->default_value, Value{int64_t{1}});
  EXPECT_EQ(*schema->find("eps")->default_value, Value{1.0});
  EXPECT_EQ(schema->find("mask")->default_value->get_if<ValueList>()->size(), 3u);
  EXPECT_EQ(*schema->find("mode")->default_value, Value{std::string("a,b")});
  EXPECT_EQ(schema->find("nothing"), nullptr);
  EXPECT_EQ(schema->index_of("dtype"), 2);
}

TEST(Schema, OptionalTensorMayDefaultToNone) {
  const Result<Schema> schema = parse_schema("x(Tensor? a=None, Tensor[]? b=None) -> Tensor");
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_TRUE(schema->arguments[0].optional);
  EXPECT_TRUE(schema->arguments[1].optional);
  EXPECT_TRUE(schema->arguments[1].is_list);
}

TEST(Schema, ErrorsPointAtTheCharacter) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "expected an op name of letters, digits, `_` and `.` at column 1"},
      {"m-m(Tensor a) -> Tensor", "expected `(` and the arguments at column 2"},
      {"mm(Tensr a) -> Tensor",
       "unknown type \"Tensr\" at column 4 of \"mm(Tensr a) -> Tensor\"; did you mean \"Tensor\"?"},
      {"mm(Tensor) -> Tensor", "expected the argument's name at column 10"},
      {"mm(Tensor a, Tensor a) -> Tensor", "a second argument \"a\" at column 21"},
      {"mm(Tensor a) Tensor", "expected `->`"},
      {"mm(Tensor a) -> int[]", "only tensors and single numbers can be returned at column 17"},
      {"mm(Tensor a) -> bool?", "only tensors and single numbers can be returned"},
      {"mm(Tensor a) -> str", "only tensors and single numbers can be returned"},
      {"mm(Tensor a) -> Tensor(a)", "no argument has the alias mark (a)"},
      {"mm(Tensor(a) x) -> Tensor(a!)", "no argument has the alias mark (a!)"},
      {"mm(Tensor a, *, *, int b) -> Tensor", "a second `*` at column 17"},
      {"mm(int a=true) -> Tensor", "argument \"a\" is int, but the value is true"},
      {"mm(int a=) -> Tensor", "at column 10"},
      {"mm(int(a) b) -> Tensor", "only tensors have alias marks"},
      {"mm(int[0] b) -> Tensor", "a list's size must be a number from 1 to 64"},
      {"mm(Tensor a=3) -> Tensor", "a tensor has no default but None"},
      {"mm(Tensor a) -> Tensor junk more", "expected the end at column 29"},
      {"mm(Tensor a", "expected `,` or `)` at column 12"},
  };
  for (const auto& [text, part] : cases) EXPECT_TRUE(fails_with(parse_schema(text), part)) << text;
}

TEST(Schema, QuotesInDefaultsRoundTrip) {
  for (const std::string_view value : {R"-("\"")-", R"-("a\", b)")-", R"-("\\")-", R"-("it's")-"}) {
    const std::string text = fmt::format("x(str m={}, int n=1) -> ()", value);
    const Result<Schema> schema = parse_schema(text);
    ASSERT_TRUE(schema.ok()) << schema.status();
    EXPECT_EQ(format_schema(*schema), text);
  }
  const Result<Schema> single = parse_schema(R"-(x(str m='"', str[] l=['a,b', 'c)']) -> ())-");
  ASSERT_TRUE(single.ok()) << single.status();
  EXPECT_EQ(format_schema(*single), R"-(x(str m="\"", str[] l=["a,b","c)"]) -> ())-");
}

TEST(Schema, DamagedTextsAreRefusedOrRoundTrip) {
  std::mt19937_64 random(random_seed());
  for (const std::string_view text : {
           "add_.Tensor(Tensor(a!) self, Tensor? b=None, *, Scalar alpha=1) -> Tensor(a!)",
           "x(Tensor?[] xs, int[2]? s=[1,2], str m='a', ScalarType? d=f32) -> (Tensor a, Tensor[] "
           "b)",
       }) {
    for (int round = 0; round < 5000; ++round) {
      const std::string damaged = mutate_text(text, random);
      const Result<Schema> schema = parse_schema(damaged);
      if (!schema.ok()) continue;
      const std::string printed = format_schema(*schema);
      const Result<Schema> again = parse_schema(printed);
      ASSERT_TRUE(again.ok()) << damaged << " -> " << printed << ": " << again.status();
      EXPECT_EQ(format_schema(*again), printed) << damaged;
    }
  }
}

TEST(FitValue, ConvertsAsTheTypeAllows) {
  const Schema schema = *parse_schema(
      "x(float f, Scalar s, int[2] p, int[1]? d, complex c, str t, ScalarType? y, bool b, int[] n, "
      "float[] g) -> ()");
  const auto fit = [&](std::string_view name, Value value) {
    return fit_value(*schema.find(name), std::move(value));
  };
  const Value one{int64_t{1}};
  EXPECT_EQ(*fit("f", one), Value{1.0});
  EXPECT_EQ(*fit("s", Value{true}), Value{true});
  EXPECT_EQ(*fit("s", one), one);
  EXPECT_EQ(*fit("p", one), (Value{ValueList{one, one}}));
  EXPECT_EQ(*fit("p", Value{ValueList{one}}), (Value{ValueList{one}}));
  EXPECT_EQ(*fit("d", one), (Value{ValueList{one}}));
  EXPECT_TRUE(fit("d", Value{})->is_none());
  EXPECT_EQ(*fit("c", one), (Value{std::complex<double>(1, 0)}));
  EXPECT_EQ(*fit("t", Value{DType::kF32}), Value{std::string("f32")});
  EXPECT_EQ(*fit("y", Value{DType::kF32}), Value{DType::kF32});
  EXPECT_EQ(*fit("g", Value{ValueList{one}}), (Value{ValueList{Value{1.0}}}));
  EXPECT_TRUE(fails_with(fit("b", one), "argument \"b\" is bool, but the value is 1"));
  EXPECT_TRUE(fails_with(fit("f", Value{true}), "is float"));
  EXPECT_TRUE(fails_with(fit("n", one), "argument \"n\" is int[]"));
  EXPECT_TRUE(fails_with(fit("n", Value{ValueList{Value{1.5}}}), "int[]"));
  EXPECT_TRUE(fails_with(fit("f", Value{}), "null"));
  EXPECT_TRUE(fails_with(fit("y", Value{std::string("f33")}), "argument \"y\": unknown dtype"));
  EXPECT_TRUE(fails_with(fit("y", Value{std::string("f33")}), "expected one of f64 f32"));
  EXPECT_TRUE(fails_with(fit("y", one), "argument \"y\" is ScalarType?, but the value is 1"));
}

}  // namespace
}  // namespace onedim
