#include <gtest/gtest.h>

#include "core/validate/claim.hpp"
#include "core/validate/strategy_judge.hpp"
#include "tests/plugins/loaded_pack.hpp"

namespace onedim {
namespace {

const LoadedPack& pack() {
  static const LoadedPack loaded("indexing");
  return loaded;
}
using Elements = std::vector<std::vector<double>>;
std::string run(std::string_view op, std::string_view call, const Elements& elements) {
  return pack().run(op, call, elements);
}
bool has_rule(std::string_view op, std::string_view call, std::string_view rule) {
  return pack().has_rule(op, call, rule);
}

using Word = RuleVerdict::Word;
Word judged(std::string_view name, std::string_view text, std::string_view claim) {
  const Op* op = pack().registry().find(name);
  Result<CallText> call = parse_call(op->schema, text);
  Result<Rule> rule = parse_claim(claim);
  EXPECT_TRUE(call.ok() && rule.ok()) << text << " " << claim;
  Result<ClaimVerdict> verdict = judge_claim(*op, *call, *rule, pack().registry(), {});
  EXPECT_TRUE(verdict.ok()) << name << " " << text << ": " << verdict.status();
  return verdict.ok() ? verdict->word : Word::kNotJudged;
}

// What a strategy gives on a mesh: "holds", or why it is not offered or wrong.
std::string on_mesh(std::string_view name, std::string_view text, const StrategyText& strategy) {
  const Registry& registry = pack().registry();
  const Op* op = registry.find(name);
  Result<Subject> subject = make_subject(*op, *parse_call(op->schema, text));
  if (!subject.ok()) return std::string(message_of(subject.status()));
  Result<ParsedStrategy> parsed = parse_strategy(strategy);
  if (!parsed.ok()) return std::string(message_of(parsed.status()));
  Result<MeshStrategy> made =
      make_strategy(*subject, registry, parsed->mesh, parsed->rules, parsed->order);
  if (!made.ok()) return std::string(message_of(made.status()));
  Place place = strategy_place(*subject, 1);
  const std::vector<int> draws = {0, 1, 2, 3, 4, 5, 6, 7};
  StrategyVerdict verdict = judge_strategy(place, parsed->mesh, *made, draws, registry);
  return verdict.word == StrategyVerdict::Word::kHolds ? "holds" : verdict.reason;
}

const Elements kRows = {{0, 1, 10, 11, 20, 21, 30, 31}};

TEST(Indexing, SelectsByIndex) {
  EXPECT_EQ(run("embedding", "f32[4,2]; i64[3]", {kRows[0], {3, 0, 3}}),
            "f32[3,2]: 30, 31, 0, 1, 30, 31");
  EXPECT_EQ(run("gather", "f32[4,2]; i64[2,2]; dim=0", {kRows[0], {3, 0, 1, 1}}),
            "f32[2,2]: 30, 1, 10, 11");
  EXPECT_EQ(run("gather", "i32[4,2]; i32[4,1]; dim=-1", {kRows[0], {1, 0, 0, 1}}),
            "i32[4,1]: 1, 10, 20, 31");
  EXPECT_EQ(run("gather", "f32[]; i64[2]; dim=0", {{7}, {0, 0}}), "f32[2]: 7, 7");
  EXPECT_EQ(run("index_select", "f32[4,2]; i64[3]; dim=-2", {kRows[0], {1, 1, 2}}),
            "f32[3,2]: 10, 11, 10, 11, 20, 21");
  EXPECT_EQ(run("index_select", "f32[]; i64[1]; dim=0", {{5}, {0}}), "f32[]: 5");
  EXPECT_EQ(run("take", "f32[4,2]; i64[3]", {kRows[0], {-1, 0, 5}}), "f32[3]: 31, 0, 21");
}

TEST(Indexing, IndexListsPlaceTheirDims) {
  std::vector<double> grid(24);
  for (size_t i = 0; i < grid.size(); ++i) grid[i] = static_cast<double>(i);
  // Side by side: where they stand; apart: first.
  EXPECT_EQ(run("index.Tensor", "i64[2,3,4]; [-; i64[2]; i64[2]]", {grid, {2, -3}, {0, 3}}),
            "i64[2,2]: 8, 3, 20, 15");
  EXPECT_EQ(run("index.Tensor", "i64[2,3,4]; [i64[3]; -; i64[1]]", {grid, {0, 1, 1}, {-1}}),
            "i64[3,3]: 3, 7, 11, 15, 19, 23, 15, 19, 23");
  EXPECT_EQ(run("index.Tensor", "i64[2,3,4]; [i64[2,1]; i64[3]]", {grid, {0, 1}, {2, 0, 1}})
                .substr(0, 12),
            "i64[2,3,4]: ");
}

TEST(Indexing, Updates) {
  const std::vector<double> zeros(6, 0);
  EXPECT_EQ(run("scatter.src", "f32[3,2]; i64[2,2]; f32[2,2]; dim=0",
                {zeros, {2, 0, 2, 1}, {1, 2, 3, 4}}),
            "f32[3,2]: 0, 2, 0, 4, 3, 0");
  EXPECT_EQ(
      run("scatter_add", "f32[3]; i64[4]; f32[4]; dim=0", {{1, 1, 1}, {2, 2, 0, 2}, {1, 2, 3, 4}}),
      "f32[3]: 4, 1, 8");
  EXPECT_EQ(run("scatter_add", "bool[2]; i64[2]; bool[2]; dim=0", {{0, 0}, {1, 1}, {0, 1}}),
            "bool[2]: 0, 1");
  EXPECT_EQ(run("scatter.value", "i64[3]; i64[2]; dim=0; value=2.75", {{0, 0, 0}, {0, 2}}),
            "i64[3]: 2, 0, 2");
  EXPECT_EQ(
      run("index_add", "f32[3]; i64[2]; f32[2]; dim=0; alpha=-2", {{1, 1, 1}, {1, 1}, {1, 2}}),
      "f32[3]: 1, -5, 1");
  EXPECT_EQ(run("index_fill.int_Scalar", "f32[2,2]; i64[1]; dim=1; value=9", {{1, 2, 3, 4}, {-1}}),
            "f32[2,2]: 1, 9, 3, 9");
  EXPECT_EQ(run("index_copy", "f32[3]; i64[3]; f32[3]; dim=0", {{0, 0, 0}, {1, 1, 0}, {5, 6, 7}}),
            "f32[3]: 7, 6, 0");
  EXPECT_EQ(
      run("put", "f32[2,2]; i64[2]; f32[2]; accumulate=true", {{1, 1, 1, 1}, {-1, 3}, {2, 3}}),
      "f32[2,2]: 1, 1, 1, 6");
  EXPECT_EQ(run("put", "f32[4]; i64[4]; f32[2,2]", {{0, 0, 0, 0}, {3, 2, 1, 0}, {1, 2, 3, 4}}),
            "f32[4]: 4, 3, 2, 1");
  EXPECT_EQ(
      run("masked_scatter", "f32[2,2]; bool[2]; f32[4]", {{0, 0, 0, 0}, {0, 1}, {7, 8, 9, 9}}),
      "f32[2,2]: 0, 7, 0, 8");
}

TEST(Indexing, MaskedScatterBroadcastsBoth) {
  EXPECT_EQ(run("masked_scatter", "f32[2]; bool[2,1]; f32[4]", {{5, 6}, {0, 1}, {7, 8, 9, 9}}),
            "f32[2,2]: 5, 6, 7, 8");
}

TEST(Indexing, PutTakesMasksAndAccumulates) {
  EXPECT_EQ(
      run("index_put", "f32[3,2]; [bool[3]]; f32[2]", {{1, 2, 3, 4, 5, 6}, {1, 0, 1}, {8, 9}}),
      "f32[3,2]: 8, 9, 3, 4, 8, 9");
  EXPECT_EQ(run("index_put", "f32[4]; [bool[4]]; f32[2]", {{0, 0, 0, 0}, {0, 1, 0, 1}, {5, 6}}),
            "f32[4]: 0, 5, 0, 6");
  EXPECT_EQ(run("index_put", "f32[3]; [i64[3]]; f32[3]; accumulate=true",
                {{1, 1, 1}, {0, 0, -1}, {1, 2, 3}}),
            "f32[3]: 4, 1, 4");
  EXPECT_NE(run("index_put", "f32[4]; [bool[4]]; f32[3]", {{0, 0, 0, 0}, {0, 1, 0, 1}, {5, 6, 7}})
                .find("2 true elements of the mask"),
            std::string::npos);
}

TEST(Indexing, ReducesWithAndWithoutTheOldValue) {
  const auto reduced = [](const std::string& rest) {
    return run("scatter_reduce.two", "i64[3]; i64[3]; i64[3]; dim=0; " + rest,
               {{10, 3, 7}, {0, 0, 2}, {-5, 2, 4}});
  };
  EXPECT_EQ(reduced("reduce=sum"), "i64[3]: 7, 3, 11");
  EXPECT_EQ(reduced("reduce=prod; include_self=false"), "i64[3]: -10, 3, 4");
  EXPECT_EQ(reduced("reduce=mean; include_self=false"), "i64[3]: -2, 3, 4");  // rounded down
  EXPECT_EQ(reduced("reduce=amax"), "i64[3]: 10, 3, 7");
  EXPECT_EQ(reduced("reduce=amax; include_self=false"), "i64[3]: 2, 3, 4");
  EXPECT_EQ(reduced("reduce=amin"), "i64[3]: -5, 3, 4");
}

TEST(Indexing, GradientOfEmbedding) {
  const Elements call = {{1, 2, 4, 8}, {1, 1, 0, 2}};
  const auto gradient = [&](const std::string& rest) {
    return run("embedding_dense_backward", "f64[4,1]; i64[4]; num_weights=3; " + rest, call);
  };
  EXPECT_EQ(gradient("padding_idx=-1; scale_grad_by_freq=false"), "f64[3,1]: 4, 3, 8");
  EXPECT_EQ(gradient("padding_idx=1; scale_grad_by_freq=false"), "f64[3,1]: 4, 0, 8");
  EXPECT_EQ(gradient("padding_idx=-1; scale_grad_by_freq=true"), "f64[3,1]: 4, 1.5, 8");
}

TEST(Indexing, Searches) {
  const Elements call = {{1, 3, 3, 5}, {3, 0, 9}};
  EXPECT_EQ(run("searchsorted.Tensor", "i64[4]; i64[3]; -", call), "i64[3]: 1, 0, 4");
  EXPECT_EQ(run("searchsorted.Tensor", "i64[4]; i64[3]; -; side=right; out_int32=true", call),
            "i32[3]: 3, 0, 4");
  EXPECT_EQ(run("bucketize.Tensor", "i64[3]; i64[4]; right=true", {call[1], call[0]}),
            "i64[3]: 3, 0, 4");
}

TEST(Indexing, RefusesWhatATenRefuses) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"gather", "f32[3]; f32[2]; dim=0"},
      {"gather", "f32[3,2]; i64[2]; dim=0"},
      {"gather", "f32[3,2]; i64[2,3]; dim=0"},
      {"gather", "f32[3,2]; i64[2,2]; dim=2"},
      {"scatter.src", "f32[3]; i64[2]; f64[2]; dim=0"},
      {"scatter.src", "f32[3]; i64[2]; f32[1]; dim=0"},
      {"scatter.reduce", "f32[3]; i64[2]; f32[2]; dim=0; reduce=mean"},
      {"scatter_reduce.two", "bool[3]; i64[2]; bool[2]; dim=0; reduce=mean"},
      {"scatter_reduce.two", "c64[3]; i64[2]; c64[2]; dim=0; reduce=amax"},
      {"index_reduce", "c64[3]; i64[2]; c64[2]; dim=0; reduce=amin"},
      {"index_select", "f32[3]; i64[2,1]; dim=0"},
      {"index_add", "f32[3]; i64[2]; f32[3]; dim=0"},
      {"index_copy", "f32[3]; i32[2]; f32[2]; dim=0"},
      {"index_fill.int_Tensor", "f32[3]; i64[2]; f32[1]; dim=0"},
      {"index_reduce", "f32[3]; i64[2]; f32[2]; dim=0; reduce=sum"},
      {"index_put", "f32[3,2]; [i64[2]]; f32[3]"},
      {"index_put", "f32[3,2]; [bool[2]]; f32[2]"},
      {"index.Tensor", "f32[3]; [i64[1]; i64[1]]"},
      {"index.Tensor", "f32[3,3]; [i64[2]; i64[3]]"},
      {"take", "f32[0]; i64[1]"},
      {"put", "f32[3]; i64[2]; f32[3]"},
      {"masked_scatter", "f32[3]; u8[3]; f32[3]"},
      {"masked_scatter", "f32[3]; bool[3]; f32[2]"},
      {"embedding", "f32[3]; i64[2]"},
      {"embedding_dense_backward",
       "f32[3,2]; i64[2]; num_weights=3; padding_idx=-1; scale_grad_by_freq=false"},
      {"bucketize.Tensor", "f32[3]; f32[2,2]"},
      {"searchsorted.Tensor", "f32[4]; f32[3]; -; right=true; side=left"},
  };
  for (const auto& [op, call] : calls) {
    const std::string result = run(op, call, {});
    EXPECT_EQ(result.find("]:"), std::string::npos) << op << "(" << call << ") gave " << result;
    EXPECT_NE(result.find(op), std::string::npos) << "the op is not named: " << result;
  }
}

