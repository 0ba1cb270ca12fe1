#include "core/redistribute/plan_check.hpp"

#include "core/layout/memory_order.hpp"
#include "core/layout/partition.hpp"
#include "core/redistribute/joint_draw.hpp"
#include "core/redistribute/source_draw.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr int64_t kMostRanks = 4096;  // each is compared with its group

Status differs(const Plan& plan, const Mesh& mesh, int64_t rank, std::string_view what) {
  return absl::InternalError(
      fmt::format("plan {} -> {}: {} at coordinate {}", format_layout(plan.from, mesh),
                  format_layout(plan.to, mesh), what, format_dims(mesh.coordinate_of(rank))));
}

// The rank whose locals this one's are copies of: the first over mesh dims of R.
int64_t first_of_replicas(const Plan& plan, const Mesh& mesh, const Dims& coordinate) {
  Dims first(coordinate.begin(), coordinate.end());
  for (size_t d = 0; d < first.size(); ++d) {
    if (plan.to.placements[d].is_replicate()) first[d] = 0;
  }
  return mesh.rank_of(first);
}

// Memory order everywhere, and without partials the parts; with partials that replicas are equal.
Status compare_locals(const Plan& plan, const Mesh& mesh, const Tensor& global,
                      std::span<const Tensor> locals) {
  const bool has_partial = !partial_dims(plan.to).empty();
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    if (!lies_with_outermost(locals[rank].shape(), locals[rank].strides(), plan.to_outermost))
      return differs(plan, mesh, rank, "the memory order is not the target's");
    if (!has_partial) {
      const IndexMap map = index_map(global.shape(), plan.to, mesh, coordinate);
      if (bit_equal(locals[rank], gather_elements(global, map))) continue;
      return differs(plan, mesh, rank, "the part is not the index map's");
    }
    if (!bit_equal(locals[rank], locals[first_of_replicas(plan, mesh, coordinate)]))
      return differs(plan, mesh, rank, "replicas differ");
  }
  return {};
}

// The whole states that the locals are shards of, one a place among the mesh dims of partials.
std::vector<std::vector<Tensor>> whole_states(const Plan& plan, const Mesh& mesh,
                                              const std::vector<Tensor>& globals,
                                              const GroupLocals& locals) {
  const std::vector<int> mesh_dims = partial_dims(plan.to);
  std::vector<std::vector<Tensor>> states(size_over(mesh_dims, mesh));
  for (std::vector<Tensor>& state : states) {
    for (const Tensor& global : globals)
      state.push_back(Tensor::zeros(global.dtype(), global.shape()));
  }
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    if (rank != first_of_replicas(plan, mesh, coordinate)) continue;
    const int64_t part = part_at(mesh_dims, coordinate, mesh);
    for (size_t tensor = 0; tensor < globals.size(); ++tensor) {
      const IndexMap map = index_map(globals[tensor].shape(), plan.to, mesh, coordinate);
      scatter_elements(locals[tensor][rank], map, states[part][tensor]);
    }
  }
  return states;
}

Status compare(const Plan& plan, const Mesh& mesh, const PartialKind* kind,
               const DrawnSource& drawn, const GroupLocals& locals) {
  std::vector<Tensor> joined;
  for (size_t tensor = 0; tensor < locals.size(); ++tensor) {
    const Tensor& global = drawn.globals[tensor];
    if (Status status = compare_locals(plan, mesh, global, locals[tensor]); !status.ok())
      return status;
    if (kind != nullptr || partial_dims(plan.to).empty()) continue;
    Result<Tensor> one = join(locals[tensor], global.shape(), plan.to, mesh);
    if (!one.ok()) return one.status();
    joined.push_back(*std::move(one));
  }
  if (partial_dims(plan.to).empty()) return {};
  if (kind != nullptr) {
    Result<std::vector<Tensor>> merged =
        merge_parts(*kind, whole_states(plan, mesh, drawn.globals, locals));
    if (!merged.ok()) return merged.status();
    joined = *std::move(merged);
  }
  for (size_t tensor = 0; tensor < joined.size(); ++tensor) {
    if (!bit_equal(joined[tensor], drawn.globals[tensor]))
      return differs(plan, mesh, 0, "the partials give another value");
  }
  return {};
}

// The kind of a pack that the plan's ends name, or null.
Result<const PartialKind*> joint_kind(const Plan& plan, const KindLookup& kinds) {
  for (const Layout* layout : {&plan.from, &plan.to}) {
    for (const Placement& placement : layout->placements) {
      if (!placement.is_partial() || is_builtin_partial(placement.partial)) continue;
      if (!kinds) {
        return unimplemented("a check of {}: only built-in partial kinds are drawn",
                             format_placement(placement));
      }
      const PartialKind* kind = kinds(placement.partial);
      if (kind != nullptr) return kind;
      return invalid_argument("a check of {}: no pack offers the partial kind {}",
                              format_placement(placement), placement.partial);
    }
  }
  return nullptr;
}

Status check_size(std::span<const TensorMeta> group, const Mesh& mesh) {
  if (mesh.rank_count() > kMostRanks) {
    return invalid_argument("a check runs at most {} ranks, the mesh has {}; use a smaller mesh",
                            kMostRanks, mesh.rank_count());
  }
  int64_t bytes = 0;
  for (const TensorMeta& meta : group) bytes += meta.bytes();
  if (bytes <= kMostBytes / mesh.rank_count()) return {};
  return invalid_argument(
      "a check holds the tensor on all {} ranks, {} bytes each; at most {} in all are supported, "
      "use a smaller tensor",
      mesh.rank_count(), bytes, kMostBytes);
}

}  // namespace

Status check_plan(const Plan& plan, std::span<const TensorMeta> group, const Mesh& mesh,
                  uint64_t seed, const KindLookup& kinds) {
  return check_plan(plan, group, mesh, seed, run_plan, kinds);
}

Status check_plan(const Plan& plan, std::span<const TensorMeta> group, const Mesh& mesh,
                  uint64_t seed, const PlanRunner& run, const KindLookup& kinds) {
  if (Status status = check_size(group, mesh); !status.ok()) return status;
  const Result<const PartialKind*> kind = joint_kind(plan, kinds);
  if (!kind.ok()) return kind.status();
  Result<DrawnSource> drawn = draw_source(plan, group, mesh, *kind, seed);
  if (!drawn.ok()) return drawn.status();
  RunSetting setting{mesh, {}, kinds};
  for (const TensorMeta& meta : group) setting.shapes.push_back(meta.shape);
  const Result<GroupLocals> result = run(plan, setting, std::move(drawn->locals));
  if (!result.ok()) return result.status();
  return compare(plan, mesh, *kind, *drawn, *result);
}

}  // namespace onedim
