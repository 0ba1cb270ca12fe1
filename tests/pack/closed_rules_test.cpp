#include "core/pack/closed_rules.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using tiny::call_of;
using tiny::TinyOp;
using tiny::TinyPack;

using Texts = std::vector<std::string>;

// An op whose outputs repeat its first input `count` times, with the rules given.
struct Case {
  explicit Case(std::string schema, std::vector<std::string> table, uint64_t flags = 0) {
    TinyOp& op = pack.op(std::move(schema));
    op.infer = [](const onedim_host_t* host, const onedim_call_t* call, onedim_sink_t* sink) {
      const onedim_value_t* count = tiny::attribute(call, "count");
      for (int64_t i = 0; i < (count == nullptr ? 1 : count->integer); ++i)
        tiny::infer_same(host, call, sink);
      return ONEDIM_OK;
    };
    op.rule_table = std::move(table);
    op.flags = flags;
  }

  const Registry& commit() {
    registry = tiny::commit(pack);
    return registry;
  }

  std::vector<ClosedRule> close(std::string_view text, std::string_view name = "x.op") {
    if (registry.ops().empty()) commit();
    const Op& op = *registry.find(name);
    const Call call = call_of(op, text);
    const Result<std::vector<OptionalOutput>> outputs = op.infer(call);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    Result<std::vector<ClosedRule>> rules = closed_rules(op, call, *outputs, registry);
    EXPECT_TRUE(rules.ok()) << rules.status();
    return rules.ok() ? *std::move(rules) : std::vector<ClosedRule>{};
  }

  Texts texts(std::string_view text, std::string_view name = "x.op") {
    Texts result;
    for (const ClosedRule& rule : close(text, name)) result.push_back(format_rule(rule.rule));
    return result;
  }

  TinyPack pack;
  Registry registry;
};

TEST(ClosedRules, AllReplicateAndItsReadingsAreImplied) {
  Case one("x.op(Tensor x) -> Tensor", {});
  EXPECT_EQ(one.texts("f32[4]"), (Texts{"P(avg) | R", "P(max) | R", "P(min) | R", "R | R"}));
  for (const ClosedRule& rule : one.close("f32[4]")) EXPECT_TRUE(rule.rule.implied);
  EXPECT_EQ(one.texts("i64[4]"), (Texts{"P(max) | R", "P(min) | R", "R | R"}));
  EXPECT_EQ(one.texts("bool[4]"), (Texts{"P(max) | R", "P(min) | R", "R | R"}));
  EXPECT_EQ(one.texts("c64[4]"), (Texts{"P(avg) | R", "R | R"}));
}