TEST(Indexing, OutOfRangeIsToldByTheGlobalSize) {
  EXPECT_NE(run("embedding", "f32[3,2]; i64[1]", {{}, {3}}).find("index 3 is out of range"),
            std::string::npos);
  EXPECT_NE(run("gather", "f32[3]; i64[1]; dim=0", {{}, {-1}}).find("index -1 is out of range"),
            std::string::npos);
  EXPECT_NE(run("index_copy", "f32[3]; i64[1]; f32[1]; dim=0", {{}, {-1}}).find("index -1 is out"),
            std::string::npos);
  EXPECT_NE(run("take", "f32[3]; i64[1]", {{}, {-4}}).find("index -4 is out of range"),
            std::string::npos);
}

TEST(Indexing, ADataDependentShapeIsRefusedByName) {
  const std::string result = run("index.Tensor", "f32[3]; [bool[3]]", {});
  EXPECT_NE(result.find("index.Tensor"), std::string::npos) << result;
  EXPECT_NE(result.find("depends on the data"), std::string::npos) << result;
}

// Rules that other systems register, each refuted here, beside what holds instead.
TEST(Indexing, WrongRulesOfOthersAreRefuted) {
  const struct {
    const char *op, *call, *wrong, *right;
  } cases[] = {
      // An index shorter than self: rows do not line up.
      {"gather", "f64[4,2]; i64[2,1]:index(2); dim=1", "S(0) | S(0), S(0)", "S(0) | R, S(0)"},
      {"gather", "f64[4,2]; i64[2,1]:index(2); dim=1", "S(0) | S(0), S(0)", "P(sum) | S(0), R"},
      // A src longer than the index.
      {"scatter_add", "f64[4,3]; i64[4,3]:index(3); f64[6,3]; dim=1", "S(0) | S(0), S(0), S(0)",
       "S(0) | S(0), S(0), R"},
      // A sum over items that meet does not commute with max.
      {"scatter_add", "f64[4]; i64[6]:index(4); f64[6]; dim=0", "P(max) | R, R, P(max)",
       "P(max) | P(max), R, R"},
      // Counts of a part of the batch are no counts.
      {"embedding_dense_backward",
       "f64[6,2]; i64[6]:index(3); num_weights=3; padding_idx=-1; scale_grad_by_freq=true",
       "P(sum) | S(0), S(0)", "P(sum) | S(0), R"},
      // Rows of self are not those of the values.
      {"index_put", "f64[4,4]; [i64[4]:index(4); i64[4]:index(4)]; f64[4]",
       "S(0) | S(0), R, R, S(0)", "S(0) | S(0), R, R, R"},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(judged(item.op, item.call, item.wrong), Word::kRefuted) << item.op << item.wrong;
    EXPECT_FALSE(has_rule(item.op, item.call, item.wrong)) << item.op << item.wrong;
    EXPECT_EQ(judged(item.op, item.call, item.right), Word::kHolds) << item.op << item.right;
    EXPECT_TRUE(has_rule(item.op, item.call, item.right)) << item.op << item.right;
  }
}

