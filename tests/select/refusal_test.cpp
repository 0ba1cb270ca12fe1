// What selection says where no strategy serves, and of inputs that are parts of joint partials.

#include <gtest/gtest.h>

#include "core/select/selector.hpp"
#include "joint_pack.hpp"
#include "select_case.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

struct Asking {
  explicit Asking(const char* text, const Registry& packs = shipped_registry())
      : registry(packs),
        mesh(*Mesh::parse(text)),
        planner(test_model(text)),
        selector(packs, planner) {}

  SelectCase make(std::string_view op, std::string_view call,
                  const std::vector<std::string>& layouts) const {
    return make_case(registry, op, call, mesh, layouts);
  }
  // The refusal, `OK` where there is none.
  std::string refusal(SelectCase c) {
    const auto decision = selector.select(c.request());
    if (decision.ok()) return "OK";
    EXPECT_TRUE(absl::IsFailedPrecondition(decision.status()) ||
                absl::IsInvalidArgument(decision.status()))
        << decision.status();
    return std::string(message_of(decision.status()));
  }

  const Registry& registry;
  Mesh mesh;
  Planner planner;
  Selector selector;
};

TEST(Refusal, ForbiddenMovesNameTheCheapestLegalAlternative) {
  Asking two("a=2");
  SelectCase c = two.make("mm", "f32[8,8]; f32[8,8]", {"S(0)", "S(0)"});
  c.options.forbid_moves = true;
  SelectCase free = c;
  free.options.forbid_moves = false;
  const auto cheapest = *two.selector.select(free.request());
  EXPECT_EQ(two.refusal(c),
            fmt::format("mm: no strategy is valid on mesh a=2 under policy nonempty that leaves "
                        "input 0 (S(0)), input 1 (S(0)) as it is; no rule does on mesh dim a; the "
                        "cheapest legal alternative moves input 1 to R for {:.3f} us",
                        cheapest->cost_us));
  EXPECT_EQ(format_layout(cheapest->inputs[1], two.mesh), "R");
}

TEST(Refusal, AbsentInputsMayBeForbiddenToMove) {
  Asking two("a=2");
  SelectCase c = two.make("clamp.Tensor", "f32[8]; -; f32[8]", {"S(0)", "S(0)"});
  c.options.forbid_moves = true;
  EXPECT_EQ(two.refusal(c), "OK");
}

TEST(Refusal, AMemoryLimitTellsTheLeastThatWouldDo) {
  Asking four("a=4");
  SelectCase c = four.make("mm", "f32[64,64]; f32[64,64]", {"P(max)", "S(0)"});
  c.options.memory_bytes = 1000;
  const std::string text = four.refusal(c);
  const std::string lead =
      "mm: no strategy is valid on mesh a=4 under policy nonempty within 1000 bytes a rank; the "
      "least that would do is ";
  ASSERT_TRUE(text.starts_with(lead)) << text;
  c.options.memory_bytes = std::stoll(text.substr(lead.size()));
  EXPECT_EQ(four.refusal(c), "OK");
  --c.options.memory_bytes;
  EXPECT_EQ(four.refusal(c),
            fmt::format("mm: no strategy is valid on mesh a=4 under policy nonempty within {} "
                        "bytes a rank; the least that would do is {}",
                        c.options.memory_bytes, c.options.memory_bytes + 1));
}

TEST(Refusal, MemoryAndMovesTogether) {
  Asking four("a=4");
  SelectCase c = four.make("mm", "f32[64,64]; f32[64,64]", {"P(max)", "S(0)"});
  c.options.memory_bytes = 1000;
  c.options.forbid_moves = true;
  const std::string text = four.refusal(c);
  EXPECT_NE(text.find("the cheapest legal alternative moves input 0 to"), text.npos) << text;
  EXPECT_NE(text.find(", and needs "), text.npos) << text;
}

