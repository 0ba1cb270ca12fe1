#include "core/validate/claim.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "shipped_packs.hpp"
#include "small_pack.hpp"

namespace onedim {
namespace {

using Word = RuleVerdict::Word;

Result<ClaimVerdict> judge_text(const Registry& registry, const std::string& name,
                                const std::string& text, const std::string& claim,
                                const CaseOptions& options = {}) {
  const Op* op = registry.find(name);
  if (op == nullptr) return invalid_argument("no op {}", name);
  Result<CallText> call = parse_call(op->schema, text);
  if (!call.ok()) return call.status();
  Result<Rule> rule = parse_claim(claim);
  if (!rule.ok()) return rule.status();
  return judge_claim(*op, *call, *rule, registry, options);
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (size_t at = 0; at != std::string::npos;) {
    const size_t end = line.find(" :: ", at);
    fields.push_back(line.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + 4;
  }
  return fields;
}

TEST(Claim, KnownClaimsAreJudgedWithoutError) {
  std::ifstream file(ONEDIM_TEST_DATA "/claims.txt");
  ASSERT_TRUE(file);
  int right = 0, wrong = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of(line);
    ASSERT_EQ(fields.size(), 4u) << line;
    Result<ClaimVerdict> verdict = judge_text(shipped_registry(), fields[1], fields[2], fields[3]);
    ASSERT_TRUE(verdict.ok()) << line << ": " << verdict.status();
    const bool is_right = fields[0] == "right";
    EXPECT_EQ(verdict->word, is_right ? Word::kHolds : Word::kRefuted)
        << line << ": " << verdict->reason;
    (is_right ? right : wrong) += 1;
  }
  EXPECT_GE(right, 40);
  EXPECT_GE(wrong, 40);
}

TEST(Claim, OtherSeedsJudgeAlike) {
  for (uint64_t seed = 2; seed < 6; ++seed) {
    CaseOptions options;
    options.seed = seed;
    const auto word = [&](const char* op, const char* rule) {
      return judge_text(small_registry(), op, "f64[4,6]; f64[4,6]", rule, options)->word;
    };
    EXPECT_EQ(word("small.add", "P(max) | P(max), R"), Word::kHolds) << seed;
    EXPECT_EQ(word("small.add", "P(max) | P(max), P(max)"), Word::kRefuted) << seed;
    EXPECT_EQ(word("small.add", "P(sum) | P(sum), R"), Word::kRefuted) << seed;
  }
}

TEST(Claim, ARefutationNamesWorldAndValues) {
  CaseOptions options;
  options.worlds = {2};
  const auto verdict =
      judge_text(small_registry(), "small.add", "f64[]; f64[]", "P(max) | P(max), P(max)", options);
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->world, 2);
  EXPECT_NE(verdict->reason.find("output 0 at [] should be"), std::string::npos) << verdict->reason;
  EXPECT_NE(verdict->reason.find("rank 1: ["), std::string::npos) << verdict->reason;
}

TEST(Claim, ShapesThatCannotBeAreRefuted) {
  const auto verdict =
      judge_text(small_registry(), "small.add", "f64[4,6]; f64[4,6]", "S(0) | S(1), S(1)");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->word, Word::kRefuted);
  EXPECT_NE(verdict->reason.find("which are not S(0) of f64[4,6]"), std::string::npos)
      << verdict->reason;
}

TEST(Claim, EvenOnlyClaimsAreJudgedWhereAllDivides) {
  // A mean over equal parts is the mean of the parts' means.
  const std::string plain = "P(avg) | S(0)", even = "P(avg) | S(0) even_only";
  const auto uneven = judge_text(small_registry(), "small.blind_mean", "f64[6]", plain);
  ASSERT_TRUE(uneven.ok()) << uneven.status();
  EXPECT_EQ(uneven->word, Word::kRefuted);
  EXPECT_TRUE(uneven->holds_even);
  EXPECT_EQ(judge_text(small_registry(), "small.blind_mean", "f64[6]", even)->word, Word::kHolds);
  EXPECT_EQ(judge_text(small_registry(), "small.blind_mean", "f64[12]", plain)->word, Word::kHolds);
  EXPECT_EQ(judge_text(small_registry(), "small.blind_mean", "f64[5]", even)->word,
            Word::kNotJudged);
}