TEST(ClosedRules, NoImpliedReplicateLeavesOnlyWhatIsDeclared) {
  Case one("x.op(Tensor x) -> Tensor", {"S(0) | S(0)"}, ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(one.texts("f32[4]"), Texts{"S(0) | S(0)"});
}

TEST(ClosedRules, InputsAndOutputsAreReplacedInEveryCombination) {
  Case two("x.op(Tensor x, Tensor y) -> Tensor", {"P(max) | P(max), P(max)"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(two.texts("f32[4]; f32[4]"), (Texts{"P(max) | P(max), P(max)", "P(max) | P(max), R",
                                                "P(max) | R, P(max)", "P(max) | R, R"}));
  EXPECT_FALSE(two.close("f32[4]; f32[4]")[0].rule.implied);
  EXPECT_TRUE(two.close("f32[4]; f32[4]")[1].rule.implied);
  Case outputs("x.op(Tensor x, int count=2) -> Tensor[]", {"R, S(0) | P(min)"},
               ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(outputs.texts("i32[4]"),
            (Texts{"P(max), S(0) | P(min)", "P(max), S(0) | R", "P(min), S(0) | P(min)",
                   "P(min), S(0) | R", "R, S(0) | P(min)", "R, S(0) | R"}));
  Case both("x.op(Tensor x, int count=2) -> Tensor[]", {});
  EXPECT_EQ(both.texts("bool[4]").size(), 9u);
}

TEST(ClosedRules, IllegalPartialsGoButWhatTheyImplyStays) {
  Case mixed("x.op(Tensor x, Tensor y) -> Tensor",
             {"P(avg) | P(avg), P(avg)", "P(sum) | P(sum), R"}, ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(mixed.texts("f32[4]; i64[4]"),
            (Texts{"P(avg) | P(avg), R", "P(avg) | R, R", "P(sum) | P(sum), R"}));
  EXPECT_EQ(mixed.texts("i64[4]; f32[4]"), Texts{"P(sum) | P(sum), R"});
  EXPECT_EQ(mixed.texts("bool[4]; bool[4]"), Texts{});
}

TEST(ClosedRules, AnyShardIsExpandedAndMarked) {
  Case two("x.op(Tensor x) -> Tensor", {"S*(0) | S*(0)", "S(1) | S(1)", "S(0) | S(0)"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  const std::vector<ClosedRule> rules = two.close("f32[4,6]");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(format_rule(rules[0].rule), "S(0) | S(0)");
  EXPECT_TRUE(rules[0].any_shard);
  EXPECT_FALSE(rules[1].any_shard);
}

TEST(ClosedRules, ShardsOnMissingDimsAreLeftOut) {
  Case one("x.op(Tensor x) -> Tensor", {"S(1) | S(1)", "S(0) | S(0)"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(one.texts("f32[4]"), Texts{"S(0) | S(0)"});
  EXPECT_EQ(one.texts("f32[]"), Texts{});
  EXPECT_EQ(one.texts("f32[0]"), Texts{"S(0) | S(0)"});
}

TEST(ClosedRules, ShardsOfDimsOfSizeOneAreReplicas) {
  Case two("x.op(Tensor x, Tensor y) -> Tensor",
           {"S(0) | S(0), S(0)", "S(0) | S(0), R", "P(sum) | S(1), S(1)"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(two.texts("f32[4,2]; f32[4,2]"),
            (Texts{"P(sum) | S(1), S(1)", "S(0) | S(0), R", "S(0) | S(0), S(0)"}));
  // Unequal linked dims: the first rule cannot mean this call, the second does.
  EXPECT_EQ(two.texts("f32[4,2]; f32[1,2]"), (Texts{"P(sum) | S(1), S(1)", "S(0) | S(0), R"}));
  // A sum over one index is not a sum over ranks that all hold it.
  EXPECT_EQ(two.texts("f32[1,1]; f32[1,1]"),
            (Texts{"P(avg) | R, R", "P(max) | R, R", "P(min) | R, R", "R | R, R"}));
}

TEST(ClosedRules, AFreeRuleAbsorbsConditionalOnes) {
  Case one("x.op(Tensor x) -> Tensor", {"S(0) | S(0)"}, ONEDIM_OP_NO_IMPLIED_REPLICATE);
  one.pack.ops[0].rules = [](const onedim_host_t* host, const onedim_call_t*, onedim_sink_t* sink) {
    host->emit_rule_text(sink, tiny::text_of("S(0) | S(0)"), ONEDIM_RULE_EVEN_ONLY, 1);
    host->emit_rule_text(sink, tiny::text_of("S(1) | S(1)"), ONEDIM_RULE_EVEN_ONLY, 2);
    host->emit_rule_text(sink, tiny::text_of("S(1) | S(1)"), ONEDIM_RULE_EVEN_ONLY, 3);
    host->emit_rule_text(sink, tiny::text_of("P(sum) | P(sum)"), ONEDIM_RULE_TO_ROUNDING, 4);
    return host->emit_rule_text(sink, tiny::text_of("P(sum) | P(sum)"), 0, 5);
  };
  const std::vector<ClosedRule> rules = one.close("f32[4,6]");
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].rule.tag, 5u);
  EXPECT_FALSE(rules[0].rule.to_rounding);
  EXPECT_FALSE(rules[1].rule.even_only);
  EXPECT_TRUE(rules[2].rule.even_only);
  EXPECT_EQ(rules[2].rule.tag, 2u);
}

TEST(ClosedRules, FewerConditionsAbsorbMore) {
  Case one("x.op(Tensor x) -> Tensor", {}, ONEDIM_OP_NO_IMPLIED_REPLICATE);
  one.pack.ops[0].rules = [](const onedim_host_t* host, const onedim_call_t*, onedim_sink_t* sink) {
    onedim_placement_t shard{ONEDIM_PLACEMENT_SHARD, 0, 0, {nullptr, 0}, 0, 0};
    const onedim_requirement_t requirements[] = {{0, 0, 0, 0, 4}, {1, 0, 0, 0, 2}};
    onedim_rule_t rule{sizeof(rule),          &shard, 1, &shard, 1, requirements, 2,
                       ONEDIM_RULE_EVEN_ONLY, 1};
    host->emit_rule(sink, &rule);
    rule.requirement_count = 1;
    rule.tag = 2;
    host->emit_rule(sink, &rule);
    rule.requirements = requirements + 1;
    rule.flags = 0;
    rule.tag = 3;
    return host->emit_rule(sink, &rule);
  };
  const std::vector<ClosedRule> rules = one.close("f32[4,6]");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].rule.tag, 2u);
  EXPECT_EQ(rules[1].rule.tag, 3u);
}

TEST(ClosedRules, DeclaredIsNotImpliedEvenIfItIsBoth) {
  Case one("x.op(Tensor x) -> Tensor", {"P(max) | R"});
  for (const ClosedRule& rule : one.close("f32[4]")) {
    EXPECT_EQ(rule.rule.implied, format_rule(rule.rule) != "P(max) | R");
  }
}

TEST(ClosedRules, AbsentTensorsStayAbsent) {
  Case one("x.op(Tensor x, Tensor? y) -> Tensor", {"S(0) | S(0), R", "P(sum) | P(sum), P(sum)"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  EXPECT_EQ(one.texts("f32[4]"), (Texts{"P(sum) | P(sum), -", "S(0) | S(0), -"}));
}

int32_t no_op(const onedim_host_t*, void*, const onedim_tensor_t*) noexcept { return ONEDIM_OK; }
int32_t no_combine(const onedim_host_t*, void*, const onedim_tensor_t*,
                   const onedim_tensor_t*) noexcept {
  return ONEDIM_OK;
}

TEST(ClosedRules, KindsOfPacksMustExistWithTheirWholeGroup) {
  const onedim_text_t components[] = {tiny::text_of("out"), tiny::text_of("lse")};
  Case two("x.op(Tensor x, int count=2) -> Tensor[]",
           {"P(tiny.pair#0), P(tiny.pair#1) | S(0)", "P(tiny.pair#0), R | S(0)",
            "P(tiny.pair#1), P(tiny.pair#2) | S(0)"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  onedim_partial_kind_t kind{};
  kind.struct_size = sizeof(kind);
  kind.name = tiny::text_of("tiny.pair");
  kind.components = components;
  kind.component_count = 2;
  kind.output_count = 2;
  kind.identity = no_op;
  kind.combine = no_combine;
  two.pack.kinds = {kind};
  EXPECT_EQ(two.texts("f32[4]").size(), 1u);
  Case unknown("x.op(Tensor x) -> Tensor", {"P(tiny.gone) | S(0)", "S(0) | S(0)"},
               ONEDIM_OP_NO_IMPLIED_REPLICATE);
  ASSERT_TRUE(unknown.registry.commit(*unknown.pack.stage()).ok());
  EXPECT_EQ(unknown.registry.resolve().size(), 1u);
  EXPECT_EQ(unknown.texts("f32[4]"), Texts{"S(0) | S(0)"});
}

TEST(ClosedRules, VariantsAreFilteredAfterTheClosure) {
  Case two("x.op(Tensor self, Tensor y) -> Tensor",
           {"R | P(max), R", "S*(0) | S*(0), S*(0)", "P(sum) | P(sum), R"},
           ONEDIM_OP_NO_IMPLIED_REPLICATE);
  two.pack.op("x.op_(Tensor(a!) self, Tensor y) -> Tensor(a!)").variant_of = "x.op";
  two.pack.op("x.op.out(Tensor self, Tensor y, *, Tensor(a!) out) -> Tensor(a!)").variant_of =
      "x.op";
  two.commit();
  EXPECT_EQ(two.texts("i64[4]; i64[4]", "x.op_"),
            (Texts{"P(max) | P(max), R", "P(sum) | P(sum), R", "R | R, R", "S(0) | S(0), S(0)"}));
  EXPECT_EQ(
      two.texts("i64[4]; i64[4]; i64[4]", "x.op.out"),
      (Texts{"P(max) | P(max), R, P(max)", "P(max) | R, R, P(max)", "P(min) | P(max), R, P(min)",
             "P(min) | R, R, P(min)", "P(sum) | P(sum), R, P(sum)", "R | P(max), R, R",
             "R | R, R, R", "S(0) | S(0), S(0), S(0)"}));
  for (const ClosedRule& rule : two.close("i64[4]; i64[4]", "x.op_")) {
    EXPECT_EQ(rule.any_shard, rule.rule.outputs[0].is_shard());
  }
}

TEST(ClosedRules, LongListsDoNotExplode) {
  Case many("x.op(Tensor[] xs) -> Tensor", {});
  many.pack.ops[0].rules = [](const onedim_host_t* host, const onedim_call_t* call,
                              onedim_sink_t* sink) {
    std::string rule = "P(max) |";
    for (uint64_t i = 0; i < call->input_count; ++i) rule += i == 0 ? " P(max)" : ", P(max)";
    return host->emit_rule_text(sink, tiny::text_of(rule), 0, 0);
  };
  std::string text = "[f32[2]";
  for (int i = 0; i < 60; ++i) text += "; f32[2]";
  EXPECT_EQ(many.texts(text + "]").size(), 5u);
}

}  // namespace
}  // namespace onedim
