#include "core/validate/mesh_judge.hpp"

#include "core/validate/lane_text.hpp"

namespace onedim {
namespace {

// Linear indices of the elements that `map` owns, in local row-major order.
std::vector<int32_t> owned_indices(const IndexMap& map, const Dims& shape) {
  std::vector<int32_t> owned{0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int32_t> longer;
    for (const int32_t begin : owned) {
      for (const Interval& interval : map.dims[dim]) {
        for (int64_t i = interval.begin; i < interval.end; ++i)
          longer.push_back(static_cast<int32_t>(begin * shape[dim] + i));
      }
    }
    owned = std::move(longer);
  }
  return owned;
}

bool is_first_of_cell(const Layout& layout, const Dims& coordinate) {
  for (size_t mesh_dim = 0; mesh_dim < coordinate.size(); ++mesh_dim) {
    if (layout.placements[mesh_dim].is_partial() && coordinate[mesh_dim] != 0) return false;
  }
  return true;
}

std::vector<int64_t> ranks_of_cell(const Layout& layout, const Mesh& mesh, const Dims& first) {
  std::vector<int64_t> ranks;
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    bool belongs = true;
    for (size_t mesh_dim = 0; mesh_dim < coordinate.size(); ++mesh_dim) {
      belongs &=
          layout.placements[mesh_dim].is_partial() || coordinate[mesh_dim] == first[mesh_dim];
    }
    if (belongs) ranks.push_back(rank);
  }
  return ranks;
}

Truth scaled(Truth truth, double factor) {
  for (double& value : truth.lanes.reals) value *= factor;
  truth.largest *= factor;
  return truth;
}

}  // namespace

Truth part_of(const Truth& truth, std::span<const int32_t> owned) {
  Truth part{truth.dtype, {}, truth.largest};
  part.lanes.lane_class = truth.lanes.lane_class;
  for (const int32_t index : owned) {
    const size_t at = static_cast<size_t>(index);
    switch (truth.lanes.lane_class) {
      case LaneClass::kInteger:
        part.lanes.integers.push_back(truth.lanes.integers[at]);
        break;
      case LaneClass::kReal:
        part.lanes.reals.push_back(truth.lanes.reals[at]);
        break;
      case LaneClass::kComplex:
        part.lanes.reals.push_back(truth.lanes.reals[2 * at]);
        part.lanes.reals.push_back(truth.lanes.reals[2 * at + 1]);
    }
  }
  return part;
}

MeshJudge::MeshJudge(const Layout& layout, const Dims& shape, const Mesh& mesh)
    : layout_(layout), shape_(shape), mesh_(mesh) {
  for (int mesh_dim = 0; mesh_dim < mesh.ndim(); ++mesh_dim) {
    const Placement& placement = layout.placements[mesh_dim];
    if (!placement.is_partial()) continue;
    if (placement.is_partial("avg")) divisor_ *= mesh.size(mesh_dim);
    if (!joins_.is_partial() || placement.is_partial("sum")) joins_ = placement;
  }
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    if (!is_first_of_cell(layout, coordinate)) continue;
    const IndexMap map = index_map(shape, layout, mesh, coordinate);
    cells_.push_back(
        {ranks_of_cell(layout, mesh, coordinate), owned_indices(map, shape), map.local_shape()});
  }
  if (joins_.is_partial()) return;
  for (const MeshCell& cell : cells_) owned_.push_back(cell.owned);
}

Judgement MeshJudge::judge_copies(const Truth& truth, std::span<const Lanes> locals,
                                  const ErrorModel& model) {
  Mismatch mismatch;
  const Judgement judgement =
      onedim::judge(Placement::shard(0), truth, owned_, locals, model, &mismatch);
  if (judgement != Judgement::kFails) return judgement;
  failed_cell_ = static_cast<size_t>(mismatch.rank);
  const std::vector<int32_t>& owned = owned_[failed_cell_];
  failed_element_ = std::find(owned.begin(), owned.end(), mismatch.element) - owned.begin();
  return judgement;
}

Judgement MeshJudge::judge_cell(size_t cell, const Truth& truth, std::span<const Lanes> locals,
                                const ErrorModel& model) {
  const bool is_mixed = joins_.is_partial("sum") && divisor_ > 1;
  Truth part = part_of(truth, cells_[cell].owned);
  if (is_mixed) part = scaled(std::move(part), static_cast<double>(divisor_));
  std::vector<Lanes> members;
  for (const int64_t rank : cells_[cell].ranks)
    members.push_back(locals[static_cast<size_t>(rank)]);
  Mismatch mismatch;
  const Judgement judgement = onedim::judge(joins_, part, {}, members, model, &mismatch);
  if (judgement == Judgement::kFails) failed_cell_ = cell, failed_element_ = mismatch.element;
  return judgement;
}

Judgement MeshJudge::judge(const Truth& truth, std::span<const Lanes> locals,
                           const ErrorModel& model) {
  if (!joins_.is_partial()) return judge_copies(truth, locals, model);
  bool judged = false;
  for (size_t cell = 0; cell < cells_.size(); ++cell) {
    const Judgement judgement = judge_cell(cell, truth, locals, model);
    if (judgement == Judgement::kFails) return judgement;
    judged |= judgement == Judgement::kHolds;
  }
  return judged ? Judgement::kHolds : Judgement::kNothingJudged;
}

std::string MeshJudge::explain(const Truth& truth, std::span<const Lanes> locals) const {
  const MeshCell& cell = cells_[failed_cell_];
  const int32_t element = cell.owned[static_cast<size_t>(failed_element_)];
  std::string text = fmt::format("at {} should be {}, but", format_dims(index_of(shape_, element)),
                                 format_lane(truth.lanes, element));
  for (size_t i = 0; i < cell.ranks.size(); ++i) {
    const int64_t rank = cell.ranks[i];
    text +=
        fmt::format("{} rank {} has {}", i == 0 ? "" : ",", format_dims(mesh_.coordinate_of(rank)),
                    format_lane(locals[static_cast<size_t>(rank)], failed_element_));
  }
  return text + fmt::format(" under {}", format_layout(layout_, mesh_));
}

}  // namespace onedim
