#include "core/redistribute/plan_run.hpp"

#include <algorithm>

#include "core/layout/memory_order.hpp"
#include "core/layout/partition.hpp"
#include "core/redistribute/shared_part.hpp"

namespace onedim {
namespace {

class StepRun {
 public:
  StepRun(const PlanStep& step, const RunSetting& setting, const GroupLocals& locals)
      : step_(step), setting_(setting), mesh_(setting.mesh), locals_(locals) {}

  Result<GroupLocals> run();

 private:
  Status run_rank(int64_t rank);
  Status move(int64_t rank);
  Status check_memory(int64_t rank, const SharedPart& part, int64_t received) const;
  Status reduce(int64_t rank);
  Status fill(int64_t rank, std::string_view kind, bool keeps);
  Status scale(int64_t rank);
  // Coordinates of the ranks that differ from `coordinate` only in the step's mesh dims, in order.
  std::vector<Dims> group_of(const Dims& coordinate) const;
  IndexMap map(size_t tensor, const Layout& layout, const Dims& coordinate) const {
    return index_map(setting_.shapes[tensor], layout, mesh_, coordinate);
  }
  Tensor new_row_major(size_t tensor, const Dims& coordinate) const;
  // In the memory order that the step leaves.
  Tensor laid_out(const Tensor& tensor) const;
  // The partial kind that the step's mesh dims have in `layout`.
  std::string_view kind_in(const Layout& layout) const;
  int64_t average_divisor() const;
  Result<std::vector<Tensor>> combine(std::vector<std::vector<Tensor>> parts,
                                      std::string_view kind) const;
  Status wrong(int64_t rank, std::string_view what) const;

