#include "core/redistribute/plan_run.hpp"

#include <gtest/gtest.h>

#include "core/redistribute/planner.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

// (largest value, its index): the better value wins, a tie goes to the lower index.
int32_t best_identity(const onedim_host_t*, void*, const onedim_tensor_t* states) noexcept {
  auto* values = static_cast<float*>(states[0].data);
  auto* indices = static_cast<int64_t*>(states[1].data);
  for (int64_t i = 0; i < states[0].shape[0]; ++i) {
    values[i] = -1e30f;
    indices[i] = INT64_MAX;
  }
  return ONEDIM_OK;
}

int32_t best_combine(const onedim_host_t*, void*, const onedim_tensor_t* into,
                     const onedim_tensor_t* from) noexcept {
  auto* values = static_cast<float*>(into[0].data);
  auto* indices = static_cast<int64_t*>(into[1].data);
  const auto* other_values = static_cast<const float*>(from[0].data);
  const auto* other_indices = static_cast<const int64_t*>(from[1].data);
  for (int64_t i = 0; i < into[0].shape[0]; ++i) {
    const bool better = other_values[i] > values[i] ||
                        (other_values[i] == values[i] && other_indices[i] < indices[i]);
    if (!better) continue;
    values[i] = other_values[i];
    indices[i] = other_indices[i];
  }
  return ONEDIM_OK;
}

PartialKind best_kind() {
  PartialKind kind;
  kind.name = "test.best";
  kind.pack = "test";
  kind.components = {"value", "index"};
  kind.identity_fn = best_identity;
  kind.combine_fn = best_combine;
  return kind;
}

// Rank r holds value (r * 5 + i * 3) % 7 and index 10 r + i of element i.
GroupLocals rank_states(int64_t ranks, int64_t length) {
  GroupLocals locals(2);
  for (int64_t r = 0; r < ranks; ++r) {
    Tensor values = Tensor::zeros(DType::kF32, {length}),
           indices = Tensor::zeros(DType::kI64, {length});
    for (int64_t i = 0; i < length; ++i) {
      store_real(DType::kF32, values.element(i), static_cast<double>((r * 5 + i * 3) % 7));
      store_integer(DType::kI64, indices.element(i), 10 * r + i);
    }
    locals[0].push_back(values);
    locals[1].push_back(indices);
  }
  return locals;
}

struct Best {
  double value = -1;
  int64_t index = 0;
};

Best best_of(int64_t ranks, int64_t i) {
  Best best;
  for (int64_t r = 0; r < ranks; ++r) {
    const auto value = static_cast<double>((r * 5 + i * 3) % 7);
    if (value > best.value) best = {value, 10 * r + i};
  }
  return best;
}

void expect_best(std::string_view to, int64_t first_of_rank) {
  constexpr int64_t kLength = 5;
  Planner planner(test_model("a=4"));
  const PartialKind kind = best_kind();
  const std::vector<TensorMeta> group = {TensorMeta::contiguous(DType::kF32, {kLength}),
                                         TensorMeta::contiguous(DType::kI64, {kLength})};
  PlanOptions any;
  any.policy = Policy::kAny;
  const Layout from = *parse_layout("P(test.best)", planner.mesh(), 1);
  const Plan plan = **planner.plan(group, from, *parse_layout(to, planner.mesh(), 1), any);
  RunSetting setting{
      planner.mesh(), {{kLength}, {kLength}}, [&](std::string_view) { return &kind; }};
  const Result<GroupLocals> result = run_plan(plan, setting, rank_states(4, kLength));
  ASSERT_TRUE(result.ok()) << result.status();
  for (int64_t r = 0; r < 4; ++r) {
    const Tensor &values = (*result)[0][r], &indices = (*result)[1][r];
    for (int64_t i = 0; i < values.element_count(); ++i) {
      const Best best = best_of(4, r * first_of_rank + i);
      EXPECT_EQ(load_real(DType::kF32, values.element(i)), best.value);
      EXPECT_EQ(load_integer(DType::kI64, indices.element(i)), best.index);
    }
  }
}

TEST(PlanRun, PackKindsMergeByTheirOwnCombine) {
  expect_best("R", 0);
  expect_best("S(0)", 2);
}

TEST(PlanRun, PackKindsHaveAnIdentity) {
  Planner planner(test_model("a=2"));
  const PartialKind kind = best_kind();
  const std::vector<TensorMeta> group = {TensorMeta::contiguous(DType::kF32, {1}),
                                         TensorMeta::contiguous(DType::kI64, {1})};
  const Layout to = *parse_layout("P(test.best)", planner.mesh(), 1);
  const Plan plan = **planner.plan(group, Layout::replicated(1), to);
  RunSetting setting{planner.mesh(), {{1}, {1}}, [&](std::string_view) { return &kind; }};
  const Result<GroupLocals> result = run_plan(plan, setting, rank_states(2, 1));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(load_integer(DType::kI64, (*result)[1][0].element(0)), 0);
  EXPECT_EQ(load_integer(DType::kI64, (*result)[1][1].element(0)), INT64_MAX);
}

TEST(PlanRun, UnknownKindsAreNamed) {
  Planner planner(test_model("a=2"));
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {2});
  const Layout from = *parse_layout("P(test.best)", planner.mesh(), 1);
  const Plan plan = **planner.plan(meta, from, Layout::replicated(1));
  RunSetting setting{planner.mesh(), {{2}}, {}};
  GroupLocals locals = {{Tensor::zeros(DType::kF32, {2}), Tensor::zeros(DType::kF32, {2})}};
  EXPECT_EQ(message_of(run_plan(plan, setting, locals).status()),
            "partial kind test.best is not known");
}

}  // namespace
}  // namespace onedim