TEST(Indexing, APaddingRowIsTheGlobalOne) {
  const char* call =
      "f64[6,2]; i64[6]:index(4); num_weights=4; padding_idx=3; scale_grad_by_freq=false";
  for (const char* rule : {"S(0) | R, R", "P(sum) | S(0), S(0)", "S(1) | S(1), R"}) {
    EXPECT_EQ(judged("embedding_dense_backward", call, rule), Word::kHolds) << rule;
    EXPECT_TRUE(has_rule("embedding_dense_backward", call, rule)) << rule;
  }
}

// Which rows a rank holds is told with each call, so calls do not share it.
TEST(Indexing, EachCallHasItsOwnRows) {
  for (int round = 0; round < 2; ++round) {
    for (const char* call : {"f64[10,3]; i64[5]:index(10)", "f64[10,4]; i64[5]:index(10)",
                             "f64[7,3]; i64[5]:index(7)"}) {
      EXPECT_EQ(judged("embedding", call, "P(sum) | S(0), R"), Word::kHolds) << call;
    }
  }
}

TEST(Indexing, RowsOnOneMeshDimAndBatchOnAnother) {
  EXPECT_EQ(on_mesh("embedding", "f64[8,3]; i64[4,2]:index(8)",
                    {"dp=2,tp=4", {"S(0) | R, S(0)", "P(sum) | S(0), R"}, ""}),
            "holds");
  EXPECT_EQ(on_mesh("embedding", "f64[8,3]; i64[4,2]:index(8)",
                    {"dp=2,tp=2", {"S(1) | R, S(1)", "S(2) | S(1), R"}, ""}),
            "holds");
}

