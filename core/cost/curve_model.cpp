#include "core/cost/curve_model.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace onedim {
namespace {

using GroupCurves = std::array<SizeCurve, kCollectiveCount>;

SizeCurve& curve_of(GroupCurves& curves, Collective collective) {
  return curves[static_cast<size_t>(collective)];
}

const SizeCurve& curve_of(const GroupCurves& curves, Collective collective) {
  return curves[static_cast<size_t>(collective)];
}

void lower(SizeCurve& curve, const SizeCurve& other) { curve = minimum(curve, other); }

// Makes the curves of all sets of mesh dims, the smaller sets first. Mesh dims of one size that lie
// alike on nodes are one class; sets with as many dims of each class share their curves.
class CurveBuilder {
 public:
  CurveBuilder(const Cluster& cluster, const Mesh& mesh, CurveSource source)
      : cluster_(cluster), mesh_(mesh), source_(source) {
    for (const MeasuredCurve& curve : cluster.measured) {
      scatter_is_gather_ = scatter_is_gather_ && curve.collective != Collective::kAllGather &&
                           curve.collective != Collective::kReduceScatter;
    }
    for (int dim = 0; dim < mesh.ndim(); ++dim) {
      dims_.push_back(cluster_group(mesh, cluster.ranks_per_node, MeshDimSet{1} << dim));
    }
  }

  void build() {
    curves_.emplace_back();  // one rank: free
    for (MeshDimSet set = 0; set < MeshDimSet{1} << mesh_.ndim(); ++set) {
      index_of_set_.push_back(static_cast<uint8_t>(index_of(set)));
    }
  }
  const std::vector<GroupCurves>& curves() const { return curves_; }
  const std::vector<uint8_t>& index_of_set() const { return index_of_set_; }

 private:
  size_t index_of(MeshDimSet set) {
    MeshDimSet parted = 0;  // without mesh dims of one rank
    std::vector<std::pair<int64_t, int64_t>> key;
    for (int dim = 0; dim < mesh_.ndim(); ++dim) {
      const ClusterGroup& group = dims_[static_cast<size_t>(dim)];
      if ((set >> dim & 1) == 0 || group.ranks == 1) continue;
      parted |= MeshDimSet{1} << dim;
      key.emplace_back(group.ranks, group.ranks_per_node);
    }
    if (parted == 0) return 0;
    std::sort(key.begin(), key.end());
    const auto [known, is_new] = index_of_key_.emplace(std::move(key), curves_.size());
    if (is_new) curves_.push_back(make_curves(parted));
    return known->second;
  }

  GroupCurves make_curves(MeshDimSet set) const {
    const ClusterGroup group = cluster_group(mesh_, cluster_.ranks_per_node, set);
    GroupCurves curves;
    for (int i = 0; i < kCollectiveCount; ++i) {
      const Collective collective = static_cast<Collective>(i);
      const MeasuredCurve* measured = find_measured(cluster_, collective, group);
      const SizeCurve raw =
          measured != nullptr ? measured_curve(*measured) : source_(cluster_, collective, group);
      curve_of(curves, collective) = raw.nondecreasing();
    }
    const MeshDimSet lowest = set & (~set + 1);
    for (MeshDimSet part = (set - 1) & set; part != 0; part = (part - 1) & set) {
      if ((part & lowest) != 0) lower_to_two_steps(curves, part, set & ~part);
    }
    if (scatter_is_gather_) {
      curve_of(curves, Collective::kReduceScatter) = curve_of(curves, Collective::kAllGather);
    }
    lower(curve_of(curves, Collective::kAllReduce),
          curve_of(curves, Collective::kReduceScatter) + curve_of(curves, Collective::kAllGather));
    lower(curve_of(curves, Collective::kAllToAll),
          curve_of(curves, Collective::kAllGather).stretched(static_cast<double>(group.ranks)));
    return curves;
  }

  void lower_to_two_steps(GroupCurves& curves, MeshDimSet a, MeshDimSet b) const {
    const GroupCurves& left = curves_[index_of_set_[a]];
    const GroupCurves& right = curves_[index_of_set_[b]];
    const double left_ranks = ranks_of(a), right_ranks = ranks_of(b);
    for (const Collective collective : {Collective::kAllGather, Collective::kReduceScatter}) {
      if (scatter_is_gather_ && collective == Collective::kReduceScatter) break;
      const SizeCurve &one = curve_of(left, collective), &other = curve_of(right, collective);
      lower(curve_of(curves, collective), one.stretched(1 / right_ranks) + other);
      lower(curve_of(curves, collective), other.stretched(1 / left_ranks) + one);
    }
    for (const Collective collective :
         {Collective::kAllReduce, Collective::kAllToAll, Collective::kBroadcast}) {
      lower(curve_of(curves, collective), curve_of(left, collective) + curve_of(right, collective));
    }
  }

  double ranks_of(MeshDimSet set) const {
    return static_cast<double>(cluster_group(mesh_, cluster_.ranks_per_node, set).ranks);
  }

  const Cluster& cluster_;
  const Mesh& mesh_;
  CurveSource source_;
  bool scatter_is_gather_ = true;  // sources price them alike; measured curves may not
  std::vector<ClusterGroup> dims_;
  std::vector<GroupCurves> curves_;
  std::map<std::vector<std::pair<int64_t, int64_t>>, size_t> index_of_key_;
  std::vector<uint8_t> index_of_set_;
};

class CurveModel final : public CostModel {
 public:
  CurveModel(const Cluster& cluster, const Mesh& mesh, CurveSource source, uint64_t fingerprint)
      : mesh_(mesh),
        copy_bytes_a_us_(1000 * cluster.copy_gbs),
        copy_launch_us_(cluster.copy_launch_us),
        fingerprint_(fingerprint) {
    CurveBuilder builder(cluster, mesh, source);
    builder.build();
    index_of_set_ = builder.index_of_set();
    for (const GroupCurves& curves : builder.curves()) {
      for (const SizeCurve& curve : curves) tables_.emplace_back(curve);
    }
  }

  double collective_us(Collective collective, MeshDimSet mesh_dims, int64_t bytes) const override {
    const size_t group = index_of_set_[mesh_dims];
    return tables_[group * kCollectiveCount + static_cast<size_t>(collective)].at(bytes);
  }
  double copy_us(int64_t bytes) const override {
    if (bytes == 0) return 0;
    return std::max(copy_launch_us_, static_cast<double>(bytes) / copy_bytes_a_us_);
  }
  const Mesh& mesh() const override { return mesh_; }
  uint64_t fingerprint() const override { return fingerprint_; }

 private:
  Mesh mesh_;
  double copy_bytes_a_us_;
  double copy_launch_us_;
  uint64_t fingerprint_;
  std::vector<uint8_t> index_of_set_;
  std::vector<SizeTable> tables_;
};

}  // namespace

std::unique_ptr<const CostModel> make_curve_model(const Cluster& cluster, const Mesh& mesh,
                                                  CurveSource source, uint64_t fingerprint) {
  return std::make_unique<CurveModel>(cluster, mesh, source, fingerprint);
}

}  // namespace onedim
