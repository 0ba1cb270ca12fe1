// The planner against Bellman-Ford over the stated state space (brute_planner.hpp).
#include <gtest/gtest.h>

#include <cmath>

#include "core/redistribute/plan_check.hpp"
#include "core/redistribute/planner.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/brute_planner.hpp"
#include "tests/redistribute/random_pairs.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

constexpr double kRounding = 1e-5;  // us: steps are priced in whole picoseconds

// Few bytes cost as much as a step, so that steps that save bytes pay.
std::shared_ptr<AlphaBetaModel> slow_links(const Mesh& mesh) {
  return std::make_shared<AlphaBetaModel>(mesh, AlphaBetaModel::Link{1, 64},
                                          AlphaBetaModel::Link{2, 16});
}

struct Truth {
  std::shared_ptr<const CostModel> model;
  TensorMeta meta;
  std::vector<std::string> kinds;
  PlanOptions options;
  std::vector<Layout> given;

  BrutePlanner brute() const {
    BruteRules rules;
    rules.even = options.policy == Policy::kEven;
    rules.nonempty = options.policy == Policy::kNonempty;
    rules.shard_to_partial = options.allow_shard_to_partial;
    rules.memory_bytes = options.memory_bytes;
    for (const int outermost : {options.from_outermost, options.to_outermost}) {
      if (std::count(rules.outermosts.begin(), rules.outermosts.end(), outermost) == 0)
        rules.outermosts.push_back(outermost);
    }
    return BrutePlanner(*model, meta, kinds, given, rules);
  }
  std::string text(const Layout& from, const Layout& to) const {
    const Mesh& mesh = model->mesh();
    return fmt::format("{}@{} -> {} on {}, policy {}, memory {}{}, outermost {} -> {}, seed {}",
                       format_meta(meta), format_layout(from, mesh), format_layout(to, mesh),
                       mesh.format(), policy_name(options.policy), options.memory_bytes,
                       options.allow_shard_to_partial ? ", S -> P" : "", options.from_outermost,
                       options.to_outermost, random_seed());
  }
};

// Whether the pair's own state space is the brute planner's: it has all of its kinds and strides.
bool spans_all_kinds(const Truth& truth, const Layout& from, const Layout& to) {
  for (const std::string& kind : truth.kinds) {
    bool found = false;
    for (const Layout* layout : {&from, &to}) {
      for (const Placement& p : layout->placements) found |= p.is_partial(kind);
    }
    if (!found) return false;
  }
  return true;
}

Layout without_unit_dims(Layout layout, const Mesh& mesh, const Dims& shape) {
  layout = drop_unit_dims(layout, mesh, shape);
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh.size(d) == 1) layout.placements[d] = Placement::replicate();
  }
  return layout;
}

void expect_equal(const Truth& truth, Planner& planner, const Layout& from, const Layout& to,
                  double expected) {
  const auto plan = planner.plan(truth.meta, from, to, truth.options);
  if (std::isinf(expected)) {
    EXPECT_FALSE(plan.ok()) << truth.text(from, to);
    return;
  }
  ASSERT_TRUE(plan.ok()) << truth.text(from, to) << "\n" << plan.status();
  ASSERT_NEAR((*plan)->cost_us, expected, kRounding) << truth.text(from, to) << "\n"
                                                     << format_plan(**plan, truth.model->mesh());
}

// Every pair of layouts, with the kinds of each pair alone as its state space; how many.
void expect_all_pairs(const std::string& mesh, Dims shape, const PlanOptions& options, int& count) {
  const std::vector<std::vector<std::string>> kind_sets = {{}, {"sum"}, {"max"}, {"avg", "sum"}};
  for (const std::vector<std::string>& kinds : kind_sets) {
    const Truth truth{
        test_model(mesh), TensorMeta::contiguous(DType::kF32, shape), kinds, options, {}};
    const BrutePlanner brute = truth.brute();
    Planner planner(truth.model);
    for (int from = 0; from < static_cast<int>(brute.layouts().size()); ++from) {
      const std::vector<double> costs = brute.costs_from(from);
      for (int to = 0; to < static_cast<int>(costs.size()); ++to) {
        const Layout &a = brute.layouts()[from], &b = brute.layouts()[to];
        if (!spans_all_kinds(truth, a, b)) continue;
        ++count;
        ASSERT_NO_FATAL_FAILURE(expect_equal(truth, planner, a, b, costs[to]));
      }
    }
  }
}

