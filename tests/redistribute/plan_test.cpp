#include "core/redistribute/plan.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/redistribute/planner.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

Plan example(std::string_view to = "R,S(1)") {
  Planner planner(test_model("a=2,b=3"));
  const TensorMeta meta = *parse_meta("f32[10,7]");
  return **planner.plan(meta, *parse_layout("S(0),R", planner.mesh(), 2),
                        *parse_layout(to, planner.mesh(), 2));
}

const Mesh& mesh() {
  static const Mesh mesh = *Mesh::parse("a=2,b=3");
  return mesh;
}

TEST(Plan, Text) {
  EXPECT_EQ(
      format_plan(example(), mesh()),
      "slice over b: S(0),R -> S(0),S(1), 0 bytes, 0.500 us\n"
      "all_gather over a: S(0),S(1) -> R,S(1), 60 bytes, 12.503 us\n"
      "13.003 us, 60 bytes received at most (lower bound 60, ratio 1), peak 200 bytes a rank\n");
}

TEST(Plan, Json) {
  const nlohmann::ordered_json json = plan_to_json(example(), mesh());
  ASSERT_EQ(json["steps"].size(), 2u);
  EXPECT_EQ(json["steps"][1]["kind"], "all_gather");
  EXPECT_EQ(json["steps"][1]["mesh_dims"], nlohmann::ordered_json::array({"a"}));
  EXPECT_EQ(json["steps"][1]["tensor_dims"], nlohmann::ordered_json::array({0}));
  EXPECT_EQ(json["steps"][1]["to"], "R,S(1)");
  EXPECT_EQ(json["bytes"], 60);
  EXPECT_EQ(json["lower_bound_bytes"], 60);
  EXPECT_EQ(json["cost_us"], example().cost_us);
}

TEST(Plan, FingerprintsTellStepsApart) {
  EXPECT_EQ(plan_fingerprint(example(), mesh()), plan_fingerprint(example(), mesh()));
  EXPECT_NE(plan_fingerprint(example(), mesh()), plan_fingerprint(example("R,S(0)"), mesh()));
  Plan dearer = example();
  dearer.steps[0].us += 1;
  EXPECT_EQ(plan_fingerprint(dearer, mesh()), plan_fingerprint(example(), mesh()));
}

TEST(Plan, ChangedTensorDims) {
  const Plan plan = example("S(1),R");
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_EQ(changed_tensor_dims(plan.steps[0]), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace onedim
