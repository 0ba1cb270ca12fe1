#include "core/select/selector.hpp"

#include <gtest/gtest.h>

#include "select_case.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/select/bench.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

SelectCase make_case(std::string_view op, std::string_view call, const Mesh& mesh,
                     const std::vector<std::string>& layouts) {
  return make_case(shipped_registry(), op, call, mesh, layouts);
}

TEST(Selector, KeepsWhatIsFree) {
  const Mesh mesh = *Mesh::parse("a=2,b=4");
  Planner planner(test_model("a=2,b=4"));
  Selector selector(shipped_registry(), planner);
  SelectCase c = make_case("mm", "f32[64,32]; f32[32,16]", mesh, {"S(0),S(1)", "R,S(0)"});
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
  SelectCase c = make_case("relu", "f32[8]", mesh, {"R"});
  EXPECT_EQ(format_rule((*selector.select(c.request()))->rules[0]), "R | R");
}

TEST(Selector, WrittenInputsStayAsTheyAre) {
  Bench bench("a=2,b=2");
  SelectCase c = make_case("add_.Tensor", "f32[8,8]; f32[8,8]", bench.mesh, {"S(0),R", "R,S(1)"});
  const auto decision = bench.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->plans[0], nullptr);
  EXPECT_EQ((*decision)->inputs[0], c.layouts[0]);
  EXPECT_EQ((*decision)->outputs[0], c.layouts[0]);
  EXPECT_EQ(format_layout((*decision)->inputs[1], bench.mesh), "S(0),R");
}

TEST(Selector, RequiredOutputsAreMet) {
  Bench bench("a=2,b=2");
  SelectCase c = make_case("mm", "f32[8,8]; f32[8,8]", bench.mesh, {"R,R", "R,R"});
  const Layout wanted = *parse_layout("S(0)[b,a],S(0)", bench.mesh, 2);
  c.required = {wanted};
  const auto decision = bench.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->outputs[0], wanted);
  EXPECT_EQ((*decision)->inputs[0], wanted);
}

// design: the policy binds what is chosen, never a given source; an output is chosen.
TEST(Selector, PoliciesBindOutputsOfUnevenInputs) {
  Bench bench("a=4");
  SelectCase c = make_case("relu", "f32[10]", bench.mesh, {"S(0)"});
  c.options.policy = Policy::kEven;
  const auto even = bench.selector.select(c.request());
  ASSERT_TRUE(even.ok()) << even.status();
  EXPECT_EQ(format_layout((*even)->outputs[0], bench.mesh), "R");
  EXPECT_GT((*even)->cost_us, 0);
  c.options.policy = Policy::kNonempty;
  EXPECT_EQ((*bench.selector.select(c.request()))->cost_us, 0);
  EXPECT_EQ(format_layout((*bench.selector.select(c.request()))->outputs[0], bench.mesh), "S(0)");
}

// What is written in place is the source itself.
TEST(Selector, PoliciesDoNotBindWhatIsWrittenInPlace) {
  Bench bench("a=4");
  SelectCase c = make_case("relu_", "f32[10]", bench.mesh, {"S(0)"});
  c.options.policy = Policy::kEven;
  const auto decision = bench.selector.select(c.request());
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ((*decision)->cost_us, 0);
  EXPECT_EQ(format_layout((*decision)->outputs[0], bench.mesh), "S(0)");
}

TEST(Selector, PoliciesDoNotBindTensorsWithoutElements) {
  Bench bench("a=4");
  SelectCase c = make_case("relu", "f32[0,10]", bench.mesh, {"S(1)"});
  c.options.policy = Policy::kEven;
  EXPECT_EQ(format_layout((*bench.selector.select(c.request()))->outputs[0], bench.mesh), "S(1)");
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

}  // namespace
}  // namespace onedim
