// Strategies of several mesh dims: what is true on one mesh dim only is caught, made small and told
// with a command; what is right passes; the draws reach nested, reordered, strided, uneven and
// empty shards, and partials over several mesh dims.

#include "core/validate/strategy_trial.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/validate/op_validation.hpp"
#include "core/validate/strategy_draw.hpp"
#include "nested_pack.hpp"
#include "shipped_packs.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

const Op& op_of(const Registry& registry, std::string_view name) { return *registry.find(name); }

Result<StrategyReport> try_sample(const Registry& registry, std::string_view name,
                                  std::string_view sample, const StrategyOptions& options) {
  const Op& op = op_of(registry, name);
  return try_strategies(op, *parse_call(op.schema, sample), registry, options);
}

Result<StrategyVerdict> judge_text(const Registry& registry, std::string_view name,
                                   std::string_view call, const StrategyText& text,
                                   uint64_t seed = 1) {
  const Op& op = op_of(registry, name);
  return judge_one_strategy(op, *parse_call(op.schema, call), text, registry, seed, 27);
}

constexpr const char* kWrong[] = {"nested.wrong_first_shard",   "nested.wrong_left_to_right",
                                  "nested.wrong_two_intervals", "nested.wrong_first_tag",
                                  "nested.wrong_pairs",         "nested.wrong_joint_mean"};
constexpr const char* kRight[] = {"nested.index", "nested.mean", "nested.pairs",
                                  "nested.joint_mean"};

TEST(Strategies, WrongOpsAreRightOnOneMeshDim) {
  for (const char* name : kWrong) {
    const OpReport report = validate_op(op_of(nested_registry(), name), {name, std::nullopt, {}},
                                        nested_registry(), {});
    EXPECT_TRUE(report.incorrect.empty() && report.errors.empty()) << to_json(report).dump(1);
    EXPECT_FALSE(report.proved.empty()) << name;
  }
}

TEST(Strategies, WrongOnesAreCaughtWhateverTheSeed) {
  const uint64_t base = random_seed();
  for (uint64_t seed = base; seed < base + 5; ++seed) {
    for (const char* name : kWrong) {
      ValidateOptions options;
      options.cases.seed = seed;
      options.strategies = 200;
      const OpReport report = validate_op(op_of(nested_registry(), name), {name, std::nullopt, {}},
                                          nested_registry(), options);
      EXPECT_GT(report.strategies_wrong, 0) << name << " seed " << seed;
      EXPECT_FALSE(report.strategies.empty()) << name;
      EXPECT_FALSE(report.is_clean());
      for (const StrategyFinding& finding : report.strategies) {
        const Result<StrategyVerdict> again =
            judge_text(nested_registry(), name, finding.case_text,
                       {finding.mesh, finding.rules, finding.order}, seed);
        ASSERT_TRUE(again.ok()) << finding.repro << ": " << again.status();
        EXPECT_EQ(again->word, StrategyVerdict::Word::kRefuted) << finding.repro;
        EXPECT_EQ(again->reason, finding.reason) << finding.repro;
      }
    }
  }
}

TEST(Strategies, RightOnesPass) {
  for (const char* name : kRight) {
    ValidateOptions options;
    options.cases.seed = random_seed();
    options.strategies = 200;
    const OpReport report = validate_op(op_of(nested_registry(), name), {name, std::nullopt, {}},
                                        nested_registry(), options);
    EXPECT_EQ(report.strategies_wrong, 0) << to_json(report).dump(1);
    EXPECT_TRUE(report.incorrect.empty() && report.errors.empty()) << to_json(report).dump(1);
    EXPECT_EQ(report.strategies_tried, 600) << name;
  }
}

TEST(Strategies, AReportSurvivesItsJson) {
  ValidateOptions options;
  options.strategies = 30;
  const OpReport report =
      validate_op(op_of(nested_registry(), "nested.wrong_first_tag"),
                  {"nested.wrong_first_tag", std::nullopt, {}}, nested_registry(), options);
  ASSERT_FALSE(report.strategies.empty());
  const nlohmann::ordered_json json = to_json(report);
  EXPECT_EQ(json.at("strategies"), 90);
  EXPECT_EQ(json.at("strategies_incorrect").at(0).at("rules"), report.strategies[0].rules);
  const Result<OpReport> copy = op_report_from_json(json);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->strategies, report.strategies);
  EXPECT_EQ(to_json(*copy).dump(), json.dump());
}

