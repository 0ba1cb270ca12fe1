#include "core/cost/autoparallel_move.hpp"

#include <algorithm>
#include <limits>

#include "core/cost/autoparallel_roofline.hpp"

namespace onedim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool is_known(const Placement& placement) {
  return placement.is_replicate() || placement.kind == Placement::Kind::kShard ||
         placement.is_partial("sum");
}

bool all_partial(const Layout& layout) {
  return std::all_of(layout.placements.begin(), layout.placements.end(),
                     [](const Placement& placement) { return placement.is_partial(); });
}

bool all_shard(const Layout& layout) {
  return std::all_of(layout.placements.begin(), layout.placements.end(),
                     [](const Placement& placement) { return placement.is_shard(); });
}

bool all_replicate(const Layout& layout) {
  return std::all_of(layout.placements.begin(), layout.placements.end(),
                     [](const Placement& placement) { return placement.is_replicate(); });
}

// Walks from mesh dim to mesh dim with the bytes that a rank holds.
class Walk {
 public:
  Walk(const CostModel& model, double bytes) : model_(model), bytes_(bytes) {}

  // One mesh dim changes; adds the price of its collective and of the copies around it.
  void step(int mesh_dim, const Placement& from, const Placement& to, bool copies_first) {
    const double ranks = static_cast<double>(model_.mesh().size(mesh_dim));
    const double before = bytes_;
    if (to.is_partial()) {
      us_ = kNever;
    } else if (from.is_replicate()) {
      bytes_ /= ranks;
      return;
    } else if (to.is_replicate() && from.is_shard()) {
      bytes_ *= ranks;
      collective(Collective::kAllGather, mesh_dim);
      copy_unless_outermost(from, bytes_);
    } else if (to.is_replicate()) {
      collective(Collective::kAllReduce, mesh_dim);
    } else if (from.is_shard()) {
      collective(Collective::kAllToAll, mesh_dim);
      copy_unless_outermost(from, bytes_);
      copy_unless_outermost(to, bytes_);
    } else {
      collective(Collective::kReduceScatter, mesh_dim);
      copy_unless_outermost(to, bytes_);
      bytes_ /= ranks;
    }
    if (copies_first) us_ += autoparallel_copy_us(2 * before);
  }
  double us() const { return us_; }

 private:
  void collective(Collective collective, int mesh_dim) {
    us_ +=
        model_.collective_us(collective, MeshDimSet{1} << mesh_dim, static_cast<int64_t>(bytes_));
  }
  void copy_unless_outermost(const Placement& shard, double bytes) {
    if (shard.dim != 0) us_ += autoparallel_copy_us(2 * bytes);
  }

  const CostModel& model_;
  double bytes_;
  double us_ = 0;
};

double local_bytes(const Mesh& mesh, const TensorMeta& meta, const Layout& layout) {
  double shards = 1;
  for (int dim = 0; dim < mesh.ndim(); ++dim) {
    const bool is_shard = layout.placements[static_cast<size_t>(dim)].is_shard();
    shards *= is_shard ? static_cast<double>(mesh.size(dim)) : 1;
  }
  return static_cast<double>(meta.bytes()) / shards;
}

}  // namespace

double autoparallel_move_us(const CostModel& model, const TensorMeta& meta, const Layout& from,
                            const Layout& to) {
  const int ndim = model.mesh().ndim();
  for (int dim = 0; dim < ndim; ++dim) {
    const size_t i = static_cast<size_t>(dim);
    if (!is_known(from.placements[i]) || !is_known(to.placements[i])) return kNever;
  }
  if (all_replicate(from)) {
    const auto& targets = to.placements;
    const bool to_partial =
        std::any_of(targets.begin(), targets.end(),
                    [](const Placement& target) { return target.is_partial(); });
    return to_partial ? kNever : 0;
  }
  const bool inner_first = ndim == 2 && all_partial(from) && all_shard(to);
  Walk walk(model, local_bytes(model.mesh(), meta, from));
  bool copies_first = !meta.is_contiguous();
  for (int i = 0; i < ndim; ++i) {
    const int dim = inner_first ? ndim - 1 - i : i;
    const Placement &source = from.placements[static_cast<size_t>(dim)],
                    &target = to.placements[static_cast<size_t>(dim)];
    if (source == target) continue;
    walk.step(dim, source, target, copies_first);
    copies_first = false;
  }
  return walk.us();
}

}  // namespace onedim
