// y[i, j, ..] = x[a(i), b(j), ..]. A shard of an output dim d gives a rank some rows I; it needs
// the rows a(I). In step, a(I) = I, the input is placed alike. Else the input is whole, or lines up
// (a(I) is what the rank has), or is cut freely and each rank gives what it has as a part of a sum.
// A map is copied in stretches of rows that step evenly: roll f32[5] by 2 is rows {3,4,0,1,2}, two
// stretches; flip is one, backwards.

#include "movement.hpp"

#include "families.hpp"

namespace shape {
namespace {

struct Stretch {
  int64_t out, in, count, step;
};

std::vector<Stretch> stretches_of(const RowMap& rows) {
  std::vector<Stretch> stretches;
  const int64_t count = static_cast<int64_t>(rows.size());
  for (int64_t i = 0; i < count;) {
    if (rows[i] == kNoRow) {
      ++i;
      continue;
    }
    Stretch next{i, rows[i], 1, 1};
    if (i + 1 < count && rows[i + 1] != kNoRow) next.step = rows[i + 1] - rows[i];
    while (i + next.count < count && rows[i + next.count] == rows[i] + next.count * next.step)
      ++next.count;
    i += next.count;
    stretches.push_back(next);
  }
  return stretches;
}

// A dim's stretches; all rows at once where it is in step.
std::vector<Stretch> dim_stretches(const Call& call, const Source& source, int dim) {
  if (!source.dims[dim].in_step) return stretches_of(local_rows(call, source, dim));
  return {{0, 0, call.output().size(dim), 1}};
}

void copy_stretches(const std::vector<std::vector<Stretch>>& dims, size_t dim, Box from, Box to) {
  if (dim == dims.size()) return copy_box(from, to);
  for (const Stretch& stretch : dims[dim]) {
    Box part_from = from, part_to = to;
    part_from.data += stretch.in * from.strides[dim] * from.item;
    part_from.sizes[dim] = stretch.count;
    part_from.strides[dim] *= stretch.step;
    part_to.data += stretch.out * to.strides[dim] * to.item;
    part_to.sizes[dim] = stretch.count;
    copy_stretches(dims, dim + 1, std::move(part_from), std::move(part_to));
  }
}

void require_rows(const Call& call, const Movement& movement, const Source& source, int out_dim,
                  int in_dim) {
  if (in_dim < 0 || is_whole(call, source.slot, in_dim)) return;
  if (movement.sums_parts && is_summed(call, source.slot, in_dim)) return;
  bool has_all =
      out_dim >= 0 && (!movement.evenly || (has_even_share(call, false, source.slot, in_dim) &&
                                            has_even_share(call, true, 0, out_dim)));
  if (has_all) {
    const RowMap needed = rows_here(call, true, 0, out_dim, movement.shape[out_dim]);
    const RowMap here = local_rows(call, source, out_dim);
    for (size_t i = 0; i < here.size(); ++i)
      has_all = has_all && (here[i] != kNoRow || source.dims[out_dim].rows[needed[i]] == kNoRow);
  }
  if (has_all) return;
  fail("input " + std::to_string(source.slot) + " is cut on dim " + std::to_string(in_dim) +
       ", and rows that this rank needs lie elsewhere");
}

void require_all_rows(const Call& call, const Movement& movement) {
  for (const Source& source : movement.sources) {
    require_rows(call, movement, source, -1, source.picked_dim);
    for (int dim = 0; dim < static_cast<int>(source.dims.size()); ++dim) {
      if (!source.dims[dim].in_step)
        require_rows(call, movement, source, dim, source.dims[dim].in_dim);
    }
  }
}

}  // namespace

Source whole_source(const Call& call, int slot) {
  Source source{slot, {}};
  for (int dim = 0; dim < call.input(slot).ndim(); ++dim) source.dims.push_back({dim, true, {}, 1});
  return source;
}

DimSource rows_of(const Call& call, int slot, int in_dim, RowMap rows) {
  bool is_identity =
      in_dim >= 0 && static_cast<int64_t>(rows.size()) == call.global_size(false, slot, in_dim);
  for (size_t i = 0; is_identity && i < rows.size(); ++i)
    is_identity = rows[i] == static_cast<int64_t>(i);
  return {in_dim, is_identity, is_identity ? RowMap() : std::move(rows), 1};
}

RowMap local_rows(const Call& call, const Source& source, int out_dim) {
  const DimSource& dim = source.dims[out_dim];
  RowMap rows = rows_here(call, true, 0, out_dim, static_cast<int64_t>(dim.rows.size()));
  RowMap local;
  if (dim.in_dim >= 0) local = local_row_of_each(call, false, source.slot, dim.in_dim);
  for (int64_t& row : rows) {
    const int64_t from = dim.rows[row];
    row = from == kNoRow || local.empty() ? from : local[from];
  }
  return rows;
}

Shape local_shape(const Call& call, const Movement& movement) {
  require_all_rows(call, movement);
  Shape shape = movement.shape;
  for (int dim = 0; dim < static_cast<int>(shape.size()); ++dim) {
    const auto follows = [&](const Source& source) { return source.dims[dim].in_step; };
    const auto source = std::find_if(movement.sources.begin(), movement.sources.end(), follows);
    shape[dim] = source != movement.sources.end()
                     ? call.input(source->slot).size(source->dims[dim].in_dim)
                     : static_cast<int64_t>(rows_here(call, true, 0, dim, shape[dim]).size());
  }
  return shape;
}

void movement_rules(const Call& call, RuleSink& rules, const Movement& movement) {
  for (int dim = 0; dim < static_cast<int>(movement.shape.size()); ++dim) {
    std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), replicate());
    for (const Source& source : movement.sources) {
      if (source.dims[dim].in_step) inputs[source.slot] = any_shard(source.dims[dim].in_dim);
    }
    add_with_unread(call, rules, any_shard(dim), inputs, movement.unread);
  }
  std::vector<Placement> replicas(static_cast<size_t>(call.input_count()), replicate());
  add_with_unread(call, rules, replicate(), std::move(replicas), movement.unread);
}

