#include "core/select/selector.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "brute_force.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

int draws_per_op() { return std::getenv("ONEDIM_TEST_LONG") != nullptr ? 400 : 6; }

// One call of an op with everything that selection borrows.
struct SelectCase {
  const Op* op = nullptr;
  CallText call;
  std::vector<OptionalOutput> outputs;
  std::vector<Layout> layouts;

  SelectRequest request(const SelectOptions& options = {}) const {
    return {op, &call.call, layouts, {}, options};
  }
  std::string text(const Mesh& mesh) const {
    std::string text = op->name() + ": " + format_call(call.call, call.domains);
    for (size_t slot = 0; slot < layouts.size(); ++slot) {
      if (call.call.inputs[slot]) text += " @" + format_layout(layouts[slot], mesh);
    }
    return text + " on " + mesh.format();
  }
};

SelectCase make_case(std::string_view op, std::string_view call, const Mesh& mesh,
                     const std::vector<std::string>& layouts) {
  SelectCase made;
  made.op = shipped_registry().find(op);
  made.call = *parse_call(made.op->schema, call);
  made.outputs = *made.op->infer(made.call.call);
  for (size_t slot = 0; slot < layouts.size(); ++slot) {
    made.layouts.push_back(*parse_layout(
        layouts[slot], mesh, static_cast<int>(made.call.call.inputs[slot]->shape.size())));
  }
  return made;
}

// Half of the draws are near a strategy: most inputs as it asks for them, the others anywhere.
void draw_layouts(SelectCase& c, const Mesh& mesh, PairDraw& draw, const RuleChoices& choices) {
  c.layouts.assign(c.call.call.inputs.size(), Layout());
  const bool is_near = draw.number(0, 1) == 0 && !choices.rules().empty();
  const auto& rules = choices.rules();
  Strategy strategy{absl::InlinedVector<int, 8>(mesh.ndim(), 0),
                    Layout::replicated(mesh.ndim()).cutting_order()};
  for (int& rule : strategy.rules)
    rule = static_cast<int>(draw.number(0, static_cast<int64_t>(rules.size()) - 1));
  for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
    const OptionalMeta& meta = c.call.call.inputs[slot];
    if (!meta) continue;
    const int ndim = static_cast<int>(meta->shape.size());
    const bool keeps = is_near && draw.number(0, 2) != 0;
    c.layouts[slot] = keeps ? input_layout(choices, strategy, slot, mesh)
                            : draw.layout(mesh, ndim, meta->dtype, draw.number(0, 9) == 0);
  }
}

class AgainstBruteForce : public testing::TestWithParam<const char*> {};

TEST_P(AgainstBruteForce, EveryOpOfEveryPack) {
  const Mesh mesh = *Mesh::parse(GetParam());
  Planner planner(test_model(GetParam()));
  Selector selector(shipped_registry(), planner);
  const uint64_t seed = random_seed();
  PairDraw draw(seed);
  int64_t compared = 0, refused = 0;
  for (const Op* op : shipped_registry().ops()) {
    const Result<std::vector<std::string>> samples = op->samples();
    ASSERT_TRUE(samples.ok()) << op->name();
    for (int number = 0; number < draws_per_op(); ++number) {
      SelectCase c;
      c.op = op;
      const std::string& sample = (*samples)[draw.number(0, samples->size() - 1)];
      Result<CallText> call = parse_call(op->schema, sample);
      ASSERT_TRUE(call.ok()) << sample;
      c.call = *std::move(call);
      Result<std::vector<OptionalOutput>> outputs = op->infer(c.call.call);
      ASSERT_TRUE(outputs.ok()) << sample;
      c.outputs = *std::move(outputs);
      const Result<RuleChoices> choices =
          RuleChoices::create(*op, c.call.call, c.outputs, shipped_registry(), {}, false);
      ASSERT_TRUE(choices.ok()) << choices.status();
      if (std::pow(choices->rules().size(), mesh.ndim()) > 20000) continue;
      draw_layouts(c, mesh, draw, *choices);
      static constexpr std::array<Policy, 4> kPolicies = {Policy::kNonempty, Policy::kEven,
                                                          Policy::kFits, Policy::kAny};
      SelectOptions options;
      options.policy = kPolicies[draw.number(0, 3)];
      const SelectRequest request = c.request(options);
      const auto best = brute_force(request, c.outputs, shipped_registry(), planner);
      const auto decision = selector.decide(request);
      const std::string text = c.text(mesh) + " " + std::string(policy_name(options.policy));
      ASSERT_EQ(decision.ok(), best.has_value()) << text << ": " << decision.status();
      if (!best) {
        ++refused;
        continue;
      }
      ++compared;
      ASSERT_EQ(std::llround((*decision)->cost_us * 1e6), best->ps) << text;
      ASSERT_EQ((*decision)->collectives, best->collectives) << text;
      ASSERT_EQ((*decision)->bytes, best->bytes) << text;
      ASSERT_EQ((*decision)->order, best->strategy.order) << text;
      double sum = 0;
      for (size_t slot = 0; slot < c.layouts.size(); ++slot) {
        if (!c.call.call.inputs[slot]) continue;
        if ((*decision)->plans[slot] != nullptr) sum += (*decision)->plans[slot]->cost_us;
      }
      ASSERT_NEAR(sum, (*decision)->cost_us, 1e-6) << text;
    }
  }
  std::cout << compared << " decisions compared, " << refused << " without a strategy\n";
  EXPECT_GT(compared, 100);
}

