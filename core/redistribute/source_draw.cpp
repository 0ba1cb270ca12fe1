#include "core/redistribute/source_draw.hpp"

#include "core/layout/memory_order.hpp"
#include "core/layout/partition.hpp"
#include "core/redistribute/joint_draw.hpp"

namespace onedim {
namespace {

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

// Lays out, for each rank, the part that stands at its place among the mesh dims of partials.
std::vector<Tensor> place_parts(const Plan& plan, const std::vector<int>& mesh_dims,
                                std::span<const Tensor> parts, const Mesh& mesh) {
  std::vector<Tensor> locals;
  for (int64_t rank = 0; rank < mesh.rank_count(); ++rank) {
    const Dims coordinate = mesh.coordinate_of(rank);
    const int64_t part = part_at(mesh_dims, coordinate, mesh);
    const Tensor local =
        gather_elements(parts[part], index_map(parts[part].shape(), plan.from, mesh, coordinate));
    locals.push_back(Tensor::zeros({local.dtype(), local.shape(),
                                    strides_with_outermost(local.shape(), plan.from_outermost)}));
    copy_elements(local, locals.back());
  }
  return locals;
}

DrawnSource draw_built_in(const Plan& plan, std::span<const TensorMeta> group, const Mesh& mesh,
                          Random& random) {
  DrawnSource drawn;
  for (const TensorMeta& meta : group) {
    const Draw draw = plan_draw(plan, meta.dtype, mesh);
    std::vector<Tensor> parts;
    for (int64_t part = 0; part < draw.part_count; ++part)
      parts.push_back(draw_tensor(draw, meta.shape, part, random));
    drawn.locals.push_back(place_parts(plan, draw.mesh_dims, parts, mesh));
    const bool adds = is_linear_partial(draw.kind);
    drawn.globals.push_back(draw.kind.empty() ? parts[0]
                            : adds            ? average_elements(parts, draw.divisor)
                                              : reduce_elements(parts, draw.kind));
  }
  return drawn;
}

Result<DrawnSource> draw_joint(const Plan& plan, std::span<const TensorMeta> group,
                               const PartialKind& kind, const Mesh& mesh, Random& random) {
  const std::vector<int> mesh_dims = partial_dims(plan.from);
  Result<JointParts> states = draw_joint_parts(kind, group, size_over(mesh_dims, mesh), random);
  if (!states.ok()) return states.status();
  DrawnSource drawn;
  drawn.globals = std::move(states->merged);
  for (size_t tensor = 0; tensor < group.size(); ++tensor) {
    std::vector<Tensor> parts;
    for (const std::vector<Tensor>& state : states->parts) parts.push_back(state[tensor]);
    drawn.locals.push_back(place_parts(plan, mesh_dims, parts, mesh));
  }
  return drawn;
}

}  // namespace

std::vector<int> partial_dims(const Layout& layout) {
  std::vector<int> mesh_dims;
  for (size_t d = 0; d < layout.placements.size(); ++d) {
    if (layout.placements[d].is_partial()) mesh_dims.push_back(static_cast<int>(d));
  }
  return mesh_dims;
}

int64_t size_over(const std::vector<int>& mesh_dims, const Mesh& mesh) {
  int64_t size = 1;
  for (const int d : mesh_dims) size *= mesh.size(d);
  return size;
}

int64_t part_at(const std::vector<int>& mesh_dims, const Dims& coordinate, const Mesh& mesh) {
  int64_t part = 0;
  for (const int d : mesh_dims) part = part * mesh.size(d) + coordinate[d];
  return part;
}

Result<DrawnSource> draw_source(const Plan& plan, std::span<const TensorMeta> group,
                                const Mesh& mesh, const PartialKind* kind, uint64_t seed) {
  Random random(seed);
  if (kind != nullptr) return draw_joint(plan, group, *kind, mesh, random);
  return draw_built_in(plan, group, mesh, random);
}

}  // namespace onedim
