#include "core/cost/autoparallel_model.hpp"

#include "core/cost/autoparallel_roofline.hpp"
#include "core/cost/nccl_time.hpp"

namespace onedim {
namespace {

// Its ring model in DTensor's constants; a mesh dim that leaves the node is slower.
double ring_us(Collective collective, const ClusterGroup& group, bool leaves_node, double bytes) {
  constexpr double kBase = 6.6, kInnerHop = 0.6, kOuterHop = 2.7;
  constexpr double kGibASecond = 87.7, kOuterShare = 0.22;
  constexpr double kAllToAllFactor = 5;
  const double hop = leaves_node ? kOuterHop : kInnerHop;
  const double bytes_a_us =
      kGibASecond * (leaves_node ? kOuterShare : 1) * (int64_t{1} << 30) / 1e6;
  const double ranks = static_cast<double>(group.ranks);
  const double hops = (collective == Collective::kAllReduce ? 2 : 1) * (ranks - 1);
  const double us = kBase + hops * hop + bytes * hops / ranks / bytes_a_us;
  return collective == Collective::kAllToAll ? us * kAllToAllFactor : us;
}

class AutoParallelModel final : public CostModel {
 public:
  AutoParallelModel(const Cluster& cluster, const Mesh& mesh, uint64_t fingerprint)
      : cluster_(cluster), mesh_(mesh), fingerprint_(fingerprint) {
    for (MeshDimSet set = 0; set < MeshDimSet{1} << mesh.ndim(); ++set) {
      groups_.push_back(cluster_group(mesh, cluster.ranks_per_node, set));
    }
    has_nodes_ = mesh.rank_count() % cluster.ranks_per_node == 0;
  }

  double collective_us(Collective collective, MeshDimSet mesh_dims, int64_t bytes) const override {
    const ClusterGroup& group = groups_[mesh_dims];
    if (group.ranks == 1) return 0;
    const double size = static_cast<double>(bytes);
    if (!has_nodes_) return ring_us(collective, group, leaves_node(mesh_dims), size);
    const bool is_broadcast = collective == Collective::kBroadcast;
    return nccl_us(cluster_, is_broadcast ? Collective::kAllGather : collective, group, size,
                   NcclReading::kPublished);
  }
  double copy_us(int64_t bytes) const override {
    return bytes == 0 ? 0 : autoparallel_copy_us(static_cast<double>(bytes));
  }
  const Mesh& mesh() const override { return mesh_; }
  uint64_t fingerprint() const override { return fingerprint_; }

 private:
  // Whether the outermost dim of the set reaches beyond one node, counted from the inside.
  bool leaves_node(MeshDimSet mesh_dims) const {
    int64_t ranks = 1;
    bool leaves = false;
    for (int dim = mesh_.ndim() - 1; dim >= 0; --dim) {
      ranks *= mesh_.size(dim);
      if ((mesh_dims >> dim & 1) != 0) leaves = leaves || ranks > cluster_.ranks_per_node;
    }
    return leaves;
  }

  Cluster cluster_;
  Mesh mesh_;
  uint64_t fingerprint_;
  std::vector<ClusterGroup> groups_;
  bool has_nodes_ = true;
};

}  // namespace

std::unique_ptr<const CostModel> make_autoparallel_model(const Cluster& cluster, const Mesh& mesh,
                                                         uint64_t fingerprint) {
  return std::make_unique<AutoParallelModel>(cluster, mesh, fingerprint);
}

}  // namespace onedim
