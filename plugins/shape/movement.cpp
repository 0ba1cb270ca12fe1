// y[i, j, ..] = x[a(i), b(j), ..]. A shard of an output dim d gives a rank some rows I; it needs
// the rows a(I). In step, a(I) = I, the input is placed alike. Else the input is whole, or lines up
// (a(I) is what the rank has), or is cut freely and each rank gives what it has as a part of a sum.
// A map is copied in stretches of rows that step evenly: roll f32[5] by 2 is rows {3,4,0,1,2}, two
// stretches; flip is one, backwards.

#include "movement.hpp"

#include <numeric>

#include "families.hpp"

namespace shape {
namespace {

bool is_shard_of(const onedim_placement_t& placement, int dim) {
  const bool is_shard =
      placement.kind == ONEDIM_PLACEMENT_SHARD || placement.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
  return is_shard && placement.dim == dim;
}

// Whether zeros from other ranks leave a value as it is.
bool takes_zeros(std::string_view kind, DType dtype) {
  if (kind == "sum") return is_legal_partial(kind, dtype);
  return kind == "max" && (is_bool(dtype) || dtype == DType::kU8);
}

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

// Whether this rank has as much of a dim as every rank has where all cuts divide.
bool has_even_share(const Call& call, bool is_output, int slot, int dim) {
  const onedim_location_t* at = call.location();
  const onedim_slot_location_t& where = (is_output ? at->outputs : at->inputs)[slot];
  int64_t parts = 1;
  for (int mesh_dim = 0; mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (is_shard_of(where.placements[mesh_dim], dim)) parts *= at->mesh_shape[mesh_dim];
  }
  const int64_t whole = where.global_shape[dim];
  const RowMap here = rows_here(call, is_output, slot, dim, whole);
  return static_cast<int64_t>(here.size()) * parts == whole;
}

void require_rows(const Call& call, const Movement& movement, const Source& source, int out_dim,
                  int in_dim) {
  if (in_dim < 0 || is_whole(call, source.slot, in_dim)) return;
  if (movement.sums_parts && is_summed(call, source.slot, in_dim)) return;
  const bool may_line_up =
      movement.lines_up == LinesUp::kAlways ||
      (movement.lines_up == LinesUp::kWhereEven && out_dim >= 0 &&
       has_even_share(call, false, source.slot, in_dim) && has_even_share(call, true, 0, out_dim));
  if (may_line_up && out_dim >= 0) {
    const RowMap needed = rows_here(call, true, 0, out_dim, movement.shape[out_dim]);
    const RowMap here = local_rows(call, source, out_dim);
    bool has_all = true;
    for (size_t i = 0; i < here.size(); ++i)
      has_all = has_all && (here[i] != kNoRow || source.dims[out_dim].rows[needed[i]] == kNoRow);
    if (has_all) return;
  }
  fail("input " + std::to_string(source.slot) + " is cut on dim " + std::to_string(in_dim) +
       ", and rows that this rank needs lie elsewhere");
}

}  // namespace

Source whole_source(const Call& call, int slot) {
  Source source{slot, {}};
  for (int dim = 0; dim < call.input(slot).ndim(); ++dim) source.dims.push_back({dim, true, {}});
  return source;
}

DimSource rows_of(const Call& call, int slot, int in_dim, RowMap rows) {
  bool is_identity =
      in_dim >= 0 && static_cast<int64_t>(rows.size()) == call.global_size(false, slot, in_dim);
  for (size_t i = 0; is_identity && i < rows.size(); ++i)
    is_identity = rows[i] == static_cast<int64_t>(i);
  return {in_dim, is_identity, is_identity ? RowMap() : std::move(rows)};
}

RowMap rows_here(const Call& call, bool is_output, int slot, int dim, int64_t whole) {
  RowMap rows;
  const onedim_location_t* at = call.location();
  if (at == nullptr) {
    rows.resize(static_cast<size_t>(whole));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  const onedim_slot_location_t& where = (is_output ? at->outputs : at->inputs)[slot];
  for (uint64_t i = where.interval_begins[dim]; i < where.interval_begins[dim + 1]; ++i) {
    for (int64_t row = where.intervals[i].begin; row < where.intervals[i].end; ++row)
      rows.push_back(row);
  }
  return rows;
}

RowMap local_row_of_each(const Call& call, bool is_output, int slot, int dim) {
  const int64_t whole = call.global_size(is_output, slot, dim);
  const RowMap here = rows_here(call, is_output, slot, dim, whole);
  RowMap local(static_cast<size_t>(whole), kNoRow);
  for (size_t i = 0; i < here.size(); ++i) local[here[i]] = static_cast<int64_t>(i);
  return local;
}

bool is_whole(const Call& call, int slot, int dim) {
  return call.input(slot).size(dim) == call.global_size(false, slot, dim);
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

void accept_movement(const Call& call, const Movement& movement) {
  for (const Source& source : movement.sources) {
    require_rows(call, movement, source, -1, source.picked_dim);
    for (int dim = 0; dim < static_cast<int>(source.dims.size()); ++dim) {
      if (!source.dims[dim].in_step)
        require_rows(call, movement, source, dim, source.dims[dim].in_dim);
    }
  }
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

bool is_summed(const Call& call, int slot, int dim) {
  const onedim_location_t* at = call.location();
  bool is_cut = false;
  for (int mesh_dim = 0; at != nullptr && mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (at->mesh_shape[mesh_dim] == 1) continue;
    if (!is_shard_of(at->inputs[slot].placements[mesh_dim], dim)) continue;
    const onedim_placement_t& output = at->outputs[0].placements[mesh_dim];
    if (output.kind != ONEDIM_PLACEMENT_PARTIAL ||
        !takes_zeros(view_of(output.partial), call.input(slot).dtype()))
      return false;
    is_cut = true;
  }
  return is_cut;
}

void part_of_sum_rules(const Call& call, RuleSink& rules, int slot, int dim) {
  for (std::string_view kind : {std::string_view("sum"), std::string_view("max")}) {
    if (!takes_zeros(kind, call.input(slot).dtype())) continue;
    std::vector<Placement> inputs(static_cast<size_t>(call.input_count()), replicate());
    inputs[slot] = any_shard(dim);
    const Placement output = partial(kind);
    rules.add(std::span(&output, 1), inputs);
  }
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
      .accept_local([movement](const Call& call) { accept_movement(call, movement(call)); })
      .compute(kAllDTypes, [movement, gap](const Call& call, const onedim_execution_t&) {
        if (gap != nullptr) fill_box(box_of(call.output()), gap(call).data());
        run_movement(call, movement(call));
      });
}

}  // namespace shape
