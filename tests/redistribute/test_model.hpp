#pragma once
// A small alpha-beta cost model for tests: each mesh dim has a latency and a bandwidth, a group is
// as slow as its slowest dim, and rings are counted as they run.

#include <absl/hash/hash.h>

#include <bit>
#include <cmath>
#include <memory>

#include "core/cost/cost_model.hpp"

namespace onedim {

class AlphaBetaModel : public CostModel {
 public:
  struct Link {
    double alpha_us = 5;
    double bytes_per_us = 50000;
  };
  // The first mesh dims are the slow ones.
  explicit AlphaBetaModel(Mesh mesh, Link inner = {2, 200000}, Link outer = {12, 20000})
      : mesh_(std::move(mesh)), inner_(inner), outer_(outer) {}

  double collective_us(Collective collective, MeshDimSet mesh_dims, int64_t bytes) const override {
    double ranks = 1;
    Link link = inner_;
    for (int d = 0; d < mesh_.ndim(); ++d) {
      if ((mesh_dims >> d & 1) == 0) continue;
      ranks *= static_cast<double>(mesh_.size(d));
      if (d + 1 < mesh_.ndim() || mesh_.ndim() == 1) link = outer_;
    }
    if (ranks == 1) return 0;
    const double rounds = collective == Collective::kAllReduce  ? 2 * (ranks - 1)
                          : collective == Collective::kAllToAll ? 1
                                                                : ranks - 1;
    const double passes = collective == Collective::kAllReduce ? 2 : 1;
    const double part = (ranks - 1) / ranks * static_cast<double>(bytes);
    return link.alpha_us + 0.5 * rounds + passes * part / link.bytes_per_us;
  }
  double copy_us(int64_t bytes) const override {
    return bytes == 0 ? 0 : 0.5 + static_cast<double>(bytes) / 1e6;
  }
  const Mesh& mesh() const override { return mesh_; }
  uint64_t fingerprint() const override {
    return absl::HashOf(mesh_.format(), inner_.alpha_us, outer_.alpha_us);
  }

 private:
  Mesh mesh_;
  Link inner_, outer_;
};

// More mesh dims use more links: then it pays to take those along that need no step.
class WideModel : public AlphaBetaModel {
 public:
  using AlphaBetaModel::AlphaBetaModel;
  double collective_us(Collective collective, MeshDimSet mesh_dims, int64_t bytes) const override {
    return AlphaBetaModel::collective_us(collective, mesh_dims, bytes) /
           std::pow(8, std::popcount(mesh_dims));
  }
};

inline std::shared_ptr<const CostModel> test_model(std::string_view mesh) {
  return std::make_shared<AlphaBetaModel>(*Mesh::parse(mesh));
}

}  // namespace onedim
