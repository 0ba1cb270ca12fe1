#include "core/redistribute/plan_check.hpp"

#include <gtest/gtest.h>

#include "core/redistribute/planner.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

// Uneven sizes, strided and ordered shards, all partial kinds, on meshes of one to three dims.
TEST(PlanCheck, RandomPlansAreExact) {
  const uint64_t seed = random_seed();
  PairDraw draw(seed);
  int planned = 0, steps = 0;
  for (int round = 0; planned < 5000; ++round) {
    ASSERT_LT(round, 50000);
    const Mesh mesh = draw.mesh(1, 3);
    const DType dtype = draw.dtype();
    const TensorMeta meta = TensorMeta::contiguous(dtype, draw.shape(0, 3, 13));
    const int ndim = static_cast<int>(meta.shape.size());
    const Layout from = draw.layout(mesh, ndim, dtype, true);
    const Layout to = draw.layout(mesh, ndim, dtype, true);
    Planner planner(std::make_shared<AlphaBetaModel>(mesh));
    PlanOptions options;
    options.policy = draw.number(0, 1) == 0 ? Policy::kAny : Policy::kNonempty;
    options.allow_shard_to_partial = draw.number(0, 3) == 0;
    const auto plan = planner.plan(meta, from, to, options);
    const std::string text =
        fmt::format("{}@{} -> {} on {}, seed {}", format_meta(meta), format_layout(from, mesh),
                    format_layout(to, mesh), mesh.format(), seed);
    if (!plan.ok()) {
      ASSERT_TRUE(absl::IsInvalidArgument(plan.status())) << text << "\n" << plan.status();
      continue;
    }
    ++planned;
    steps += static_cast<int>((*plan)->steps.size());
    const Status status = check_plan(**plan, {&meta, 1}, mesh, draw.random()());
    ASSERT_TRUE(status.ok()) << text << "\n" << status << "\n" << format_plan(**plan, mesh);
    ASSERT_GE((*plan)->bytes, (*plan)->lower_bound_bytes) << text << "\n"
                                                          << format_plan(**plan, mesh);
  }
  EXPECT_GT(steps, planned) << "most plans move something";
}

// A group of tensors of different ranks moves together.
TEST(PlanCheck, Groups) {
  Planner planner(test_model("a=2,b=3"));
  const Mesh& mesh = planner.mesh();
  const std::vector<TensorMeta> group = {*parse_meta("f32[7,5,2]"), *parse_meta("i64[7,4]")};
  const Layout from = *parse_layout("S(0),S(0)", mesh, 2), to = *parse_layout("S(1),R", mesh, 2);
  const Plan plan = **planner.plan(group, from, to);
  EXPECT_TRUE(check_plan(plan, group, mesh, 1).ok());
}

Plan shown(std::string_view from, std::string_view to) {
  Planner planner(test_model("a=2,b=2"));
  const TensorMeta meta = *parse_meta("f32[4,6]");
  return **planner.plan(meta, *parse_layout(from, planner.mesh(), 2),
                        *parse_layout(to, planner.mesh(), 2));
}

Status check(const Plan& plan) {
  const TensorMeta meta = *parse_meta("f32[4,6]");
  return check_plan(plan, {&meta, 1}, *Mesh::parse("a=2,b=2"), 3);
}

// The checker must see a plan that does not do what it says.
TEST(PlanCheck, WrongPlansAreCaught) {
  Plan short_group = shown("S(0),S(0)", "R,R");
  ASSERT_EQ(short_group.steps.size(), 1u);
  short_group.steps[0].mesh_dims = 1;
  EXPECT_EQ(message_of(check(short_group)),
            "step all_gather over a S(0),S(0) -> R,R at coordinate [0,0]: the group holds 12 "
            "elements of a "
            "part of 24");
  Plan no_reduction = shown("P(sum),R", "R,R");
  no_reduction.steps[0].kind = StepKind::kAlias;
  EXPECT_FALSE(check(no_reduction).ok());
  Plan missing_step = shown("P(sum),R", "S(0),S(1)");
  missing_step.steps.pop_back();
  EXPECT_FALSE(check(missing_step).ok());
  Plan not_scaled = shown("P(sum),R", "P(avg),R");
  not_scaled.steps[0].kind = StepKind::kAlias;
  EXPECT_FALSE(check(not_scaled).ok());
  Plan not_masked = shown("R,R", "P(sum),R");
  not_masked.steps[0].kind = StepKind::kAlias;
  EXPECT_FALSE(check(not_masked).ok());
  Plan other_order = shown("S(0)[b,a],S(0)", "R,R");
  other_order.steps[0].from = shown("S(0),S(0)", "R,R").from;
  EXPECT_FALSE(check(other_order).ok());
}