INSTANTIATE_TEST_SUITE_P(Selector, AgainstBruteForce,
                         testing::Values("a=4", "a=2,b=2", "a=2,b=3", "a=3,b=1"));

TEST(Selector, KeepsWhatIsFree) {
  const Mesh mesh = *Mesh::parse("a=2,b=4");
  Planner planner(test_model("a=2,b=4"));
  Selector selector(shipped_registry(), planner);
  const SelectCase c = make_case("mm", "f32[64,32]; f32[32,16]", mesh, {"S(0),S(1)", "R,S(0)"});
  const auto decision = selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->cost_us, 0);
  EXPECT_EQ(format_rule((*decision)->rules[0]), "S(0) | S(0), R");
  EXPECT_EQ(format_rule((*decision)->rules[1]), "P(sum) | S(1), S(0)");
  EXPECT_EQ(format_layout((*decision)->outputs[0], mesh), "S(0),P(sum)");
  EXPECT_EQ(selector.counters().misses, 1);
  EXPECT_EQ(*selector.select(c.request()), *decision);
  EXPECT_EQ(selector.counters().hits, 1);
}

TEST(Selector, ReplicatedInputsGiveReplicatedOutputs) {
  const Mesh mesh = *Mesh::parse("a=2");
  Planner planner(test_model("a=2"));
  Selector selector(shipped_registry(), planner);
  const SelectCase c = make_case("relu", "f32[8]", mesh, {"R"});
  EXPECT_EQ(format_rule((*selector.select(c.request()))->rules[0]), "R | R");
}

// A selector on `mesh` with the test's own prices.
struct Bench {
  explicit Bench(const char* text)
      : mesh(*Mesh::parse(text)),
        planner(test_model(text)),
        selector(shipped_registry(), planner) {}
  Mesh mesh;
  Planner planner;
  Selector selector;
};

TEST(Selector, WrittenInputsStayAsTheyAre) {
  Bench bench("a=2,b=2");
  const SelectCase c =
      make_case("add_.Tensor", "f32[8,8]; f32[8,8]", bench.mesh, {"S(0),R", "R,S(1)"});
  const auto decision = bench.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->plans[0], nullptr);
  EXPECT_EQ((*decision)->inputs[0], c.layouts[0]);
  EXPECT_EQ((*decision)->outputs[0], c.layouts[0]);
  EXPECT_EQ(format_layout((*decision)->inputs[1], bench.mesh), "S(0),R");
}

