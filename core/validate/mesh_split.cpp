#include "core/validate/mesh_split.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "core/validate/judge.hpp"
#include "core/validate/partial_split.hpp"

namespace onedim {
namespace {

// Parts of parts may be more than narrow floats hold exactly.
bool joins_exactly(const Tensor& whole, std::span<const Tensor> parts, std::string_view kind) {
  std::vector<Lanes> lanes(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) read_lanes(parts[i], lanes[i]);
  ErrorModel exact;
  exact.nonfinite = true;
  return judge(Placement::make_partial(std::string(kind)), make_truth(whole), {}, lanes, exact) !=
         Judgement::kFails;
}

std::vector<Tensor> split_exactly(const Tensor& whole, std::string_view kind, int64_t parts,
                                  const Domain& domain, uint64_t key) {
  Random random(key);
  SplitOptions options{static_cast<int>(random.below(kSplitVariantCount)), random.next(), false};
  std::vector<Tensor> locals = split_partial(whole, kind, parts, domain, options);
  if (joins_exactly(whole, locals, kind)) return locals;
  options.variant = kOneOwnerVariant;
  return split_partial(whole, kind, parts, domain, options);
}

// What one mesh dim makes of one tensor, one a coordinate.
std::vector<Tensor> split_once(const Tensor& whole, const Placement& placement, int64_t parts,
                               const Domain& domain, uint64_t key) {
  if (placement.is_partial() && is_builtin_partial(placement.partial))
    return split_exactly(whole, placement.partial, parts, domain, key);
  if (!placement.is_shard()) return std::vector<Tensor>(static_cast<size_t>(parts), whole);
  std::vector<Tensor> pieces;
  const Mesh line = Mesh::line(parts);
  const Layout layout{{placement}, {}};
  for (int64_t at = 0; at < parts; ++at)
    pieces.push_back(gather_elements(whole, index_map(whole.shape(), layout, line, {at})));
  return pieces;
}

class Spreader {
 public:
  Spreader(const Layout& layout, const Mesh& mesh, const Domain& domain)
      : layout_(layout),
        mesh_(mesh),
        domain_(domain),
        order_(layout.cutting_order()),
        coordinate_(order_.size(), 0),
        locals_(static_cast<size_t>(mesh.rank_count())) {
    // Replicas are made last, so that they are of one split.
    std::stable_partition(order_.begin(), order_.end(), [&](int64_t mesh_dim) {
      return !layout.placements[mesh_dim].is_replicate();
    });
  }

  std::vector<Tensor> run(const Tensor& global, uint64_t key) {
    spread(global, 0, key);
    return std::move(locals_);
  }

 private:
  void spread(const Tensor& whole, size_t place, uint64_t key) {
    if (place == order_.size()) {
      locals_[static_cast<size_t>(mesh_.rank_of(coordinate_))] = whole;
      return;
    }
    const int mesh_dim = static_cast<int>(order_[place]);
    const std::vector<Tensor> parts = split_once(whole, layout_.placements[mesh_dim],
                                                 mesh_.size(mesh_dim), domain_, mix_key(key, 0));
    for (size_t at = 0; at < parts.size(); ++at) {
      coordinate_[mesh_dim] = static_cast<int64_t>(at);
      spread(parts[at], place + 1, mix_key(key, 1 + at));
    }
  }

  const Layout& layout_;
  const Mesh& mesh_;
  const Domain& domain_;
  Dims order_;
  Dims coordinate_;
  std::vector<Tensor> locals_;
};

}  // namespace

std::vector<Tensor> split_over_mesh(const Tensor& global, const Layout& layout, const Mesh& mesh,
                                    const Domain& domain, uint64_t key) {
  return Spreader(layout, mesh, domain).run(global, key);
}

}  // namespace onedim
