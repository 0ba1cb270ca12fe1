#include "core/pack/list_form.hpp"

#include <gtest/gtest.h>

#include "core/pack/prepared_call.hpp"
#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::call_of;
using tiny::fails_with;
using tiny::tensor_of;
using tiny::TinyOp;
using tiny::TinyPack;
using tiny::values_of;

// out = self + alpha * other, in self's shape; `other` may be a number or have one element.
int32_t compute_add(const onedim_host_t*, const onedim_call_t* call, const onedim_execution_t*) {
  const auto number = [&](std::string_view name) {
    const onedim_value_t* value = tiny::attribute(call, name);
    return value->kind == ONEDIM_VALUE_FLOAT ? value->real : static_cast<double>(value->integer);
  };
  for (int64_t i = 0; i < tiny::count_of(call->outputs[0]); ++i) {
    const bool is_tensor = call->input_count == 2;
    const double other =
        is_tensor ? tiny::get(call->inputs[1], tiny::count_of(call->inputs[1]) == 1 ? 0 : i)
                  : number("other");
    tiny::set(call->outputs[0], i, tiny::get(call->inputs[0], i) + number("alpha") * other);
  }
  return ONEDIM_OK;
}

void declare_form(TinyPack& pack, std::string schema) {
  pack.op(std::move(schema)).variant_of = "x.add";
}