TEST(Strategies, FindingsAreMadeSmall) {
  StrategyOptions options;
  options.meshes = {*Mesh::parse("a=2,b=3,c=2")};
  const auto report = try_sample(nested_registry(), "nested.wrong_first_shard", "f64[12]", options);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(report->incorrect.empty());
  for (const StrategyFinding& finding : report->incorrect) {
    EXPECT_EQ(finding.rules, (std::vector<std::string>{"S(0) | S(0)", "S(0) | S(0)"}));
    EXPECT_EQ(Mesh::parse(finding.mesh)->sizes(), (Dims{2, 2})) << finding.mesh;
    // Two elements fail where the second mesh dim cuts first, three in any order.
    EXPECT_EQ(finding.case_text, finding.order.empty() ? "f64[3]" : "f64[2]");
  }
}

TEST(Strategies, AnOrderIsShownWhereItMatters) {
  StrategyOptions options;
  options.meshes = {*Mesh::parse("a=2,b=2")};
  const auto report =
      try_sample(nested_registry(), "nested.wrong_left_to_right", "f64[12]", options);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(report->incorrect.empty());
  for (const StrategyFinding& finding : report->incorrect) {
    EXPECT_EQ(finding.order, "b,a");
    EXPECT_NE(finding.repro.find("--mesh a=2,b=2 --strategy 'S(0) | S(0)' --strategy 'S(0) | S(0)' "
                                 "--order b,a --seed 1"),
              std::string::npos)
        << finding.repro;
  }
}

TEST(Strategies, AreTheSameForTheSameSeed) {
  const auto run = [](uint64_t seed) {
    StrategyOptions options;
    options.seed = seed;
    options.count = 50;
    return try_sample(nested_registry(), "nested.wrong_first_tag", "f64[7]", options);
  };
  const auto one = run(7), two = run(7), other = run(8);
  EXPECT_EQ(one->incorrect, two->incorrect);
  EXPECT_EQ(one->wrong, two->wrong);
  EXPECT_NE(one->wrong, other->wrong);
}

TEST(Strategies, JointPartialsMergeOverSeveralMeshDims) {
  const Registry& shipped = shipped_registry();
  const std::string lse = "P(custom.max_sumexp) | S(0)";
  const std::string keys = "P(custom.attention), P(custom.attention#1) | R, SS(2,2), SS(2,2), -";
  const struct {
    const char *op, *call;
    StrategyText text;
  } cases[] = {
      {"custom.logsumexp", "f64[11,3]; dim=0", {"a=2,b=3", {lse, lse}, "b,a"}},
      {"custom.logsumexp", "f64[3,4]; dim=0", {"a=2,b=2,c=2", {lse, "S(0) | S(1)", lse}, ""}},
      {"custom.attention",
       "f64[1,2,3,2]; f64[1,2,9,2]; f64[1,2,9,3]; -; causal=true",
       {"a=2,b=2", {keys, keys}, "b,a"}},
      {"custom.attention",
       "f64[1,2,3,2]; f64[1,2,9,2]; f64[1,2,9,3]; -",
       {"a=2,b=2", {keys, "S(3), R | R, R, S(3), -"}, ""}},
      {"argmax",
       "f32[9,4]; dim=0",
       {"a=2,b=2", {"P(reduction.argmax) | S(0)", "P(reduction.argmax) | S(0)"}, "b,a"}},
  };
  for (const auto& c : cases) {
    const auto verdict = judge_text(shipped, c.op, c.call, c.text);
    ASSERT_TRUE(verdict.ok()) << c.op << ": " << verdict.status();
    EXPECT_EQ(verdict->word, StrategyVerdict::Word::kHolds) << c.op << ": " << verdict->reason;
  }
}

TEST(Strategies, WhatIsNoStrategyIsRefusedInWords) {
  const auto refusal = [](const StrategyText& text) {
    const auto verdict = judge_text(shipped_registry(), "mm", "f32[4,6]; f32[6,8]", text);
    return std::string(verdict.ok() ? "judged" : message_of(verdict.status()));
  };
  const std::string rows = "S(0) | S(0), R", sum = "P(sum) | S(1), S(0)", max = "P(max) | R, R";
  EXPECT_EQ(refusal({"a=2,b=2", {rows, sum}, ""}), "judged");
  EXPECT_EQ(refusal({"a=2,b=2", {rows}, ""}),
            "1 rule for the 2 mesh dims of a=2,b=2: a strategy has one each");
  EXPECT_EQ(refusal({"a=2,b=2", {rows, "S(0) | S(1), R"}, ""}),
            "mm has no rule S(0) | S(1), R for this call; `onedim rules` lists those it has");
  EXPECT_EQ(refusal({"a=2,b=2", {rows, rows}, "a"}),
            "the order \"a\" must name every mesh dim of a=2,b=2 once");
  EXPECT_EQ(refusal({"a=2,b=2", {rows, rows}, "a,c"}),
            "the order \"a,c\" names \"c\", but the mesh is a=2,b=2");
  EXPECT_EQ(refusal({"a=9,b=9", {rows, rows}, ""}),
            "the mesh a=9,b=9 has 81 ranks, but at most 64 are simulated");
  EXPECT_NE(refusal({"a=2,b=2", {sum, max}, ""}).find("would hold two partial kinds"),
            std::string::npos);
}

