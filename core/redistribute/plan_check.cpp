#include "core/redistribute/plan_check.hpp"

#include <random>

#include "core/layout/memory_order.hpp"
#include "core/layout/partition.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr int64_t kMostRanks = 4096;  // each is compared with its group

// Integers up to this are exact; 0: any, as arithmetic wraps.
int64_t exact_limit(DType dtype) {
  if (is_integral(dtype) || dtype == DType::kBool) return 0;
  if (dtype == DType::kF8E8M0) return 1;
  const double epsilon = epsilon_of(dtype);
  return static_cast<int64_t>(2 / epsilon);
}

// The partials of the source and how values must be drawn for them.
struct Draw {
  std::string_view kind;  // "" without partials
  std::vector<int> mesh_dims;
  int64_t part_count = 1;  // independent values
  int64_t divisor = 1;     // of the average
  int64_t multiple = 1;    // values are multiples of it
  int64_t most = 1000;     // times `multiple`
  DType dtype = DType::kF32;
};

Draw plan_draw(const Plan& plan, DType dtype, const Mesh& mesh) {
  Draw draw;
  draw.dtype = dtype;
  int64_t growth = 1;
  for (int d = 0; d < mesh.ndim(); ++d) {
    const Placement &from = plan.from.placements[d], &to = plan.to.placements[d];
    if (is_linear_partial(from.partial) || is_linear_partial(to.partial)) growth *= mesh.size(d);
    if (!from.is_partial()) continue;
    draw.kind = from.partial;
    draw.mesh_dims.push_back(d);
    draw.part_count *= mesh.size(d);
    if (from.is_partial("avg")) draw.divisor *= mesh.size(d);
  }
  bool averages = false;
  for (const Layout* layout : {&plan.from, &plan.to}) {
    for (const Placement& placement : layout->placements) averages |= placement.is_partial("avg");
  }
  if (averages) draw.multiple = growth;
  const int64_t limit = exact_limit(dtype);
  if (limit == 0 || draw.kind == "product") return draw;
  const bool adds = growth > 1;
  draw.most = std::min<int64_t>(1000, adds ? limit / (draw.multiple * growth * growth) : limit);
  if (draw.most < 2 && adds) {
    draw.dtype = DType::kF64;
    draw.most = 1000;
  }
  return draw;
}

using Random = std::mt19937_64;

Tensor draw_tensor(const Draw& draw, const Dims& shape, int64_t part, Random& random) {
  Tensor tensor = Tensor::zeros(draw.dtype, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const auto bits = static_cast<int64_t>(random() >> 2);
    int64_t value = (1 + bits % std::max<int64_t>(1, draw.most)) * draw.multiple;
    if (draw.kind == "product") value = part < 5 ? 1 + bits % 2 : 1;
    if (draw.dtype == DType::kF8E8M0) value = int64_t{1} << bits % (draw.kind == "product" ? 2 : 6);
    if (is_complex(draw.dtype)) {
      store_complex(
          draw.dtype, tensor.element(i),
          {static_cast<double>(value), draw.kind == "product" ? 0.0 : double(draw.multiple)});
    } else if (is_floating(draw.dtype)) {
      store_real(draw.dtype, tensor.element(i), static_cast<double>(value));
    } else {
      store_integer(draw.dtype, tensor.element(i), draw.dtype == DType::kBool ? bits & 1 : value);
    }
  }
  return tensor;
}

struct Drawn {
  std::vector<Tensor> locals;
  Tensor global;
};

Drawn draw_source(const Plan& plan, const Draw& draw, const Dims& shape, const Mesh& mesh,
                  Random& random) {
  std::vector<Tensor> parts;
  for (int64_t part = 0; part < draw.part_count; ++part)
    parts.push_back(draw_tensor(draw, shape, part, random));
  Drawn drawn;
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    int64_t part = 0;
    for (int d : draw.mesh_dims) part = part * mesh.size(d) + coordinate[d];
    const Tensor local =
        gather_elements(parts[part], index_map(shape, plan.from, mesh, coordinate));
    drawn.locals.push_back(
        Tensor::zeros({local.dtype(), local.shape(),
                       strides_with_outermost(local.shape(), plan.from_outermost)}));
    copy_elements(local, drawn.locals.back());
  }
  const bool adds = is_linear_partial(draw.kind);
  drawn.global = draw.kind.empty() ? parts[0]
                 : adds            ? average_elements(parts, draw.divisor)
                                   : reduce_elements(parts, draw.kind);
  return drawn;
}

Status differs(const Plan& plan, const Mesh& mesh, int64_t rank, std::string_view what) {
  return absl::InternalError(
      fmt::format("plan {} -> {}: {} at coordinate {}", format_layout(plan.from, mesh),
                  format_layout(plan.to, mesh), what, format_dims(mesh.coordinate_of(rank))));
}

Status compare(const Plan& plan, const Mesh& mesh, const Tensor& global,
               std::span<const Tensor> locals) {
  bool has_partial = false;
  for (const Placement& placement : plan.to.placements) has_partial |= placement.is_partial();
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    Dims coordinate = mesh.coordinate_of(rank);
    if (!lies_with_outermost(locals[rank].shape(), locals[rank].strides(), plan.to_outermost))
      return differs(plan, mesh, rank, "the memory order is not the target's");
    if (!has_partial) {
      const IndexMap map = index_map(global.shape(), plan.to, mesh, coordinate);
      if (bit_equal(locals[rank], gather_elements(global, map))) continue;
      return differs(plan, mesh, rank, "the part is not the index map's");
    }
    for (int d = 0; d < mesh.ndim(); ++d) {
      if (plan.to.placements[d].is_replicate()) coordinate[d] = 0;
    }
    if (!bit_equal(locals[rank], locals[mesh.rank_of(coordinate)]))
      return differs(plan, mesh, rank, "replicas differ");
  }
  if (!has_partial) return {};
  const Result<Tensor> joined = join(locals, global.shape(), plan.to, mesh);
  if (!joined.ok()) return joined.status();
  return bit_equal(*joined, global) ? absl::OkStatus()
                                    : differs(plan, mesh, 0, "the partials give another value");
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
                  uint64_t seed) {
  return check_plan(plan, group, mesh, seed, run_plan);
}

Status check_plan(const Plan& plan, std::span<const TensorMeta> group, const Mesh& mesh,
                  uint64_t seed, const PlanRunner& run) {
  if (Status status = check_size(group, mesh); !status.ok()) return status;
  for (const Layout* layout : {&plan.from, &plan.to}) {
    for (const Placement& placement : layout->placements) {
      if (placement.is_partial() && !is_builtin_partial(placement.partial))
        return unimplemented("a check of {}: only built-in partial kinds are drawn",
                             format_placement(placement));
    }
  }
  Random random(seed);
  RunSetting setting{mesh, {}, {}};
  GroupLocals locals;
  std::vector<Tensor> globals;
  for (const TensorMeta& meta : group) {
    Drawn drawn = draw_source(plan, plan_draw(plan, meta.dtype, mesh), meta.shape, mesh, random);
    setting.shapes.push_back(meta.shape);
    locals.push_back(std::move(drawn.locals));
    globals.push_back(std::move(drawn.global));
  }
  const Result<GroupLocals> result = run(plan, setting, std::move(locals));
  if (!result.ok()) return result.status();
  for (size_t tensor = 0; tensor < group.size(); ++tensor) {
    if (Status status = compare(plan, mesh, globals[tensor], (*result)[tensor]); !status.ok())
      return status;
  }
  return {};
}

}  // namespace onedim