TinyPack forms_pack() {
  TinyPack pack;
  TinyOp& add = pack.op("x.add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  add.infer = tiny::infer_same;
  add.rule_table = {"S*(0) | S*(0), S*(0)", "P(sum) | P(sum), P(sum)"};
  add.sample_table = {"f32[4]; f32[4]; alpha=2", "i64[3]; i64[3]", "f64[2]; other=3",
                      "f64[5]; other=1.5"};
  add.example = "f32[4]; f32[4]";
  pack.kernel("x.add").compute = compute_add;
  declare_form(pack, "x.each(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]");
  declare_form(pack, "x.each_(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()");
  declare_form(
      pack, "x.each.out(Tensor[] self, Tensor[] other, *, Scalar alpha=1, Tensor(a!)[] out) -> ()");
  declare_form(pack, "x.each.number(Tensor[] self, Scalar number) -> Tensor[]");
  declare_form(pack, "x.each.numbers(Tensor[] self, Scalar[] numbers) -> Tensor[]");
  declare_form(pack, "x.each.shared(Tensor[] self, Tensor other) -> Tensor[]");
  return pack;
}

class ListFormTest : public ::testing::Test {
 protected:
  const Op& op(std::string_view name) const { return *registry_.find(name); }
  std::vector<std::vector<double>> run(std::string_view name, std::string_view text,
                                       std::vector<Tensor*> inputs) const {
    const auto outputs = run_op(op(name), call_of(op(name), text), inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    std::vector<std::vector<double>> values;
    for (const std::optional<Tensor>& output : *outputs) values.push_back(values_of(*output));
    return values;
  }
  std::vector<std::string> rules(std::string_view name, std::string_view text) const {
    const Call call = call_of(op(name), text);
    const Result<std::vector<ClosedRule>> closed =
        closed_rules(op(name), call, *op(name).infer(call), registry_);
    EXPECT_TRUE(closed.ok()) << closed.status();
    std::vector<std::string> texts;
    for (const ClosedRule& rule : *closed) texts.push_back(format_rule(rule.rule));
    return texts;
  }
  bool has(const std::vector<std::string>& rules, std::string_view rule) const {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  }

  TinyPack pack_ = forms_pack();
  Registry registry_ = tiny::commit(pack_);
  Tensor a_ = tensor_of(DType::kF32, {2}, {1, 2});
  Tensor b_ = tensor_of(DType::kF32, {1}, {5});
  Tensor c_ = tensor_of(DType::kF32, {2}, {10, 20});
  Tensor d_ = tensor_of(DType::kF32, {1}, {50});
};

using Values = std::vector<std::vector<double>>;

TEST_F(ListFormTest, KindsAreRecognised) {
  EXPECT_EQ(op("x.each").variant, Variant::kList);
  EXPECT_EQ(op("x.each_").variant, Variant::kInPlace);
  EXPECT_EQ(op("x.each.out").variant, Variant::kOut);
  EXPECT_TRUE(op("x.each_").is_list_form());
  EXPECT_FALSE(op("x.add").is_list_form());
  EXPECT_EQ(op("x.each").example, "[f32[4]; f32[4]]; [f32[4]; f32[4]]");
}

TEST_F(ListFormTest, ListsAreZipped) {
  EXPECT_EQ(run("x.each", "[f32[2]; f32[1]]; [f32[2]; f32[1]]; alpha=2", {&a_, &b_, &c_, &d_}),
            (Values{{21, 42}, {105}}));
  EXPECT_EQ(run("x.each.numbers", "[f32[2]; f32[1]]; numbers=[3,-1]", {&a_, &b_}),
            (Values{{4, 5}, {4}}));
  EXPECT_EQ(run("x.each.number", "[f32[2]; f32[1]]; number=0.5", {&a_, &b_}),
            (Values{{1.5, 2.5}, {5.5}}));
  Tensor shared = tensor_of(DType::kF32, {}, {7});
  EXPECT_EQ(run("x.each.shared", "[f32[2]; f32[1]]; f32[]", {&a_, &b_, &shared}),
            (Values{{8, 9}, {12}}));
}

TEST_F(ListFormTest, InPlaceAndOutWriteTheirLists) {
  Tensor out_a = Tensor::zeros(DType::kF32, {2}), out_b = Tensor::zeros(DType::kF32, {1});
  run("x.each.out", "[f32[2]; f32[1]]; [f32[2]; f32[1]]; [f32[2]; f32[1]]",
      {&a_, &b_, &c_, &d_, &out_a, &out_b});
  EXPECT_EQ(values_of(out_a), (std::vector<double>{11, 22}));
  EXPECT_EQ(values_of(out_b), (std::vector<double>{55}));
  run("x.each_", "[f32[2]; f32[1]]; [f32[2]; f32[1]]", {&a_, &b_, &c_, &d_});
  EXPECT_EQ(values_of(a_), (std::vector<double>{11, 22}));
  EXPECT_EQ(values_of(b_), (std::vector<double>{55}));
  run("x.each_", "[f32[2]]; [f32[2]]", {&a_, &a_});
  EXPECT_EQ(values_of(a_), (std::vector<double>{22, 44}));
}

TEST_F(ListFormTest, ListsThatDoNotZipAreRefused) {
  const auto infer = [&](std::string_view name, std::string_view text) {
    return op(name).infer(call_of(op(name), text));
  };
  EXPECT_TRUE(fails_with(infer("x.each", "[f32[2]; f32[1]]; [f32[2]]"),
                         "x.each: \"other\" has 1 elements, but the list before it has 2"));
  EXPECT_TRUE(fails_with(infer("x.each", "[]; []"), "the lists are empty"));
  EXPECT_TRUE(fails_with(infer("x.each.numbers", "[f32[2]; f32[1]]; numbers=[3]"),
                         "\"numbers\" has 1 elements"));
  EXPECT_TRUE(fails_with(infer("x.each.shared", "[f32[2]]; f32[2]"),
                         "\"other\" is every element's and must have no dims, but is f32[2]"));
}

TEST_F(ListFormTest, AnyRulesOfTheElementsHoldTogether) {
  const std::vector<std::string> one = rules("x.add", "f32[2]; f32[2]");
  const std::vector<std::string> two = rules("x.each", "[f32[2]; f32[3]]; [f32[2]; f32[3]]");
  EXPECT_EQ(two.size(), one.size() * one.size());
  EXPECT_TRUE(has(two, "S(0), P(sum) | S(0), P(sum), S(0), P(sum)"));
  EXPECT_TRUE(has(two, "R, S(0) | R, S(0), R, S(0)"));
  EXPECT_FALSE(has(two, "S(0), S(0) | S(0), P(sum), S(0), S(0)"));
}

TEST_F(ListFormTest, InPlaceElementsStayWhereTheyAre) {
  const std::vector<std::string> two = rules("x.each_", "[f32[2]; f32[3]]; [f32[2]; f32[3]]");
  EXPECT_TRUE(has(two, "S(0), P(sum) | S(0), P(sum), S(0), P(sum)"));
  for (const std::string& rule : two) EXPECT_EQ(rule.find("P(avg), P(sum) | R"), std::string::npos);
  const std::vector<std::string> out =
      rules("x.each.out", "[f32[2]; f32[3]]; [f32[2]; f32[3]]; [f32[2]; f32[3]]");
  EXPECT_TRUE(has(out, "S(0), R | S(0), R, S(0), R, S(0), R"));
}

TEST_F(ListFormTest, ASharedTensorHasOnePlacement) {
  for (const std::string& rule : rules("x.each.shared", "[f32[2]; f32[3]]; f32[]")) {
    const bool sums = rule.ends_with("P(sum)");
    EXPECT_EQ(rule.starts_with("P(sum), P(sum)"), sums) << rule;
  }
}

TEST_F(ListFormTest, LongListsHaveOneChoiceForAllOfAKind) {
  std::string list = "[";
  for (int i = 0; i < 40; ++i) list += i % 2 == 0 ? "f32[2]; " : "f32[2,3]; ";
  list.resize(list.size() - 2);
  list += "]";
  const std::vector<std::string> long_one = rules("x.each", list + "; " + list);
  EXPECT_LE(long_one.size(), 1024u);
  const auto is_uniform = [](const std::string& rule) {
    return rule.find("P(sum)") == std::string::npos || rule.find("S(0)") == std::string::npos ||
           rule.starts_with("S(0), P(sum), S(0)") || rule.starts_with("P(sum), S(0), P(sum)");
  };
  for (const std::string& rule : long_one) EXPECT_TRUE(is_uniform(rule)) << rule;
}

TEST_F(ListFormTest, SamplesAreListsOfThePlainOpsSamples) {
  EXPECT_EQ(*op("x.each").samples(),
            (std::vector<std::string>{"[f32[4]]; [f32[4]]; alpha=2", "[i64[3]]; [i64[3]]"}));
  EXPECT_EQ(*op("x.each.numbers").samples(),
            (std::vector<std::string>{"[f64[2]; f64[5]]; numbers=[3,1.5]",
                                      "[f64[5]; f64[5]]; numbers=[1.5,1.5]"}));
  EXPECT_TRUE(op("x.each.shared").samples()->empty());
}

TEST_F(ListFormTest, SchemasThatDoNotBelongTogetherAreNotLinked) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"x.f(Tensor[] self, Tensor[] other) -> Tensor", "over lists, x.add returns Tensor[]"},
      {"x.f(Tensor[] self) -> Tensor[]", "lacks the argument \"other\""},
      {"x.f(Tensor[] self, str other) -> Tensor[]",
       "argument \"other\" is str, but x.add has Tensor"},
      {"x.f(Tensor[] self, Tensor[] other, Scalar more, int less) -> Tensor[]",
       "\"less\" is neither written nor one of x.add"},
      {"x.f(Tensor self, Tensor other, Tensor[] more) -> Tensor",
       "argument \"more\" is Tensor[], but x.add has Scalar"},
  };
  for (const auto& [schema, part] : cases) {
    TinyPack pack = forms_pack();
    declare_form(pack, schema);
    Registry registry;
    ASSERT_TRUE(registry.commit(*pack.stage()).ok());
    const std::vector<std::string> lines = registry.resolve();
    ASSERT_EQ(lines.size(), 1u) << schema;
    EXPECT_NE(lines[0].find(part), std::string::npos) << lines[0];
    EXPECT_EQ(registry.find("x.f"), nullptr);
  }
}

}  // namespace
}  // namespace onedim