// A pack's kind: two tensors that add up, of which one is longer.
void for_each_element(const onedim_tensor_t* states, const auto& visit) {
  for (int component = 0; component < 2; ++component) {
    int64_t count = 1;
    for (int32_t dim = 0; dim < states[component].ndim; ++dim)
      count *= states[component].shape[dim];
    for (int64_t i = 0; i < count; ++i)
      visit(component, i, static_cast<double*>(states[component].data)[i]);
  }
}

PartialKind adding_kind() {
  PartialKind kind;
  kind.name = kind.pack = "test.adding";
  kind.components = {"long", "short"};
  kind.output_count = 2;
  kind.identity_fn = [](const onedim_host_t*, void*, const onedim_tensor_t* states) noexcept {
    for_each_element(states, [](int, int64_t, double& value) { value = 0; });
    return int32_t{ONEDIM_OK};
  };
  kind.combine_fn = [](const onedim_host_t*, void*, const onedim_tensor_t* into,
                       const onedim_tensor_t* from) noexcept {
    for_each_element(into, [&](int component, int64_t i, double& value) {
      value += static_cast<const double*>(from[component].data)[i];
    });
    return int32_t{ONEDIM_OK};
  };
  return kind;
}

TEST(PlanCheck, JointPartialsMoveWithTheirWholeState) {
  Planner planner(test_model("a=2,b=3"));
  const Mesh& mesh = planner.mesh();
  const PartialKind kind = adding_kind();
  const auto kinds = [&](std::string_view name) { return name == kind.name ? &kind : nullptr; };
  const std::vector<TensorMeta> group = {*parse_meta("f64[7,4]"), *parse_meta("f64[7]")};
  const auto planned = [&](std::string_view from, std::string_view to) {
    return **planner.plan(group, *parse_layout(from, mesh, 1), *parse_layout(to, mesh, 1));
  };
  for (const auto& [from, to] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"P(test.adding),R", "R,S(0)"},
           {"P(test.adding),P(test.adding)", "R,P(test.adding)"},
           {"S(0),P(test.adding)", "R,R"},
           {"R,R", "P(test.adding),S(0)"}}) {
    const Status status = check_plan(planned(from, to), group, mesh, 1, kinds);
    EXPECT_TRUE(status.ok()) << from << " -> " << to << ": " << status;
  }
  Plan not_merged = planned("P(test.adding),R", "R,R");
  ASSERT_EQ(not_merged.steps.size(), 1u);
  not_merged.steps[0].kind = StepKind::kAlias;
  EXPECT_TRUE(absl::IsInternal(check_plan(not_merged, group, mesh, 1, kinds)));
  Plan kept_twice = planned("R,R", "P(test.adding),R");
  kept_twice.steps[0].kind = StepKind::kAlias;
  EXPECT_TRUE(absl::IsInternal(check_plan(kept_twice, group, mesh, 1, kinds)));
  const Status alone =
      check_plan(planned("P(test.adding),R", "R,R"), {&group[0], 1}, mesh, 1, kinds);
  EXPECT_EQ(message_of(alone), "a state of test.adding has 2 tensors, but 1 move");
}

TEST(PlanCheck, RefusesWhatItCannotDraw) {
  Planner planner(test_model("a=2,b=2"));
  const TensorMeta meta = *parse_meta("f32[4,6]");
  const Layout from = *parse_layout("P(pack.kind),R", planner.mesh(), 2);
  const Plan plan = **planner.plan(meta, from, Layout::replicated(2));
  EXPECT_EQ(message_of(check_plan(plan, {&meta, 1}, planner.mesh(), 1)),
            "a check of P(pack.kind#0): only built-in partial kinds are drawn");
  const TensorMeta large = *parse_meta("f32[65536,65536]");
  EXPECT_TRUE(absl::IsInvalidArgument(check_plan(plan, {&large, 1}, planner.mesh(), 1)));
}

}  // namespace
}  // namespace onedim
