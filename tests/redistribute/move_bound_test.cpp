// Bounds against exact costs: from the source no layout costs less than its bound, and from no
// state is less to be paid than its rest says.
#include "core/redistribute/move_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/layout/layout_check.hpp"
#include "core/redistribute/planner.hpp"
#include "core/redistribute/rest_bound.hpp"
#include "tests/random_seed.hpp"
#include "tests/redistribute/random_pairs.hpp"
#include "tests/redistribute/test_model.hpp"

namespace onedim {
namespace {

constexpr double kRounding = 1e-4;  // us: each step is rounded to a picosecond

// Few bytes cost as much as a step, so that bytes matter as much as steps.
std::shared_ptr<const CostModel> slow_links(const Mesh& mesh) {
  return std::make_shared<AlphaBetaModel>(mesh, AlphaBetaModel::Link{1, 64},
                                          AlphaBetaModel::Link{2, 16});
}

std::shared_ptr<const CostModel> draw_model(const Mesh& mesh, PairDraw& draw) {
  switch (draw.number(0, 2)) {
    case 0:
      return test_model(mesh.format());
    case 1:
      return slow_links(mesh);
    default:
      return std::make_shared<WideModel>(mesh, AlphaBetaModel::Link{1, 64},
                                         AlphaBetaModel::Link{2, 16});
  }
}

struct Parts {
  uint32_t kept = 0, cut = 0;
};

// What the placements of `layout` ask for.
Parts asked_parts(const MoveBound& bound, const Layout& layout) {
  Parts parts;
  for (int i = 0; i < bound.ndim(); ++i) {
    const auto part = bound.part_of(i, layout.placements[bound.mesh_dim(i)]);
    if (part == MoveBound::Part::kKept) parts.kept |= uint32_t{1} << i;
    if (part == MoveBound::Part::kCut) parts.cut |= uint32_t{1} << i;
  }
  return parts;
}

struct Scene {
  Mesh mesh;
  TensorMeta meta;
  std::vector<std::string> kinds;
  Layout source;
  std::shared_ptr<const CostModel> model;
  PlanOptions options;

  std::string text() const {
    return fmt::format("{}@{} on {}, policy {}, seed {}", format_meta(meta),
                       format_layout(source, mesh), mesh.format(), policy_name(options.policy),
                       random_seed());
  }
};

std::vector<std::string> kinds_with(const Layout& source, PairDraw& draw) {
  std::vector<std::string> kinds = partial_kinds(source, source);
  for (const char* more : {"sum", "avg", "max"}) {
    if (draw.number(0, 2) == 0 && std::count(kinds.begin(), kinds.end(), more) == 0)
      kinds.emplace_back(more);
  }
  return kinds;
}

std::optional<Scene> draw_scene(PairDraw& draw) {
  const Mesh mesh = draw.mesh(1, 3);
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, draw.shape(1, 2, 24));
  const int ndim = static_cast<int>(meta.shape.size());
  Layout source = draw.layout(mesh, ndim, meta.dtype, false);
  for (int d = 0; d < mesh.ndim(); ++d) {
    if (mesh.size(d) == 1) source.placements[d] = Placement::replicate();
  }
  source = drop_unit_mesh_dims(source, mesh);
  PlanOptions options;
  options.policy = draw.number(0, 1) == 0 ? Policy::kEven : Policy::kNonempty;
  if (!check_policy(meta, source, mesh, options.policy).ok()) return std::nullopt;
  std::vector<std::string> kinds = kinds_with(source, draw);
  return Scene{mesh, meta, std::move(kinds), std::move(source), draw_model(mesh, draw), options};
}

class BoundCheck {
 public:
  explicit BoundCheck(const Scene& scene)
      : scene_(scene), planner_(scene.model), table_(*planner_.table(ndim(), scene.kinds)) {
    moves_.start(*scene.model, scene.meta.bytes(), scene.source);
  }
  int size() const { return table_.size(); }

  std::vector<double> costs_from(const Layout& layout) {
    std::vector<double> costs(table_.size());
    const Status status =
        planner_.costs_to_all(std::span(&scene_.meta, 1), layout, table_, scene_.options, costs);
    EXPECT_TRUE(status.ok()) << status;
    return costs;
  }

  void expect_bounds_from_source() {
    const std::vector<double> costs = costs_from(scene_.source);
    for (int to = 0; to < table_.size(); ++to) {
      const Parts parts = asked_parts(moves_, table_.layout(to));
      ASSERT_LE(static_cast<double>(moves_.least_ps(parts.kept, parts.cut)) / 1e6,
                costs[to] + kRounding)
          << scene_.text() << " -> " << format_layout(table_.layout(to), scene_.mesh);
    }
  }