TEST(Refusal, RequiredOutputsSayWhichRuleFails) {
  Asking four("a=4");
  SelectCase c = four.make("relu", "f32[6]", {"R"});
  c.required = {*parse_layout("S(0)", four.mesh, 1)};
  EXPECT_EQ(four.refusal(c),
            "relu: no strategy is valid on mesh a=4 under policy nonempty that gives output 0 as "
            "S(0); relu: rule S(0) | S(0) on mesh dim a of size 4: input 0 dim 0 is cut as the "
            "policy nonempty forbids");
  c.options.policy = Policy::kAny;
  EXPECT_EQ(four.refusal(c), "OK");
  c.required = {*parse_layout("P(product)", four.mesh, 1)};
  EXPECT_EQ(four.refusal(c),
            "relu: no strategy is valid on mesh a=4 under policy any that gives output 0 as "
            "P(product); no rule does on mesh dim a");
}

TEST(Refusal, ConditionsOfRulesAreTold) {
  Asking four("a=4", joint_registry());
  SelectCase c = four.make("joint.blocks", "f64[9]", {"S(0)"});
  c.options.forbid_moves = true;
  c.options.policy = Policy::kAny;
  const std::string uneven = four.refusal(c);
  EXPECT_NE(uneven.find("input 0 dim 0 does not divide, which the rule needs; the cheapest legal"),
            uneven.npos)
      << uneven;
  c = four.make("joint.blocks", "f64[8]", {"S(0)"});
  c.options.forbid_moves = true;
  const std::string refused = four.refusal(c);
  EXPECT_NE(refused.find("blocks are of three"), refused.npos) << refused;
}

TEST(Refusal, LayoutsThatCannotBeSayWhy) {
  Asking two("a=2");
  EXPECT_EQ(two.refusal(two.make("relu", "f32[8]", {"P(nope.kind)"})),
            "relu: input 0: no pack offers the partial kind nope.kind");
  EXPECT_EQ(two.refusal(two.make("relu", "f64[8]", {"P(custom.attention#2)"})),
            "relu: input 0: P(custom.attention#2) names tensor 2 of a partial kind of 2");
  SelectCase c = two.make("sum", "bool[5,3]", {"R"});
  c.layouts[0].placements[0] = Placement::make_partial("sum");
  EXPECT_NE(two.refusal(c).find("sum: input 0: "), std::string::npos) << two.refusal(c);
}

TEST(JointPartials, StayWhereARuleTakesThem) {
  Asking asking("a=2,b=2", joint_registry());
  SelectCase c =
      asking.make("joint.pass", "f64[8]; f64[8]", {"P(joint.pair#0),S(0)", "P(joint.pair#1),S(0)"});
  const auto decision = asking.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->cost_us, 0);
  EXPECT_EQ((*decision)->inputs, c.layouts);
  EXPECT_EQ((*decision)->outputs, c.layouts);
  for (const auto& plan : (*decision)->plans) EXPECT_EQ(plan, nullptr);
}

// The other inputs move as the ones that stay want them.
TEST(JointPartials, AreNotMovedAlone) {
  Asking asking("a=2,b=2", joint_registry());
  EXPECT_EQ(asking.refusal(
                asking.make("joint.pass", "f64[8]; f64[8]", {"P(joint.pair#0),S(0)", "R,S(0)"})),
            "joint.pass: no strategy is valid on mesh a=2,b=2 under policy nonempty that leaves "
            "input 0 (P(joint.pair#0),S(0)) as it is; input 0 is one of the 2 tensors of a partial "
            "of kind joint.pair, which only move together");
  EXPECT_EQ(asking.refusal(asking.make("joint.pass", "f64[8]; f64[8]",
                                       {"P(joint.pair#0),S(0)", "P(joint.ratio#1),S(0)"})),
            "joint.pass: no strategy is valid on mesh a=2,b=2 under policy nonempty that leaves "
            "input 0 (P(joint.pair#0),S(0)), input 1 (P(joint.ratio#1),S(0)) as it is; input 0 is "
            "one of the 2 tensors of a partial of kind joint.pair, which only move together; input "
            "1 is one of the 2 tensors of a partial of kind joint.ratio, which only move together; "
            "no rule does on mesh dim a");
  Asking shipped("a=2");
  EXPECT_EQ(
      shipped.refusal(shipped.make("relu", "f64[8]", {"P(custom.attention#0)"})),
      "relu: no strategy is valid on mesh a=2 under policy nonempty that leaves input 0 "
      "(P(custom.attention#0)) as it is; input 0 is one of the 2 tensors of a partial of kind "
      "custom.attention, which only move together; no rule does on mesh dim a");
}