TEST(Indexing, ShardsThatMayMissEachOtherAreNotOffered) {
  const std::string refusal =
      on_mesh("scatter_add", "f64[4,3]; i64[4,3]:index(3); f64[4,3]; dim=1",
              {"a=2,b=2", {"S(0) | S(0), R, S(0)", "S(0) | S(0), S(0), S(0)"}, ""});
  EXPECT_NE(refusal.find("cut by different mesh dims"), std::string::npos) << refusal;
}

TEST(Indexing, RulesFollowTheCase) {
  EXPECT_TRUE(has_rule("embedding", "f64[6,4]; i64[5]", "P(max) | P(max), R"));
  EXPECT_TRUE(has_rule("embedding", "f64[6,4]; i64[5]", "P(product) | P(product), R"));
  EXPECT_FALSE(has_rule("embedding", "f64[6,4]; i64[5]", "P(max) | S(0), R"));
  EXPECT_TRUE(has_rule("gather", "bool[6]; i64[5]; dim=0", "P(max) | S(0), R"));
  EXPECT_TRUE(has_rule("index.Tensor", "f64[3,4,5]; [-; i64[6]; -]", "S(2) | S(2), -, R, -"));
  EXPECT_TRUE(has_rule("index.Tensor", "f64[3,4,5]; [i64[6]; -; i64[6]]", "S(1) | S(1), R, -, R"));
  EXPECT_TRUE(has_rule("scatter.src", "f64[6]; i64[5]; f64[5]; dim=0", "P(sum) | P(sum), R, S(0)"));
  EXPECT_FALSE(
      has_rule("scatter.src", "f64[6]; i64[5]; f64[5]; dim=0", "P(sum) | P(sum), S(0), S(0)"));
  EXPECT_TRUE(has_rule("scatter.value", "f64[6]; i64[5]; dim=0; value=0", "P(sum) | P(sum), R"));
  EXPECT_FALSE(has_rule("scatter.value", "f64[6]; i64[5]; dim=0; value=1", "P(sum) | P(sum), R"));
  EXPECT_TRUE(has_rule("index_put", "f64[6]; [bool[6]]; f64[]", "S(0) | S(0), S(0), R"));
  EXPECT_FALSE(has_rule("index_put", "f64[6]; [bool[6]]; f64[6]", "S(0) | S(0), S(0), R"));
  EXPECT_TRUE(has_rule("index_reduce", "f64[6]; i64[5]; f64[5]; dim=0; reduce=amax",
                       "P(max) | R, S(0), S(0)"));
  EXPECT_TRUE(has_rule("index_put_", "f64[6]; [i64[5]]; f64[5]; accumulate=true",
                       "P(sum) | P(sum), S(0), S(0)"));
  EXPECT_TRUE(has_rule("bucketize.Tensor", "f64[4]; f64[6]", "P(sum) | R, S(0)"));
}

}  // namespace
}  // namespace onedim