void run_source(const Call& call, const Source& source, const Box& from) {
  const Box to = box_of(call.output());
  Box ordered{from.data, from.item, to.sizes, Shape(to.sizes.size(), 0)};
  if (source.picked_dim >= 0) {
    const RowMap local = local_row_of_each(call, false, source.slot, source.picked_dim);
    const int64_t row = local[source.picked_row];
    if (row == kNoRow) return;
    ordered.data += row * from.strides[source.picked_dim] * from.item;
  }
  std::vector<std::vector<Stretch>> dims;
  for (int dim = 0; dim < static_cast<int>(source.dims.size()); ++dim) {
    dims.push_back(dim_stretches(call, source, dim));
    if (source.dims[dim].in_dim >= 0) ordered.strides[dim] = from.strides[source.dims[dim].in_dim];
  }
  copy_stretches(dims, 0, ordered, to);
}

void run_movement(const Call& call, const Movement& movement) {
  for (const Source& source : movement.sources)
    run_source(call, source, box_of(call.input(source.slot)));
}

Movement with_rows(const Call& call, std::vector<std::optional<RowMap>> rows) {
  Movement movement{global_shape(call, 0), {whole_source(call, 0)}, false, false, {}};
  for (int dim = 0; dim < call.input(0).ndim(); ++dim) {
    if (!rows[dim]) continue;
    movement.shape[dim] = static_cast<int64_t>(rows[dim]->size());
    movement.sources[0].dims[dim] = rows_of(call, 0, dim, *std::move(rows[dim]));
  }
  return movement;
}

OpBuilder& declare_movement(Registrar& r, std::string_view schema, MovementFn movement, GapFn gap) {
  return r.op(schema)
      .position_aware()
      .infer([movement](const Call& call, OutputSink& outputs) {
        outputs.add(call.input(0).dtype(), local_shape(call, movement(call)));
      })
      .rules([movement](const Call& call, RuleSink& rules) {
        movement_rules(call, rules, movement(call));
      })
      .compute(kAllDTypes, [movement, gap](const Call& call, const onedim_execution_t&) {
        if (gap != nullptr) fill_box(box_of(call.output()), gap(call).data());
        run_movement(call, movement(call));
      });
}

}  // namespace shape