TEST(Strategies, AreOfTheOpsOwnKindOfCall) {
  const auto verdict =
      judge_text(shipped_registry(), "mm", "f32[4,6]; f32[7,8]", {"a=2", {"R | R, R"}, ""});
  EXPECT_FALSE(verdict.ok());
}

// What the strategies of one call reach.
struct Reached {
  int nested = 0, reordered = 0, strided = 0, partials = 0, mixed = 0, uneven = 0, empty = 0;

  void note(const MeshStrategy& strategy, const Subject& subject, const Mesh& mesh) {
    for (size_t slot = 0; slot < strategy.inputs.size(); ++slot)
      note(strategy.inputs[slot], subject.call.inputs[slot]->shape, mesh);
    for (size_t slot = 0; slot < strategy.outputs.size(); ++slot)
      note(strategy.outputs[slot], subject.outputs[slot]->meta.shape, mesh);
  }
  void note(const Layout& layout, const Dims& shape, const Mesh& mesh) {
    int sums = 0, means = 0;
    for (const Placement& placement : layout.placements) {
      strided += placement.kind == Placement::Kind::kStridedShard ? 1 : 0;
      sums += placement.is_partial("sum") ? 1 : 0;
      means += placement.is_partial("avg") ? 1 : 0;
    }
    for (size_t dim = 0; dim < shape.size(); ++dim)
      nested += layout.shard_order(static_cast<int>(dim)).size() > 1 ? 1 : 0;
    reordered += layout.order.empty() ? 0 : 1;
    partials += sums + means > 1 ? 1 : 0;
    mixed += sums > 0 && means > 0 ? 1 : 0;
    uneven += is_even(shape, layout, mesh) ? 0 : 1;
    empty += has_empty_shard(shape, layout, mesh) ? 1 : 0;
  }
};

TEST(StrategyDraw, ReachesEveryKindOfLayout) {
  const Op& mm = op_of(shipped_registry(), "mm");
  const Result<Subject> subject = make_subject(mm, *parse_call(mm.schema, "f32[5,6]; f32[6,7]"));
  Random random(random_seed());
  const Result<StrategySource> source =
      StrategySource::create(*subject, shipped_registry(), random);
  ASSERT_TRUE(source.ok()) << source.status();
  Reached reached;
  for (const Mesh& mesh : default_meshes()) {
    for (int i = 0; i < 600; ++i) {
      const std::optional<MeshStrategy> strategy = source->draw(mesh, random);
      ASSERT_TRUE(strategy.has_value());
      reached.note(*strategy, *subject, mesh);
    }
  }
  for (const int count : {reached.nested, reached.reordered, reached.strided, reached.partials,
                          reached.mixed, reached.uneven, reached.empty})
    EXPECT_GT(count, 20);
}

TEST(StrategyText, IsToldInOneLineAndAsACommand) {
  const StrategyText text{"a=2,b=2", {"S(0) | S(0), R", "P(sum) | S(1), S(0)"}, "b,a"};
  EXPECT_EQ(one_line_of(text), "a: S(0) | S(0), R; b: P(sum) | S(1), S(0); order b,a");
  const Op& mm = op_of(shipped_registry(), "mm");
  const CallText call = *parse_call(mm.schema, "f32[4,6]; f32[6,8]");
  EXPECT_EQ(strategy_command(mm, call.call, call.domains, text, 3),
            "onedim validate mm --inputs 'f32[4,6]; f32[6,8]' --mesh a=2,b=2 --strategy "
            "'S(0) | S(0), R' --strategy 'P(sum) | S(1), S(0)' --order b,a --seed 3");
  const Result<ParsedStrategy> parsed = parse_strategy(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(format_strategy(parsed->mesh, parsed->rules, parsed->order), text);
}

}  // namespace
}  // namespace onedim
