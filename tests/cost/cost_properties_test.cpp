// What must hold for every cost model but the compatible one, on random meshes and sizes.
#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/make_cost_model.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

constexpr int kMeshes = 60;
constexpr int kSizes = 400;
// Curves are exact up to the rounding of sums.
constexpr double kRounding = 1 + 1e-9;

constexpr Collective kAll[] = {Collective::kAllGather, Collective::kReduceScatter,
                               Collective::kAllReduce, Collective::kAllToAll,
                               Collective::kBroadcast};

class Draw {
 public:
  int64_t number(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  // Evenly over octaves, exact powers of two and their neighbours included.
  int64_t bytes(int octaves = 38) {
    const int64_t power = int64_t{1} << number(0, octaves);
    const int64_t choice = number(0, 9);
    if (choice < 3) return std::max<int64_t>(0, power + choice - 1);
    return number(power, 2 * power);
  }
  Mesh mesh(int most_dims) {
    std::vector<std::string> names;
    Dims sizes;
    int64_t ranks = 1;
    for (int64_t i = number(1, most_dims); i > 0; --i) {
      names.push_back(fmt::format("m{}", i));
      constexpr int64_t kDimSizes[] = {1, 2, 2, 3, 4, 5, 8, 8, 16, 32};
      const int64_t size = kDimSizes[number(0, 9)];
      sizes.push_back(ranks * size <= 4096 ? size : 1);
      ranks *= sizes.back();
    }
    return *Mesh::create(std::move(names), std::move(sizes));
  }
  const std::string& one_of(const std::vector<std::string>& texts) {
    return texts[static_cast<size_t>(number(0, static_cast<int64_t>(texts.size()) - 1))];
  }

 private:
  std::mt19937_64 random_{random_seed()};
};

// A random model: any cluster, on a mesh of up to `most_dims`.
std::unique_ptr<const CostModel> random_model(Draw& draw, int most_dims) {
  const Cluster cluster = *load_cluster(draw.one_of(cluster_names()));
  const std::string model = draw.number(0, 2) == 0 ? "alpha-beta" : cluster.model;
  return *make_cost_model(cluster, draw.mesh(most_dims), model);
}

MeshDimSet random_set(Draw& draw, const Mesh& mesh) {
  return static_cast<MeshDimSet>(draw.number(0, (1 << mesh.ndim()) - 1));
}

int64_t ranks_of(const Mesh& mesh, MeshDimSet set) {
  int64_t ranks = 1;
  for (int dim = 0; dim < mesh.ndim(); ++dim) ranks *= (set >> dim & 1) != 0 ? mesh.size(dim) : 1;
  return ranks;
}

TEST(CostProperties, NondecreasingInBytes) {
  Draw draw;
  for (int round = 0; round < kMeshes; ++round) {
    const auto model = random_model(draw, 4);
    for (int i = 0; i < kSizes; ++i) {
      const MeshDimSet set = random_set(draw, model->mesh());
      const Collective collective = kAll[draw.number(0, 4)];
      const int64_t bytes = draw.bytes();
      const int64_t more = draw.number(0, 1) == 0 ? bytes + 1 : bytes + draw.bytes();
      ASSERT_LE(model->collective_us(collective, set, bytes),
                model->collective_us(collective, set, more))
          << collective_name(collective) << ' ' << bytes << " to " << more << " over " << set
          << " of " << model->mesh().format();
      ASSERT_LE(model->copy_us(bytes), model->copy_us(more));
    }
  }
}

// One byte more costs at most what a byte costs on the slowest link of all clusters, steeply
// corrected: there is no jump.
TEST(CostProperties, ContinuousInBytes) {
  Draw draw;
  for (int round = 0; round < kMeshes; ++round) {
    const auto model = random_model(draw, 4);
    for (int i = 0; i < kSizes; ++i) {
      const MeshDimSet set = random_set(draw, model->mesh());
      const Collective collective = kAll[draw.number(0, 4)];
      const int64_t bytes = draw.bytes(30);
      const double at = model->collective_us(collective, set, bytes);
      const double ranks = static_cast<double>(ranks_of(model->mesh(), set));
      ASSERT_LE(model->collective_us(collective, set, bytes + 1) - at, 0.1 * ranks)
          << collective_name(collective) << ' ' << bytes << " over " << set << " of "
          << model->mesh().format();
      ASSERT_LE(model->copy_us(bytes + 2) - model->copy_us(bytes + 1), 1e-3);
    }
  }
}

TEST(CostProperties, AllReduceIsAtMostReduceScatterAndAllGather) {
  Draw draw;
  for (int round = 0; round < kMeshes; ++round) {
    const auto model = random_model(draw, 4);
    for (int i = 0; i < kSizes; ++i) {
      const MeshDimSet set = random_set(draw, model->mesh());
      const int64_t bytes = draw.bytes();
      ASSERT_LE(model->collective_us(Collective::kAllReduce, set, bytes),
                kRounding * (model->collective_us(Collective::kReduceScatter, set, bytes) +
                             model->collective_us(Collective::kAllGather, set, bytes)))
          << bytes << " over " << set << " of " << model->mesh().format();
    }
  }
}

TEST(CostProperties, OneCollectiveIsAtMostTwoOverItsParts) {
  Draw draw;
  for (int round = 0; round < kMeshes; ++round) {
    const auto model = random_model(draw, 4);
    for (int i = 0; i < kSizes; ++i) {
      const MeshDimSet a = random_set(draw, model->mesh());
      const MeshDimSet b = random_set(draw, model->mesh()) & ~a;
      const int64_t inner = ranks_of(model->mesh(), b);
      const int64_t bytes = draw.bytes(30) * inner;
      const auto us = [&](Collective collective, MeshDimSet set, int64_t size) {
        return model->collective_us(collective, set, size);
      };
      for (const Collective collective : {Collective::kAllGather, Collective::kReduceScatter}) {
        ASSERT_LE(us(collective, a | b, bytes),
                  kRounding * (us(collective, a, bytes / inner) + us(collective, b, bytes)))
            << collective_name(collective) << ' ' << bytes << " over " << a << " and " << b
            << " of " << model->mesh().format();
      }
      for (const Collective collective :
           {Collective::kAllReduce, Collective::kAllToAll, Collective::kBroadcast}) {
        ASSERT_LE(us(collective, a | b, bytes),
                  kRounding * (us(collective, a, bytes) + us(collective, b, bytes)))
            << collective_name(collective) << ' ' << bytes << " over " << a << " and " << b
            << " of " << model->mesh().format();
      }
    }
  }
}

TEST(CostProperties, AllToAllIsAtMostAllGather) {
  Draw draw;
  for (int round = 0; round < kMeshes; ++round) {
    const auto model = random_model(draw, 4);
    for (int i = 0; i < kSizes; ++i) {
      const MeshDimSet set = random_set(draw, model->mesh());
      const int64_t local = draw.bytes(30), ranks = ranks_of(model->mesh(), set);
      ASSERT_LE(model->collective_us(Collective::kAllToAll, set, local),
                kRounding * model->collective_us(Collective::kAllGather, set, local * ranks))
          << local << " over " << set << " of " << model->mesh().format();
    }
  }
}

TEST(CostProperties, OneRankIsFreeAndOthersAreNot) {
  Draw draw;
  for (int round = 0; round < kMeshes; ++round) {
    const auto model = random_model(draw, 5);
    for (MeshDimSet set = 0; set < MeshDimSet{1} << model->mesh().ndim(); ++set) {
      const bool alone = ranks_of(model->mesh(), set) == 1;
      for (const Collective collective : kAll) {
        EXPECT_EQ(model->collective_us(collective, set, draw.bytes()) == 0, alone);
        EXPECT_TRUE(std::isfinite(model->collective_us(collective, set, INT64_MAX)));
      }
    }
    EXPECT_EQ(model->copy_us(0), 0);
  }
}

// Of rings over links only: measured tables may break it.
TEST(CostProperties, MoreRanksAreNeverCheaperByAlphaBeta) {
  Draw draw;
  const Cluster cluster = *load_cluster("alpha_beta");
  for (int64_t ranks = 1; ranks < 200; ++ranks) {
    const auto few = *make_cost_model(cluster, Mesh::line(ranks));
    const auto many = *make_cost_model(cluster, Mesh::line(ranks + 1));
    for (const Collective collective : kAll) {
      const int64_t bytes = draw.bytes();
      EXPECT_LE(few->collective_us(collective, 1, bytes), many->collective_us(collective, 1, bytes))
          << collective_name(collective) << ' ' << ranks << ' ' << bytes;
    }
  }
}

// 255 groups of mesh dims, whose curves have few pieces whatever the sizes.
TEST(CostProperties, EightMeshDimsAreTabulated) {
  for (const char* text : {"a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2", "a=2,b=3,c=4,d=5,e=6,f=7,g=8,h=9",
                           "a=2,b=2,c=2,d=4,e=8", "dp=8,tp=8"}) {
    const auto mesh = Mesh::parse(text);
    const auto model = make_cost_model(*load_cluster("h100"), mesh.ok() ? *mesh : Mesh::line(2));
    ASSERT_TRUE(model.ok()) << text;
    const MeshDimSet all = (MeshDimSet{1} << (*model)->mesh().ndim()) - 1;
    for (MeshDimSet dims = 1; dims <= all; ++dims)
      ASSERT_GT((*model)->collective_us(Collective::kAllReduce, dims, 1 << 20), 0) << text;
  }
}

}  // namespace
}  // namespace onedim
