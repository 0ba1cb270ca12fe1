// Memory orders of inputs: local calls read row-major tensors, and what lies otherwise is brought
// there at a price.

#include <gtest/gtest.h>

#include "core/select/selector.hpp"
#include "select_case.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

struct Asking {
  explicit Asking(const char* text)
      : mesh(*Mesh::parse(text)),
        planner(test_model(text)),
        selector(shipped_registry(), planner) {}

  SelectCase make(std::string_view op, std::string_view call, const std::vector<std::string>& at,
                  std::vector<int> outermosts) const {
    SelectCase c = make_case(shipped_registry(), op, call, mesh, at);
    c.outermosts = std::move(outermosts);
    return c;
  }
  Decision decide(SelectCase c) { return **selector.select(c.request()); }
  std::string refusal(SelectCase c) {
    return std::string(message_of(selector.select(c.request()).status()));
  }

  Mesh mesh;
  Planner planner;
  Selector selector;
};

TEST(InputMemory, WhatStaysIsReordered) {
  Asking two("a=2");
  const Decision chosen = two.decide(two.make("relu", "f32[8,6]", {"S(0)"}, {1}));
  EXPECT_EQ(format_layout(chosen.inputs[0], two.mesh), "S(0)");
  ASSERT_NE(chosen.plans[0], nullptr);
  ASSERT_EQ(chosen.plans[0]->steps.size(), 1u);
  EXPECT_EQ(chosen.plans[0]->steps[0].kind, StepKind::kReorder);
  EXPECT_EQ(chosen.cost_us, test_model("a=2")->copy_us(2 * 8 * 6 * 4 / 2));
  EXPECT_EQ(two.decide(two.make("relu", "f32[8,6]", {"S(0)"}, {0})).cost_us, 0);
}

// What is exchanged is packed anew as the order asks.
TEST(InputMemory, CountsInTheMove) {
  Asking two("a=2");
  std::vector<double> costs_us;
  for (const int outermost : {0, 1}) {
    SelectCase c = two.make("relu", "f32[64,32]", {"S(1)"}, {outermost});
    c.required = {*parse_layout("S(0)", two.mesh, 2)};
    const Decision chosen = two.decide(c);
    ASSERT_EQ(format_layout(chosen.inputs[0], two.mesh), "S(0)");
    PlanOptions options;
    options.from_outermost = outermost;
    Planner own(test_model("a=2"));
    const auto plan = *own.plan(*c.call.call.inputs[0], c.layouts[0], chosen.inputs[0], options);
    ASSERT_NE(chosen.plans[0], nullptr);
    EXPECT_EQ(*chosen.plans[0], *plan) << outermost;
    EXPECT_EQ(chosen.cost_us, plan->cost_us) << outermost;
    costs_us.push_back(chosen.cost_us);
  }
  EXPECT_NE(costs_us[0], costs_us[1]);
}

// Dims of one local index make no difference.
TEST(InputMemory, OrdersThatAreRowMajorAreFree) {
  Asking two("a=2");
  for (const auto& [call, layout] :
       {std::pair("f32[2,6]", "S(0)"), std::pair("f32[8,2]", "S(1)")}) {
    SelectCase c = two.make("relu", call, {layout}, {1});
    c.options.forbid_moves = true;
    EXPECT_EQ(two.decide(c).cost_us, 0) << call;
    EXPECT_EQ(two.decide(c).plans[0], nullptr) << call;
  }
}

TEST(InputMemory, WrongUseIsRefused) {
  Asking two("a=2");
  EXPECT_EQ(two.refusal(two.make("relu", "f32[8,6]", {"S(0)"}, {2})),
            "relu: dim 2 cannot be outermost in memory in input 0, which is f32[8,6]");
  EXPECT_EQ(two.refusal(two.make("relu", "f32[8,6]", {"S(0)"}, {1, 0})),
            "relu: 2 memory orders for 1 input slots");
  SelectCase c = two.make("relu", "f32[8,6]", {"S(0)"}, {1});
  c.options.forbid_moves = true;
  EXPECT_EQ(
      two.refusal(c),
      "relu: no strategy is valid on mesh a=2 under policy nonempty that leaves input 0 (S(0) "
      "outermost(1)) as it is; input 0 lies with dim 1 outermost in memory, but local calls "
      "read row-major tensors; the cheapest legal alternative moves input 0 to S(0) in "
      "row-major order for 0.500 us");
}

// The decision cache tells them apart.
TEST(InputMemory, IsPartOfTheKey) {
  Asking two("a=2");
  EXPECT_EQ(two.decide(two.make("relu", "f32[8,6]", {"S(0)"}, {})).cost_us, 0);
  EXPECT_GT(two.decide(two.make("relu", "f32[8,6]", {"S(0)"}, {1})).cost_us, 0);
  EXPECT_EQ(two.decide(two.make("relu", "f32[8,6]", {"S(0)"}, {0})).cost_us, 0);
  EXPECT_EQ(two.selector.counters().hits, 1) << "row-major, said or not";
}

}  // namespace
}  // namespace onedim
