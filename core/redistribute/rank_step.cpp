#include "core/redistribute/rank_step.hpp"

#include "core/layout/memory_order.hpp"
#include "core/layout/reduce.hpp"
#include "core/redistribute/shared_part.hpp"

namespace onedim {
std::string_view buffer_use_name(BufferUse use) {
  switch (use) {
    case BufferUse::kTarget:
      return "target";
    case BufferUse::kPack:
      return "pack";
    case BufferUse::kUnpack:
      break;
  }
  return "unpack";
}

Tensor Allocator::make(const TensorMeta& meta, BufferUse) { return Tensor::uninitialized(meta); }
void Allocator::release(const Tensor&) {}

RankStep::RankStep(const PlanStep& step, const RunSetting& setting, int64_t rank,
                   Allocator& allocator)
    : step_(step),
      setting_(setting),
      rank_(rank),
      coordinate_(setting.mesh.coordinate_of(rank)),
      allocator_(allocator) {
  if (is_collective(step.kind)) team_ = team_of(setting.mesh, step.mesh_dims, rank);
}

Status RankStep::wrong(std::string_view what) const {
  const Mesh& mesh = setting_.mesh;
  const std::string over =
      step_.mesh_dims == 0 ? "" : " over " + format_mesh_dims(step_.mesh_dims, mesh);
  return absl::InternalError(
      fmt::format("{}{}step {}{} {} -> {} at coordinate {}: {}", setting_.subject,
                  setting_.subject.empty() ? "" : ": ", step_kind_name(step_.kind), over,
                  format_layout(step_.from, mesh), format_layout(step_.to, mesh),
                  format_dims(coordinate_), what));
}

IndexMap RankStep::from_map(size_t tensor, int64_t rank) const {
  return index_map(setting_.shapes[tensor], step_.from, setting_.mesh,
                   setting_.mesh.coordinate_of(rank));
}

IndexMap RankStep::to_map(size_t tensor, int64_t rank) const {
  return index_map(setting_.shapes[tensor], step_.to, setting_.mesh,
                   setting_.mesh.coordinate_of(rank));
}

Tensor RankStep::box_of(const Tensor& buffer, int64_t offset, Dims shape, int outermost) {
  TensorMeta meta{buffer.dtype(), std::move(shape), {}};
  meta.strides = strides_with_outermost(meta.shape, outermost);
  return buffer.view(std::move(meta), offset);
}

std::string_view RankStep::kind_in(const Layout& layout) const {
  for (int d = 0; d < setting_.mesh.ndim(); ++d) {
    if ((step_.mesh_dims >> d & 1) && layout.placements[d].is_partial())
      return layout.placements[d].partial;
  }
  return {};
}

Result<const PartialKind*> RankStep::own_kind(std::string_view name) const {
  const PartialKind* own = setting_.kinds ? setting_.kinds(name) : nullptr;
  if (own == nullptr) return invalid_argument("partial kind {} is not known", name);
  return own;
}

Tensor RankStep::make_target(size_t tensor, const TensorMeta& like) {
  TensorMeta meta{like.dtype, to_map(tensor, rank_).local_shape(), {}};
  meta.strides = strides_with_outermost(meta.shape, step_.to_outermost);
  return allocator_.make(meta, BufferUse::kTarget);
}

Status RankStep::check_local(size_t tensor, const Tensor& local) const {
  const Dims shape = from_map(tensor, rank_).local_shape();
  if (local.shape() != shape) {
    return wrong(fmt::format("the local tensor is {}, expected {} by its layout",
                             format_meta(local.meta()), format_dims(shape)));
  }
  if (lies_with_outermost(shape, local.strides(), step_.from_outermost)) return {};
  return wrong(
      fmt::format("the local tensor {} has strides {} in memory, the plan has {}; copy it "
                  "first, or plan from the order it has",
                  format_meta(local.meta()), format_dims(local.strides()),
                  format_dims(strides_with_outermost(shape, step_.from_outermost))));
}

// A view of the source, or the source itself.
Status RankStep::keep(size_t tensor, const Tensor& local) {
  const IndexMap here = from_map(tensor, rank_), there = to_map(tensor, rank_);
  TensorMeta meta{local.dtype(), there.local_shape(), {}};
  meta.strides = strides_with_outermost(meta.shape, step_.to_outermost);
  if (meta.element_count() == 0) {
    results_.push_back(allocator_.make(meta, BufferUse::kTarget));
    return {};
  }
  const SharedPart part = find_shared(here, local.strides(), there, meta.strides);
  if (part.count != meta.element_count()) {
    return wrong(fmt::format("the group holds {} elements of a part of {}", part.count,
                             meta.element_count()));
  }
  if (!part.in_from.is_filled_by(part.count) ||
      !lies_with_outermost(meta.shape, local.strides(), step_.to_outermost))
    return wrong("its part is not one piece of the source's memory, and it does not copy");
  results_.push_back(local.view(std::move(meta), part.in_from.begin));
  return {};
}

Status RankStep::move_locally(size_t tensor, const Tensor& local) {
  const IndexMap here = from_map(tensor, rank_), there = to_map(tensor, rank_);
  Tensor target = make_target(tensor, local.meta());
  const int64_t count = copy_shared(local, here, target, there).count;
  if (count != target.element_count()) {
    return wrong(
        fmt::format("the group holds {} elements of a part of {}", count, target.element_count()));
  }
  results_.push_back(std::move(target));
  return {};
}

// fill_partial, shard_to_partial: the identity, over which the rank lays its own values if it keeps
// them.
Status RankStep::fill(std::span<const Tensor> locals) {
  const std::string_view kind = kind_in(step_.to);
  bool keeps = true;
  for (int d = 0; d < setting_.mesh.ndim() && step_.kind == StepKind::kFillPartial; ++d)
    keeps &= !(step_.mesh_dims >> d & 1) || coordinate_[d] == 0;
  std::vector<Tensor> identity;
  for (size_t tensor = 0; tensor < locals.size(); ++tensor) {
    const TensorMeta meta =
        TensorMeta::contiguous(locals[tensor].dtype(), to_map(tensor, rank_).local_shape());
    identity.push_back(is_builtin_partial(kind) ? identity_tensor(meta, kind)
                                                : Tensor::zeros(meta));
  }
  if (!is_builtin_partial(kind)) {
    const Result<const PartialKind*> own = own_kind(kind);
    if (!own.ok()) return own.status();
    if (Status status = (*own)->identity(identity); !status.ok()) return status;
  }
  for (size_t tensor = 0; tensor < locals.size(); ++tensor) {
    Tensor target = make_target(tensor, locals[tensor].meta());
    copy_elements(identity[tensor], target);
    if (keeps) copy_shared(locals[tensor], from_map(tensor, rank_), target, to_map(tensor, rank_));
    results_.push_back(std::move(target));
  }
  return {};
}

void RankStep::scale(const Tensor& local) {
  double factor = 1;
  for (int d = 0; d < setting_.mesh.ndim(); ++d) {
    if (step_.mesh_dims >> d & 1) factor *= static_cast<double>(setting_.mesh.size(d));
  }
  const bool divides = kind_in(step_.from) == "avg";
  TensorMeta meta = local.meta();
  meta.strides = strides_with_outermost(meta.shape, step_.to_outermost);
  Tensor target = allocator_.make(meta, BufferUse::kTarget);
  for (int64_t i = 0; i < target.element_count(); ++i) {
    const std::complex<double> value = load_complex(local.dtype(), local.element(i));
    store_complex(meta.dtype, target.element(i), divides ? value / factor : value * factor);
  }
  results_.push_back(std::move(target));
}

Status RankStep::begin_tensor(size_t tensor, const Tensor& local) {
  switch (step_.kind) {
    case StepKind::kAllGather:
      return gather(tensor, local);
    case StepKind::kAllToAll:
      return exchange(tensor, local);
    case StepKind::kReduceScatter:
      return reduce_scatter(tensor, local);
    case StepKind::kAllReduce:
      return all_reduce(tensor, local);
    case StepKind::kAlias:
      return keep(tensor, local);
    case StepKind::kScale:
      scale(local);
      return {};
    default:
      return step_.is_view ? keep(tensor, local) : move_locally(tensor, local);
  }
}

Status RankStep::begin(std::span<const Tensor> locals) {
  received_.resize(locals.size());
  for (size_t tensor = 0; tensor < locals.size(); ++tensor) {
    if (Status status = check_local(tensor, locals[tensor]); !status.ok()) return status;
  }
  const std::string_view kind = kind_in(step_.from);
  const bool reduces = step_.kind == StepKind::kAllReduce || step_.kind == StepKind::kReduceScatter;
  if (reduces && !is_builtin_partial(kind)) {
    const Result<const PartialKind*> own = own_kind(kind);
    if (!own.ok()) return own.status();
    merges_ = *own;
  }
  if (step_.kind == StepKind::kFillPartial || step_.kind == StepKind::kShardToPartial)
    return fill(locals);
  for (size_t tensor = 0; tensor < locals.size(); ++tensor) {
    if (Status status = begin_tensor(tensor, locals[tensor]); !status.ok()) return status;
  }
  return {};
}

void RankStep::unpack(size_t tensor, const Received& received) {
  const IndexMap there = to_map(tensor, rank_);
  for (size_t m = 0; m < received.pieces.size(); ++m) {
    const IndexMap& map = received.maps[m];
    if (count_of(map) == 0) continue;
    const Tensor box =
        box_of(received.buffer, received.pieces[m].offset, map.local_shape(), received.outermost);
    copy_shared(box, map, results_[tensor], there);
  }
}

// Merges the states of the team in its order.
Status RankStep::merge() {
  std::vector<Tensor> merged;
  for (int64_t m = 0; m < team_.size(); ++m) {
    std::vector<Tensor> state;
    for (const Received& received : received_) {
      const auto at = static_cast<size_t>(m);
      const Tensor box = box_of(received.buffer, received.pieces[at].offset,
                                received.maps[at].local_shape(), received.outermost);
      state.push_back(box.meta().is_contiguous() ? box : box.clone());
    }
    if (m == 0) {
      merged = std::move(state);
      continue;
    }
    if (Status status = merges_->combine(merged, state); !status.ok()) return status;
  }
  for (size_t tensor = 0; tensor < results_.size(); ++tensor)
    copy_elements(merged[tensor], results_[tensor]);
  return {};
}

Result<std::vector<Tensor>> RankStep::finish() {
  if (merges_ != nullptr) {
    if (Status status = merge(); !status.ok()) return status;
  } else {
    for (size_t tensor = 0; tensor < received_.size(); ++tensor) {
      if (!received_[tensor].pieces.empty()) unpack(tensor, received_[tensor]);
    }
  }
  for (const Tensor& buffer : buffers_) allocator_.release(buffer);
  return std::move(results_);
}

}  // namespace onedim