TEST(PlannerTruth, AllPairsOnTwoDims) {
  PlanOptions any, nonempty, even, to_partial;
  any.policy = Policy::kAny;
  even.policy = Policy::kEven;
  to_partial.allow_shard_to_partial = true;
  int count = 0;
  for (const char* mesh : {"a=2,b=3", "a=4,b=2", "a=1,b=3"}) {
    for (const Dims& shape : {Dims{13}, Dims{48}, Dims{3}, Dims{24, 12}, Dims{7, 10}, Dims{1, 9}}) {
      for (const PlanOptions& options : {any, nonempty, even, to_partial})
        ASSERT_NO_FATAL_FAILURE(expect_all_pairs(mesh, shape, options, count));
    }
  }
  EXPECT_GT(count, 20000);
}

TEST(PlannerTruth, BigTensorsAllPairs) {
  int count = 0;
  ASSERT_NO_FATAL_FAILURE(expect_all_pairs("a=2,b=4", {512, 768}, {}, count));
  EXPECT_GT(count, 500);
}

TEST(PlannerTruth, RandomPairsOnThreeDims) {
  constexpr int kPairs = 20000, kPairsPerMesh = 200;
  PairDraw draw(random_seed());
  for (int pair = 0; pair < kPairs;) {
    const Mesh mesh = draw.mesh(3, 3);
    if (mesh.rank_count() == 1) continue;  // which has one layout
    Truth truth;
    truth.model =
        draw.number(0, 1) == 0 ? std::make_shared<AlphaBetaModel>(mesh) : slow_links(mesh);
    truth.meta = TensorMeta::contiguous(DType::kF32, draw.shape(1, 3, 16));
    if (draw.number(0, 2) > 0) truth.kinds = {draw.partial_kind(DType::kF32)};
    truth.options.policy = draw.number(0, 2) == 0 ? Policy::kAny : Policy::kNonempty;
    truth.options.allow_shard_to_partial = draw.number(0, 3) == 0;
    if (draw.number(0, 2) == 0) truth.options.memory_bytes = truth.meta.bytes() * 2;
    const BrutePlanner brute = truth.brute();
    Planner planner(truth.model);
    const auto count = static_cast<int64_t>(brute.layouts().size());
    for (const int end = pair + kPairsPerMesh; pair < end;) {
      const auto from = static_cast<int>(draw.number(0, count - 1));
      const std::vector<double> costs = brute.costs_from(from);
      for (int i = 0; i < 10; ++i) {
        const auto to = static_cast<int>(draw.number(0, count - 1));
        const Layout &a = brute.layouts()[from], &b = brute.layouts()[to];
        if (!spans_all_kinds(truth, a, b)) continue;
        ++pair;
        ASSERT_NO_FATAL_FAILURE(expect_equal(truth, planner, a, b, costs[to]));
      }
    }
  }
}

TEST(PlannerTruth, StridedPairs) {
  PairDraw draw(random_seed());
  int count = 0;
  for (int round = 0; round < 3000; ++round) {
    const Mesh mesh = draw.mesh(1, 2);
    Truth truth;
    truth.model = std::make_shared<AlphaBetaModel>(mesh);
    truth.meta = TensorMeta::contiguous(DType::kF32, draw.shape(1, 2, 16));
    const int ndim = static_cast<int>(truth.meta.shape.size());
    truth.options.policy = draw.number(0, 1) == 0 ? Policy::kAny : Policy::kNonempty;
    const Layout from =
        without_unit_dims(draw.layout(mesh, ndim, DType::kBool, true), mesh, truth.meta.shape);
    const Layout to =
        without_unit_dims(draw.layout(mesh, ndim, DType::kBool, true), mesh, truth.meta.shape);
    for (const char* kind : {"max", "min"}) {
      truth.kinds = {kind};
      if (spans_all_kinds(truth, from, to)) break;
      truth.kinds.clear();
    }
    bool mixes = false;
    for (const Layout* layout : {&from, &to}) {
      for (const Placement& p : layout->placements)
        mixes |= p.is_partial() && (truth.kinds.empty() || p.partial != truth.kinds[0]);
    }
    if (mixes) continue;
    truth.given = {from, to};
    const BrutePlanner brute = truth.brute();
    Planner planner(truth.model);
    const int source = brute.find(from), target = brute.find(to);
    if (!brute.is_allowed(target)) continue;
    ASSERT_NO_FATAL_FAILURE(
        expect_equal(truth, planner, from, to, brute.costs_from(source)[target]));
    ++count;
  }
  EXPECT_GT(count, 300);
}

