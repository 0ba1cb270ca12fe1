#include "tools/idle_rules.hpp"

#include <gtest/gtest.h>

#include "tests/pack/tiny_pack.hpp"

namespace onedim {
namespace {

using Texts = std::vector<std::string>;

// What is idle of one op, `x.op(Tensor x, Tensor? y, Tensor z) -> Tensor`, whose output is as x.
Texts idle_of(const Texts& table, const Texts& samples, const char* emitted = nullptr,
              const std::optional<std::string>& call = std::nullopt) {
  tiny::TinyPack pack;
  tiny::TinyOp& op = pack.op("x.op(Tensor x, Tensor? y, Tensor z) -> Tensor");
  op.infer = tiny::infer_same;
  op.rule_table = table;
  op.sample_table = samples;
  if (emitted != nullptr) {
    op.rules = [emitted](const onedim_host_t* host, const onedim_call_t*, onedim_sink_t* sink) {
      return host->emit_rule_text(sink, tiny::text_of(emitted), 0, 0);
    };
  }
  Registry registry;
  Result<StagedPack> staged = pack.stage();
  EXPECT_TRUE(staged.ok()) << staged.status();
  EXPECT_TRUE(registry.commit(*std::move(staged)).ok());
  registry.resolve();
  IdleRules idle = idle_rules(*registry.find("x.op"), call, registry);
  for (const std::string& rule : idle.unfit) idle.disabled.push_back("unfit: " + rule);
  return idle.disabled;
}

TEST(IdleRulesOf, RulesThatFitSomeSampleNeedNone) {
  EXPECT_EQ(idle_of({"S(0) | S(0), R, R", "S(1) | S(1), -, R"},
                    {"f32[4]; f32[]; f32[]", "f32[4,5]; -; f32[]"}),
            Texts{});
}

TEST(IdleRulesOf, ATableRuleThatFitsNoSampleIsTold) {
  EXPECT_EQ(idle_of({"S(0) | S(0), R, R", "S(7) | S(7), R, R"}, {"f32[4]; f32[]; f32[]"}),
            Texts{"unfit: S(7) | S(7), R, R"});
}

TEST(IdleRulesOf, AbsentTensorsAndNumbersDoNotMakeARuleDead) {
  EXPECT_EQ(idle_of({"S(0) | S(0), S(0), R"}, {"f32[4]; -; f32[]"}), Texts{});
  EXPECT_EQ(idle_of({"S(0) | S(0), S(0), R"}, {"f32[4]; f32[4]; z=2"}), Texts{});
}

TEST(IdleRulesOf, RulesWithUnknownKindsAreTold) {
  const Texts expected{
      "rule \"P(nope.kind#0) | R, R, R\" is disabled: no pack offers the partial kind nope.kind"};
  EXPECT_EQ(idle_of({"P(nope.kind) | R, R, R"}, {"f32[4]; f32[]; f32[]"}), expected);
  EXPECT_EQ(idle_of({}, {"f32[4]; f32[]; f32[]", "f32[5]; f32[]; f32[]"}, "P(nope.kind) | R, R, R"),
            expected);
  EXPECT_EQ(idle_of({"S(7) | S(7), R, R"}, {}, "P(nope.kind) | R, R, R", "f32[4]; f32[]; f32[]"),
            expected)
      << "one call says nothing of the samples";
}

}  // namespace
}  // namespace onedim
