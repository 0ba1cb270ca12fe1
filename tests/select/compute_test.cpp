// Selection where the time of the local call counts.

#include <gtest/gtest.h>

#include <cmath>

#include "brute_force.hpp"
#include "core/cost/autoparallel_roofline.hpp"
#include "core/select/selector.hpp"
#include "joint_pack.hpp"
#include "select_case.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

// 500 bytes a us and 1e6 flops a us in effect.
ClusterCompute small_machine() {
  ClusterCompute compute{1, 0.5, 0.25, {}};
  compute.peak_tflops.fill(2);
  return compute;
}

struct Computing {
  explicit Computing(const char* text, const Registry& packs = shipped_registry())
      : registry(packs),
        mesh(*Mesh::parse(text)),
        planner(test_model(text)),
        selector(packs, planner, Selector::kCapacity, Roofline(small_machine())) {}

  std::shared_ptr<const Decision> ask(std::string_view op, std::string_view call,
                                      const std::vector<std::string>& layouts,
                                      Policy policy = Policy::kAny) {
    SelectCase c = make_case(registry, op, call, mesh, layouts);
    c.options.with_compute = true;
    c.options.policy = policy;
    const auto decision = selector.select(c.request());
    EXPECT_TRUE(decision.ok()) << decision.status();
    return decision.value_or(std::make_shared<Decision>());
  }

  const Registry& registry;
  Mesh mesh;
  Planner planner;
  Selector selector;
};

TEST(Compute, CutsWhatIsReplicatedWhereThatPays) {
  Computing four("a=4");
  const auto decision = four.ask("mm", "f32[256,256]; f32[256,256]", {"R", "R"});
  // The slice is free. What is left reads a quarter of one matrix and all of the other, and writes
  // a quarter, at 500 bytes a us; its 2 x 64 x 256 x 256 flops take 8 us.
  EXPECT_EQ(format_rule(decision->rules[0]), "S(0) | S(0), R");
  EXPECT_NEAR(decision->compute_us, 4.0 * (64 + 256 + 64) * 256 / 500, 1e-6);
  EXPECT_NEAR(decision->cost_us, decision->compute_us + decision->redistribution_us(), 1e-9);
  // Without it nothing is worth doing.
  SelectCase c =
      make_case(four.registry, "mm", "f32[256,256]; f32[256,256]", four.mesh, {"R", "R"});
  const auto idle = *four.selector.select(c.request());
  EXPECT_EQ(format_rule(idle->rules[0]), "R | R, R");
  EXPECT_EQ(idle->compute_us, 0);
}

TEST(Compute, TheRankThatTakesLongestCounts) {
  Computing four("a=4");
  // 10 over 4: three elements, three, three, one. Twice 3 x 4 bytes at 500 bytes a us are less than
  // a launch; 4,000 are not.
  EXPECT_EQ(four.ask("relu", "f32[10]", {"S(0)"})->compute_us, 0.25);
  const auto decision = four.ask("relu", "f32[3998]", {"S(0)"});
  EXPECT_EQ(format_layout(decision->inputs[0], four.mesh), "S(0)");
  EXPECT_NEAR(decision->compute_us, 2.0 * 4 * 1000 / 500, 1e-6);
}

TEST(Compute, ViewsTakeNoTime) {
  Computing two("a=2");
  const auto decision = two.ask("t", "f32[512,512]", {"R"});
  EXPECT_EQ(decision->compute_us, 0);
  EXPECT_EQ(format_rule(decision->rules[0]), "R | R");
}

TEST(Compute, TensorsThatAreOnlyWrittenAreNotRead) {
  Computing two("a=2");
  const double plain_us = two.ask("neg", "f64[1000]", {"R"}, Policy::kAny)->compute_us;
  EXPECT_GT(plain_us, 0.25);
  EXPECT_EQ(two.ask("neg.out", "f64[1000]; f64[1000]", {"S(0)", "S(0)"})->compute_us, plain_us);
  EXPECT_EQ(two.ask("neg_", "f64[1000]", {"S(0)"})->compute_us, plain_us);
}

TEST(Compute, RooflinesGoWithTheirModels) {
  const Cluster h100 = *load_cluster("h100");
  const double flops = 3e12, bytes = 5e9;
  EXPECT_EQ(Roofline::of_model(h100, "autoparallel-h100").us(flops, bytes, DType::kBF16),
            autoparallel_roofline_us(flops, bytes, DType::kBF16));
  for (const char* model : {"", "nccl", "alpha-beta"}) {
    EXPECT_EQ(Roofline::of_model(h100, model).us(flops, bytes, DType::kBF16),
              roofline_us(h100.compute, flops, bytes, DType::kBF16));
  }
  EXPECT_NE(autoparallel_roofline_us(0, bytes, DType::kBF16),
            roofline_us(h100.compute, 0, bytes, DType::kBF16));
}