// The dense search agrees with the searches for pairs.
// A partial that the target wants may be scattered on the way, so that others are reduced over
// less, and come back by a local step.
TEST(PlannerTruth, WantedPartialsMayGoAndComeBack) {
  const std::string mesh = "a=2,b=3,c=2";
  Truth truth{slow_links(*Mesh::parse(mesh)),
              TensorMeta::contiguous(DType::kF64, {4, 2, 5}),
              {"sum"},
              {},
              {}};
  truth.options.policy = Policy::kEven;
  truth.options.allow_shard_to_partial = true;
  const BrutePlanner brute = truth.brute();
  Planner planner(truth.model);
  const Mesh& dims = truth.model->mesh();
  for (const char* text : {"R,S(2),S(2)", "P(sum),P(sum),P(sum)", "S(0),P(sum),R"}) {
    const Layout from = *parse_layout(text, dims, 3);
    const std::vector<double> costs = brute.costs_from(brute.find(from));
    for (int to = 0; to < static_cast<int>(costs.size()); ++to) {
      const Layout& layout = brute.layouts()[to];
      if (!spans_all_kinds(truth, from, layout) || !brute.is_allowed(to)) continue;
      ASSERT_NO_FATAL_FAILURE(expect_equal(truth, planner, from, layout, costs[to]));
    }
  }
}

// Source and target may lie in memory with any dim outermost.
TEST(PlannerTruth, MemoryOrders) {
  PairDraw draw(random_seed());
  int reordered = 0;
  for (int round = 0; round < 120; ++round) {
    const Mesh mesh = draw.mesh(1, 2);
    if (mesh.rank_count() == 1) continue;
    const TensorMeta meta = TensorMeta::contiguous(DType::kF32, draw.shape(1, 3, 12));
    const auto ndim = static_cast<int64_t>(meta.shape.size());
    Truth truth{test_model(mesh.format()), meta, {"sum"}, {}, {}};
    truth.options.policy = draw.number(0, 1) == 0 ? Policy::kAny : Policy::kNonempty;
    truth.options.from_outermost = static_cast<int>(draw.number(0, ndim - 1));
    truth.options.to_outermost = static_cast<int>(draw.number(0, ndim - 1));
    const BrutePlanner brute = truth.brute();
    Planner planner(truth.model);
    const int layouts = static_cast<int>(brute.layouts().size());
    const int orders = static_cast<int>(brute.order_count());
    for (int pair = 0; pair < 60; ++pair) {
      const int from = static_cast<int>(draw.number(0, layouts - 1));
      const std::vector<double> costs =
          brute.costs_from(from * orders + brute.order_of(truth.options.from_outermost));
      const int to = static_cast<int>(draw.number(0, layouts - 1));
      const Layout &a = brute.layouts()[from], &b = brute.layouts()[to];
      if (!spans_all_kinds(truth, a, b)) continue;
      if (from == to && !brute.is_allowed(to)) continue;
      ASSERT_NO_FATAL_FAILURE(expect_equal(
          truth, planner, a, b, costs[to * orders + brute.order_of(truth.options.to_outermost)]));
      const auto plan = planner.plan(meta, a, b, truth.options);
      if (!plan.ok()) continue;
      const Status status = check_plan(**plan, {&meta, 1}, mesh, draw.random()());
      ASSERT_TRUE(status.ok()) << truth.text(a, b) << "\n"
                               << status << "\n"
                               << format_plan(**plan, mesh);
      for (const PlanStep& step : (*plan)->steps) reordered += step.kind == StepKind::kReorder;
    }
  }
  EXPECT_GT(reordered, 0);
}

TEST(PlannerTruth, OneToAllIsThePairsCost) {
  for (const char* mesh : {"a=2,b=3", "a=2,b=2,c=3"}) {
    const Truth truth{
        test_model(mesh), TensorMeta::contiguous(DType::kF32, {12, 18}), {"sum"}, {}, {}};
    const BrutePlanner brute = truth.brute();
    Planner planner(truth.model);
    const LayoutTable table = *planner.table(2, {"sum"});
    ASSERT_EQ(table.size(), static_cast<int>(brute.layouts().size()));
    std::vector<double> costs(table.size());
    for (int source = 0; source < table.size(); source += 3) {
      const Layout from = table.layout(source);
      ASSERT_EQ(table.find(from), source);
      ASSERT_TRUE(planner.costs_to_all({&truth.meta, 1}, from, table, {}, costs).ok());
      const std::vector<double> expected = brute.costs_from(brute.find(from));
      for (int target = 0; target < table.size(); ++target) {
        const double wanted = expected[brute.find(table.layout(target))];
        if (std::isinf(wanted)) {
          EXPECT_TRUE(std::isinf(costs[target]));
        } else {
          EXPECT_NEAR(costs[target], wanted, kRounding);
        }
      }
    }
  }
}

}  // namespace
}  // namespace onedim