TEST(Claim, StridedAndAnyShardsAreJudged) {
  EXPECT_EQ(
      judge_text(small_registry(), "small.add", "f64[13]; f64[13]", "SS(0,2) | SS(0,2), SS(0,2)")
          ->word,
      Word::kHolds);
  EXPECT_EQ(
      judge_text(small_registry(), "small.add", "f64[13]; f64[13]", "S*(0) | S*(0), S*(0)")->word,
      Word::kHolds);
  EXPECT_EQ(judge_text(small_registry(), "small.add", "f64[13]; f64[13]", "SS(0,2) | SS(0,2), S(0)")
                ->word,
            Word::kRefuted);
}

TEST(Claim, APartialThatTheDTypeLacksIsRefuted) {
  const auto verdict =
      judge_text(small_registry(), "small.add", "i64[5]; i64[5]", "P(avg) | P(avg), P(avg)");
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->word, Word::kRefuted);
  EXPECT_EQ(verdict->reason, "a i64 tensor has no P(avg)");
}

TEST(Claim, AnEmptyDimBesideTheCutIsNoFault) {
  for (const char* call : {"f64[2,0]", "f64[0,2]", "f64[2,0,3]"}) {
    const auto verdict = judge_text(shipped_registry(), "neg", call, "S(0) | S(0)");
    ASSERT_TRUE(verdict.ok()) << call << ": " << verdict.status();
    EXPECT_NE(verdict->word, Word::kRefuted) << call << ": " << verdict->reason;
  }
}

TEST(Claim, MistakesAreToldInOneLine) {
  const auto message = [](const std::string& call, const std::string& claim) {
    return std::string(message_of(judge_text(small_registry(), "small.add", call, claim).status()));
  };
  EXPECT_EQ(message("f64[4]; f64[4]", "P(sum) | P(sum)"),
            "the rule has 1 input placements, but the call has 2 input slots");
  EXPECT_EQ(message("f64[4]; f64[4]", "S(0) | S(1), S(0)"), "S(1) of input 0: f64[4] has no dim 1");
  EXPECT_EQ(message("f64[4]; f64[4]", "P(nobody.kind#0) | R, R"),
            "no pack offers the partial kind nobody.kind");
  EXPECT_EQ(message("f64[4]; f64[4]", "P(nobody.kind#0) | P(nobody.kind#0), R").substr(0, 46),
            "P(nobody.kind#0) on an input cannot be judged:");
}

TEST(Claim, JointPartialsAreJudgedAsAWhole) {
  const std::string logsumexp = "f64[5,7]; dim=0",
                    attention = "f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,3]; -";
  const auto word = [](const char* op, const std::string& call, const char* rule) {
    const auto verdict = judge_text(shipped_registry(), op, call, rule);
    EXPECT_TRUE(verdict.ok()) << op << ": " << verdict.status();
    return verdict.ok() ? verdict->word : Word::kNotJudged;
  };
  EXPECT_EQ(word("custom.attention", attention,
                 "P(custom.attention#0), P(custom.attention#1) | R, S(2), S(2), -"),
            Word::kHolds);
  EXPECT_EQ(word("custom.attention", attention,
                 "P(custom.attention#0), P(custom.attention#1) | R, R, R, -"),
            Word::kRefuted);
  EXPECT_EQ(word("argmax", "f32[5,7]; dim=0", "P(reduction.argmax#0) | S(0)"), Word::kHolds);
  EXPECT_EQ(word("argmax", "f32[5,7]; dim=0", "P(reduction.argmin#0) | S(0)"), Word::kRefuted);
}

TEST(Claim, TheCommandReproducesIt) {
  const Op& op = *small_registry().find("small.log");
  const Result<CallText> call = parse_call(op.schema, "f64[4,6]:positive");
  const int64_t worlds[] = {2, 3};
  EXPECT_EQ(
      claim_command(op, call->call, call->domains, *parse_claim("P(max) | P(max)"), worlds, 7),
      "onedim validate small.log --inputs 'f64[4,6]:positive' --claim 'P(max) | P(max)' --worlds "
      "2,3 --seed 7");
}

}  // namespace
}  // namespace onedim