  const PlanStep& step_;
  const RunSetting& setting_;
  const Mesh& mesh_;
  const GroupLocals& locals_;
  GroupLocals result_;
};

Status StepRun::wrong(int64_t rank, std::string_view what) const {
  return absl::InternalError(
      fmt::format("step {} {} -> {} at coordinate {}: {}", step_kind_name(step_.kind),
                  format_layout(step_.from, mesh_), format_layout(step_.to, mesh_),
                  format_dims(mesh_.coordinate_of(rank)), what));
}

std::vector<Dims> StepRun::group_of(const Dims& coordinate) const {
  std::vector<Dims> group;
  Dims member = coordinate;
  for (int d = 0; d < mesh_.ndim(); ++d) {
    if (step_.mesh_dims >> d & 1) member[d] = 0;
  }
  while (true) {
    group.push_back(member);
    int d = mesh_.ndim();
    while (d-- > 0) {
      if ((step_.mesh_dims >> d & 1) == 0) continue;
      if (++member[d] < mesh_.size(d)) break;
      member[d] = 0;
    }
    if (d < 0) return group;
  }
}

Tensor StepRun::new_row_major(size_t tensor, const Dims& coordinate) const {
  return Tensor::zeros(locals_[tensor][0].dtype(), map(tensor, step_.to, coordinate).local_shape());
}

Tensor StepRun::laid_out(const Tensor& tensor) const {
  const Dims strides = strides_with_outermost(tensor.shape(), step_.to_outermost);
  if (tensor.strides() == strides) return tensor;
  Tensor laid = Tensor::uninitialized({tensor.dtype(), tensor.shape(), strides});
  copy_elements(tensor, laid);
  return laid;
}

std::string_view StepRun::kind_in(const Layout& layout) const {
  for (int d = 0; d < mesh_.ndim(); ++d) {
    if ((step_.mesh_dims >> d & 1) && layout.placements[d].is_partial())
      return layout.placements[d].partial;
  }
  return {};
}

int64_t StepRun::average_divisor() const {
  int64_t divisor = 1;
  for (int d = 0; d < mesh_.ndim(); ++d) {
    if ((step_.mesh_dims >> d & 1) && step_.from.placements[d].is_partial("avg"))
      divisor *= mesh_.size(d);
  }
  return divisor;
}

// `parts` holds per rank of the group the tensors to reduce.
Result<std::vector<Tensor>> StepRun::combine(std::vector<std::vector<Tensor>> parts,
                                             std::string_view kind) const {
  if (!is_builtin_partial(kind)) {
    const PartialKind* own = setting_.kinds ? setting_.kinds(kind) : nullptr;
    if (own == nullptr) return invalid_argument("partial kind {} is not known", kind);
    for (size_t i = 1; i < parts.size(); ++i) {
      if (Status status = own->combine(parts[0], parts[i]); !status.ok()) return status;
    }
    return std::move(parts[0]);
  }
  std::vector<Tensor> result;
  for (size_t tensor = 0; tensor < parts[0].size(); ++tensor) {
    std::vector<Tensor> list;
    for (const std::vector<Tensor>& part : parts) list.push_back(part[tensor]);
    result.push_back(is_linear_partial(kind) ? average_elements(list, average_divisor())
                                             : reduce_elements(list, kind));
  }
  return result;
}

// A kernel that does not pack sends pieces of memory as they lie; one that does not unpack receives
// into pieces of memory, an all_gather laid end to end.
Status StepRun::check_memory(int64_t rank, const SharedPart& part, int64_t received) const {
  const bool is_exchange = step_.kind == StepKind::kAllToAll;
  const bool is_gather = step_.kind == StepKind::kAllGather;
  if (is_exchange && step_.pack_bytes == 0 && !part.in_from.is_filled_by(part.count))
    return wrong(rank, "what it sends is not one piece of memory, and it does not pack");
  if (!is_exchange && !is_gather) return {};
  if (step_.unpack_bytes != 0 || part.count == 0) return {};
  if (!part.in_to.is_filled_by(part.count) || (is_gather && part.in_to.begin != received))
    return wrong(rank, "what it receives is not one piece of memory, and it does not unpack");
  return {};
}

// all_gather, all_to_all, slice, reorder: takes what the group holds of the rank's new part.
Status StepRun::move(int64_t rank) {
  const Dims coordinate = mesh_.coordinate_of(rank);
  const bool is_local = !is_collective(step_.kind);
  const std::vector<Dims> group = is_local ? std::vector<Dims>{coordinate} : group_of(coordinate);
  for (size_t tensor = 0; tensor < locals_.size(); ++tensor) {
    Tensor to = laid_out(new_row_major(tensor, coordinate));
    const IndexMap to_map = map(tensor, step_.to, coordinate);
    int64_t copied = 0;
    Status memory;
    for (const Dims& member : group) {
      const SharedPart part = copy_shared(locals_[tensor][mesh_.rank_of(member)],
                                          map(tensor, step_.from, member), to, to_map);
      if (memory.ok()) memory = check_memory(rank, part, copied);
      copied += part.count;
    }
    if (copied != to.element_count()) {
      return wrong(rank, fmt::format("the group holds {} elements of a part of {}", copied,
                                     to.element_count()));
    }
    if (!memory.ok()) return memory;
    result_[tensor].push_back(std::move(to));
  }
  return {};
}

// all_reduce, reduce_scatter: each rank of the group gives its values of the rank's new part.
Status StepRun::reduce(int64_t rank) {
  const Dims coordinate = mesh_.coordinate_of(rank);
  const std::vector<Dims> group = group_of(coordinate);
  const auto place = std::find(group.begin(), group.end(), coordinate) - group.begin();
  const bool scatters_as_it_lies = step_.kind == StepKind::kReduceScatter && step_.pack_bytes == 0;
  std::vector<std::vector<Tensor>> parts;
  for (const Dims& member : group) {
    std::vector<Tensor> part;
    for (size_t tensor = 0; tensor < locals_.size(); ++tensor) {
      Tensor to = new_row_major(tensor, coordinate);
      const SharedPart shared =
          copy_shared(locals_[tensor][mesh_.rank_of(member)], map(tensor, step_.from, member), to,
                      map(tensor, step_.to, coordinate));
      if (shared.count != to.element_count())
        return wrong(rank, "a rank of the group lacks a part of the partial value");
      if (scatters_as_it_lies && shared.count > 0 &&
          (!shared.in_from.is_filled_by(shared.count) ||
           shared.in_from.begin != place * shared.count))
        return wrong(rank, "its part is not its share of the others' memory, and they do not pack");
      part.push_back(std::move(to));
    }
    parts.push_back(std::move(part));
  }
  Result<std::vector<Tensor>> reduced = combine(std::move(parts), kind_in(step_.from));
  if (!reduced.ok()) return reduced.status();
  for (size_t tensor = 0; tensor < locals_.size(); ++tensor)
    result_[tensor].push_back(laid_out((*reduced)[tensor]));
  return {};
}

// fill_partial, shard_to_partial: the identity, over which the rank lays its own values if it keeps
// them.
Status StepRun::fill(int64_t rank, std::string_view kind, bool keeps) {
  const Dims coordinate = mesh_.coordinate_of(rank);
  std::vector<Tensor> filled;
  for (size_t tensor = 0; tensor < locals_.size(); ++tensor) {
    Tensor to = new_row_major(tensor, coordinate);
    if (is_builtin_partial(kind)) to = identity_tensor(to.meta(), kind);
    filled.push_back(std::move(to));
  }
  if (!is_builtin_partial(kind)) {
    const PartialKind* own = setting_.kinds ? setting_.kinds(kind) : nullptr;
    if (own == nullptr) return invalid_argument("partial kind {} is not known", kind);
    if (Status status = own->identity(filled); !status.ok()) return status;
  }
  for (size_t tensor = 0; tensor < locals_.size(); ++tensor) {
    if (keeps) {
      copy_shared(locals_[tensor][rank], map(tensor, step_.from, coordinate), filled[tensor],
                  map(tensor, step_.to, coordinate));
    }
    result_[tensor].push_back(laid_out(filled[tensor]));
  }
  return {};
}

Status StepRun::scale(int64_t rank) {
  double factor = 1;
  for (int d = 0; d < mesh_.ndim(); ++d) {
    if (step_.mesh_dims >> d & 1) factor *= static_cast<double>(mesh_.size(d));
  }
  const bool divides = kind_in(step_.from) == "avg";
  for (size_t tensor = 0; tensor < locals_.size(); ++tensor) {
    Tensor to = locals_[tensor][rank].clone();
    for (int64_t i = 0; i < to.element_count(); ++i) {
      const std::complex<double> value = load_complex(to.dtype(), to.element(i));
      store_complex(to.dtype(), to.element(i), divides ? value / factor : value * factor);
    }
    result_[tensor].push_back(laid_out(to));
  }
  return {};
}

Status StepRun::run_rank(int64_t rank) {
  const Dims coordinate = mesh_.coordinate_of(rank);
  bool is_first = true;
  for (int d = 0; d < mesh_.ndim(); ++d) is_first &= !(step_.mesh_dims >> d & 1) || !coordinate[d];
  switch (step_.kind) {
    case StepKind::kAllGather:
    case StepKind::kAllToAll:
    case StepKind::kSlice:
    case StepKind::kAlias:
    case StepKind::kReorder:
      return move(rank);
    case StepKind::kAllReduce:
    case StepKind::kReduceScatter:
      return reduce(rank);
    case StepKind::kFillPartial:
      return fill(rank, kind_in(step_.to), is_first);
    case StepKind::kShardToPartial:
      return fill(rank, kind_in(step_.to), true);
    case StepKind::kScale:
      return scale(rank);
  }
  return {};
}

Result<GroupLocals> StepRun::run() {
  result_.resize(locals_.size());
  for (int64_t rank = 0; rank < mesh_.rank_count(); ++rank) {
    if (Status status = run_rank(rank); !status.ok()) return status;
  }
  return std::move(result_);
}

}  // namespace

Result<GroupLocals> run_plan(const Plan& plan, const RunSetting& setting, GroupLocals locals) {
  for (const PlanStep& step : plan.steps) {
    Result<GroupLocals> next = StepRun(step, setting, locals).run();
    if (!next.ok()) return next.status();
    locals = *std::move(next);
  }
  return locals;
}

}  // namespace onedim