  // Layouts end at prices drawn by their parts, so a kept cut in another place of the order may end
  // at another price than the source's own.
  void expect_rest_from_everywhere(PairDraw& draw) {
    std::vector<int64_t> ends(moves_.table_size(), kImpossible);
    moves_.for_each_state([&](uint32_t kept, uint32_t cut) {
      if (draw.number(0, 2) == 0) ends[moves_.index(kept, cut)] = draw.number(0, 30) * 1000000;
    });
    const Result<Alphabet> alphabet = Alphabet::create(scene_.mesh, ndim(), sorted_kinds(), {});
    ASSERT_TRUE(alphabet.ok());
    const std::vector<Dims> orders = draw_orders(draw);
    const RestBound zero = rest_of(std::vector<int64_t>(moves_.table_size(), 0), *alphabet, orders);
    const RestBound rest = rest_of(ends, *alphabet, orders);
    for (int from = 0; from < table_.size(); ++from) {
      const Layout state = table_.layout(from);
      if (!check_policy(scene_.meta, state, scene_.mesh, scene_.options.policy).ok()) continue;
      if (is_cut_in(orders, state)) {
        ASSERT_EQ(zero.floor_ps(*alphabet->encode(state)), 0);
      }
      const std::vector<double> costs = costs_from(state);
      double least = static_cast<double>(kImpossible) / 1e6;
      for (int to = 0; to < table_.size(); ++to) {
        if (!is_cut_in(orders, table_.layout(to))) continue;
        const int64_t end = ends[index_of_state(table_.layout(to))];
        least = std::min(least, costs[to] + static_cast<double>(end) / 1e6);
      }
      ASSERT_LE(static_cast<double>(rest.floor_ps(*alphabet->encode(state))) / 1e6,
                least + kRounding)
          << scene_.text() << " at " << format_layout(state, scene_.mesh);
    }
  }

 private:
  int ndim() const { return static_cast<int>(scene_.meta.shape.size()); }
  std::vector<std::string> sorted_kinds() const {
    std::vector<std::string> kinds = scene_.kinds;
    std::sort(kinds.begin(), kinds.end());
    return kinds;
  }
  RestBound rest_of(const std::vector<int64_t>& ends, const Alphabet& alphabet,
                    std::span<const Dims> orders) {
    RestBound rest;
    rest.start(moves_, ends, alphabet, *alphabet.encode(scene_.source), true, orders);
    return rest;
  }
  // Of the mesh dims of more than one rank: the source's, and one drawn.
  std::vector<Dims> draw_orders(PairDraw& draw) const {
    Dims order;
    for (const int64_t mesh_dim : scene_.source.cutting_order()) {
      if (scene_.mesh.size(static_cast<int>(mesh_dim)) > 1) order.push_back(mesh_dim);
    }
    std::vector<Dims> orders{order};
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(draw.number(0, static_cast<int>(i) - 1))]);
    orders.push_back(order);
    return orders;
  }
  bool is_cut_in(std::span<const Dims> orders, const Layout& layout) const {
    return std::any_of(orders.begin(), orders.end(), [&](const Dims& order) {
      for (int dim = 0; dim < ndim(); ++dim) {
        const Dims cuts = layout.shard_order(dim);
        auto next = cuts.begin();
        for (const int64_t mesh_dim : order) {
          if (next != cuts.end() && *next == mesh_dim) ++next;
        }
        if (next != cuts.end()) return false;
      }
      return true;
    });
  }
  // A cut is kept only behind the cuts that the source has before it.
  size_t index_of_state(const Layout& layout) const {
    Parts parts = asked_parts(moves_, layout);
    for (int dim = 0; dim < ndim(); ++dim) {
      const Dims now = layout.shard_order(dim), before = scene_.source.shard_order(dim);
      size_t same = 0;
      while (same < now.size() && same < before.size() && now[same] == before[same]) ++same;
      for (size_t at = same; at < now.size(); ++at) {
        for (int i = 0; i < moves_.ndim(); ++i) {
          if (moves_.mesh_dim(i) != now[at]) continue;
          parts.kept &= ~(uint32_t{1} << i);
          parts.cut |= uint32_t{1} << i;
        }
      }
    }
    return moves_.index(parts.kept, parts.cut);
  }

  const Scene& scene_;
  Planner planner_;
  LayoutTable table_;
  MoveBound moves_;
};

TEST(MoveBound, IsNeverAboveTheCost) {
  PairDraw draw(random_seed());
  int scenes = 0, layouts = 0;
  while (scenes < 3000) {
    const std::optional<Scene> scene = draw_scene(draw);
    if (!scene) continue;
    BoundCheck check(*scene);
    ++scenes;
    layouts += check.size();
    ASSERT_NO_FATAL_FAILURE(check.expect_bounds_from_source());
  }
  EXPECT_GT(layouts, 30000);
}

TEST(RestBound, IsNeverAboveWhatIsToBePaid) {
  PairDraw draw(random_seed());
  int scenes = 0;
  while (scenes < 600) {
    const std::optional<Scene> scene = draw_scene(draw);
    if (!scene) continue;
    BoundCheck check(*scene);
    if (check.size() > 400) continue;
    ++scenes;
    ASSERT_NO_FATAL_FAILURE(check.expect_rest_from_everywhere(draw));
  }
}

// One mesh dim: the bound is the collective's price where no kernel copies.
TEST(MoveBound, IsTheCollectiveOnOneMeshDim) {
  const auto model = test_model("x=4");
  const TensorMeta meta = TensorMeta::contiguous(DType::kF32, {8, 8});
  MoveBound bound;
  bound.start(*model, meta.bytes(), Layout{{Placement::make_partial("sum")}, {}});
  const auto ps = [&](Collective kind) { return to_ps(model->collective_us(kind, 1, 256)); };
  EXPECT_EQ(bound.least_ps(1, 0), 0);
  EXPECT_EQ(bound.least_ps(0, 0), ps(Collective::kAllReduce));
  EXPECT_EQ(bound.least_ps(0, 1), ps(Collective::kReduceScatter));
  bound.start(*model, meta.bytes(), Layout{{Placement::shard(0)}, {}});
  EXPECT_EQ(bound.least_ps(0, 0), ps(Collective::kAllGather));
  EXPECT_EQ(bound.least_ps(1, 0), 0);
  bound.start(*model, 0, Layout{{Placement::shard(0)}, {}});
  EXPECT_EQ(bound.least_ps(0, 0), 0);
}

}  // namespace
}  // namespace onedim