TEST(Compute, NeedsARoofline) {
  const Mesh mesh = *Mesh::parse("a=2");
  Planner planner(test_model("a=2"));
  Selector selector(shipped_registry(), planner);
  SelectCase c = make_case(shipped_registry(), "relu", "f32[8]", mesh, {"R"});
  EXPECT_TRUE(selector.select(c.request()).ok());
  c.options.with_compute = true;
  EXPECT_EQ(selector.select(c.request()).status().message(),
            "relu: compute is to count, but no roofline is given");
}

TEST(Compute, FaultsOfAPacksCostAreTold) {
  Computing two("a=2", joint_registry());
  SelectCase c = make_case(two.registry, "joint.unpriced", "f64[12]", two.mesh, {"R"});
  EXPECT_TRUE(two.selector.select(c.request()).ok());
  c.options.with_compute = true;
  const Status status = two.selector.select(c.request()).status();
  EXPECT_NE(message_of(status).find("joint.unpriced"), std::string_view::npos) << status;
  EXPECT_NE(message_of(status).find("no idea what this takes"), std::string_view::npos) << status;
}

// Ranks of a strided shard may have lengths that those of a plain one never have: the chunk that is
// cut last is shorter than the others. Every rank is asked here.
TEST(Compute, NoRankOfAStridedShardIsMissed) {
  ClusterCompute compute = small_machine();
  compute.peak_tflops.fill(1.0 / (1 << 20));
  int64_t differs = 0;
  for (const char* text : {"a=5", "a=3,b=2"}) {
    const Mesh mesh = *Mesh::parse(text);
    Planner reference(test_model(text)), planner(test_model(text));
    Selector selector(joint_registry(), planner, Selector::kCapacity, Roofline(compute));
    for (int length = 2; length <= 40; ++length) {
      for (int factor = 2; factor <= 5; ++factor) {
        const std::string layout =
            fmt::format("SS(0,{}){}", factor, mesh.ndim() == 1 ? "" : "[b,a],S(0)");
        SelectCase c = make_case(joint_registry(), "joint.jagged", fmt::format("f64[{}]", length),
                                 mesh, {layout});
        c.options.policy = Policy::kAny;
        c.options.forbid_moves = c.options.with_compute = true;
        SCOPED_TRACE(c.text(mesh));
        const RuleChoices choices = c.choices(joint_registry());
        BruteForce brute(*c.op, c.call.call, c.outputs, choices, reference, compute);
        const auto best = brute.best(c.request());
        const auto decision = selector.decide(c.request());
        ASSERT_TRUE(best.has_value());
        ASSERT_TRUE(decision.ok()) << decision.status();
        ASSERT_EQ(std::llround((*decision)->compute_us * 1e6), best->compute_ps);
        differs += best->compute_ps > 0;
      }
    }
  }
  EXPECT_GT(differs, 200);
}

// Nothing is assumed of how a pack's cost goes with the lengths.
TEST(Compute, IsExactForCostsThatNeitherRiseNorFall) {
  PairDraw draw(random_seed());
  ClusterCompute compute = small_machine();
  compute.peak_tflops.fill(1.0 / (1 << 20));
  for (const char* text : {"a=4", "a=2,b=3", "a=3,b=2,c=2"}) {
    const Mesh mesh = *Mesh::parse(text);
    Planner reference(test_model(text)), planner(test_model(text));
    Selector selector(joint_registry(), planner, Selector::kCapacity, Roofline(compute));
    for (int i = 0; i < 200; ++i) {
      SelectCase c = *case_of_sample(*joint_registry().find("joint.jagged"),
                                     fmt::format("f64[{}]", draw.number(1, 60)));
      draw_request(c, joint_registry(), mesh, draw, draw.number(0, 9) == 0);
      c.options.with_compute = true;
      SCOPED_TRACE(c.text(mesh));
      const RuleChoices choices = c.choices(joint_registry());
      BruteForce brute(*c.op, c.call.call, c.outputs, choices, reference, compute);
      const auto best = brute.best(c.request());
      const auto decision = selector.decide(c.request());
      ASSERT_EQ(decision.ok(), best.has_value()) << decision.status();
      if (!best) continue;
      ASSERT_EQ(std::llround((*decision)->cost_us * 1e6), best->cost.ps);
      ASSERT_EQ(std::llround((*decision)->compute_us * 1e6), best->compute_ps);
    }
  }
}

}  // namespace
}  // namespace onedim