// The state moves, not the tensor that it will be finished to.
TEST(JointPartials, OfOneTensorMoveAsTheirState) {
  Asking four("a=4");
  SelectCase c = four.make("relu", "f32[8]", {"P(custom.max_sumexp)"});
  EXPECT_EQ(four.refusal(c),
            "relu: no strategy is valid on mesh a=4 under policy nonempty that leaves input 0 "
            "(P(custom.max_sumexp#0)) as it is; input 0 is a partial of kind custom.max_sumexp, "
            "which moves as its state (max, sumexp), which is not given; no rule does on mesh dim "
            "a");
  c.states = {{*parse_meta("f64[8]"), *parse_meta("f64[8]")}};
  const auto decision = four.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  const Decision& chosen = **decision;
  ASSERT_NE(chosen.plans[0], nullptr);
  EXPECT_EQ(format_layout(chosen.inputs[0], four.mesh), "S(0)");
  // Two f64 of each quarter from each other rank.
  EXPECT_EQ(chosen.bytes, 3 * 2 * 2 * 8);
  Planner own(test_model("a=4"));
  EXPECT_EQ(*chosen.plans[0], **own.plan(c.states[0], c.layouts[0], chosen.inputs[0]));
  // Narrower states are another request, and cost less.
  c.states = {{*parse_meta("f32[8]"), *parse_meta("bf16[8]")}};
  EXPECT_EQ((*four.selector.select(c.request()))->bytes, 3 * 2 * (4 + 2));
}

TEST(JointPartials, StatesMustBeWhatMoves) {
  Asking two("a=2");
  SelectCase c = two.make("relu", "f32[8]", {"P(custom.max_sumexp)"});
  c.states = {{*parse_meta("f64[8]")}};
  EXPECT_EQ(
      two.refusal(c),
      "relu: the state of input 0: a value under P(custom.max_sumexp) is a state of 2 tensors "
      "(max, sumexp), but 1 is given; give them all, one behind the other with `;`");
  c.states = {{*parse_meta("f64[8]"), *parse_meta("f64[4]")}};
  EXPECT_EQ(two.refusal(c),
            "relu: the state of input 0: f64[4] is not of the input's shape [8], as all that moves "
            "as a state is");
  c.states = {{}, {}};
  EXPECT_EQ(two.refusal(c), "relu: 2 states for 1 input slots");
  c = two.make("relu", "f32[8]", {"P(sum)"});
  c.states = {{*parse_meta("f64[8]"), *parse_meta("f64[8]")}};
  EXPECT_EQ(two.refusal(c),
            "relu: the state of input 0: the input is no partial of a pack with a hidden state; "
            "leave it out");
}

// On a mesh dim of one rank a state that is the outputs themselves is whole; one that must be
// finished is not.
TEST(JointPartials, OverOneRank) {
  Asking one("a=1,b=2", joint_registry());
  SelectCase c =
      one.make("joint.pass", "f64[8]; f64[8]", {"P(joint.pair#0),S(0)", "P(joint.pair#1),R"});
  const auto decision = one.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ(format_layout((*decision)->inputs[1], one.mesh), "R,S(0)");
  const std::string text = one.refusal(
      one.make("joint.pass", "f64[8]; f64[8]", {"P(joint.ratio#0),S(0)", "P(joint.ratio#1),S(0)"}));
  EXPECT_EQ(text,
            "joint.pass: input 0: P(joint.ratio#0) stands over mesh dim a of one rank, where "
            "nothing is left to merge; write R");
}

}  // namespace
}  // namespace onedim