TEST(Selector, ForbiddenMovesAreRefusedInWords) {
  Bench bench("a=2");
  SelectOptions options;
  options.forbid_moves = true;
  const SelectCase free = make_case("mm", "f32[8,8]; f32[8,8]", bench.mesh, {"S(1)", "S(0)"});
  EXPECT_TRUE(bench.selector.select(free.request(options)).ok());
  const SelectCase c = make_case("mm", "f32[8,8]; f32[8,8]", bench.mesh, {"S(0)", "S(0)"});
  const auto refused = bench.selector.select(c.request(options));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string text(refused.status().message());
  EXPECT_NE(text.find("mm: no strategy is valid on mesh a=2"), text.npos) << text;
  EXPECT_NE(text.find("input 0 (S(0)), input 1 (S(0))"), text.npos) << text;
  EXPECT_NE(text.find("the cheapest legal alternative"), text.npos) << text;
}

TEST(Selector, RequiredOutputsAreMet) {
  Bench bench("a=2,b=2");
  const SelectCase c = make_case("mm", "f32[8,8]; f32[8,8]", bench.mesh, {"R,R", "R,R"});
  const Layout wanted = *parse_layout("S(0)[b,a],S(0)", bench.mesh, 2);
  SelectRequest request = c.request();
  const Layout* required = &wanted;
  request.required_outputs = std::span(&required, 1);
  const auto decision = bench.selector.select(request);
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->outputs[0], wanted);
  EXPECT_EQ((*decision)->inputs[0], wanted);
}

TEST(Selector, WrongRequestsAreRefused) {
  Bench bench("a=2,b=2");
  SelectCase c = make_case("mm", "f32[8,8]; f32[8,8]", bench.mesh, {"R,R", "R,R"});
  const auto refusal = [&] {
    return std::string(bench.selector.select(c.request()).status().message());
  };
  c.layouts.pop_back();
  EXPECT_EQ(refusal(), "mm: 1 layouts for 2 input slots");
  c.layouts.push_back(Layout::replicated(1));
  EXPECT_NE(refusal().find("mm: input 1"), std::string::npos) << refusal();
  c.layouts[1] = Layout::replicated(2);
  c.layouts[1].placements[0] = Placement::shard(2);
  EXPECT_NE(refusal().find("S(2)"), std::string::npos) << refusal();
  c.layouts[1].placements = {Placement::make_partial("sum"), Placement::make_partial("max")};
  EXPECT_NE(refusal().find("P(max)"), std::string::npos) << refusal();
}

TEST(Selector, KeepsOnePerMeaning) {
  Bench bench("a=2,b=2");
  const auto ask = [&](const char* call, const std::vector<std::string>& layouts) {
    const SelectCase c = make_case("add.Tensor", call, bench.mesh, layouts);
    const auto decision = bench.selector.select(c.request());
    EXPECT_TRUE(decision.ok()) << decision.status();
    return *decision;
  };
  const std::vector<std::string> layouts = {"P(max),R", "R,R"};
  const auto plus = ask("f32[8]; f32[8]; alpha=2", layouts);
  // The sign of alpha changes the rules, its size does not.
  EXPECT_EQ(ask("f32[8]; f32[8]; alpha=3", layouts), plus);
  EXPECT_EQ(bench.selector.counters().shared_hits, 1);
  EXPECT_NE(ask("f32[8]; f32[8]; alpha=-2", layouts), plus);
  EXPECT_NE(ask("f32[16]; f32[16]; alpha=2", layouts), plus);
  EXPECT_NE(ask("f32[8]; f32[8]; alpha=2", {"P(max),R", "R,S(0)"}), plus);
  EXPECT_NE(ask("f64[8]; f64[8]; alpha=2", layouts), plus);
  EXPECT_EQ(bench.selector.counters().misses, 5);
  EXPECT_EQ(ask("f32[8]; f32[8]; alpha=2", layouts), plus);
  EXPECT_EQ(bench.selector.counters().hits, 1);
}

TEST(Selector, ForgetsWhenFull) {
  const Mesh mesh = *Mesh::parse("a=2");
  Planner planner(test_model("a=2"));
  Selector selector(shipped_registry(), planner, 32);
  for (int length = 2; length < 200; ++length) {
    const SelectCase c = make_case("relu", fmt::format("f32[{}]", length), mesh, {"R"});
    ASSERT_TRUE(selector.select(c.request()).ok());
  }
  EXPECT_GT(selector.counters().evictions, 100);
}

}  // namespace
}  // namespace onedim
