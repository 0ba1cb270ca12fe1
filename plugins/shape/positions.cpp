// Index maps as tables: f32[7]@S(0) over 2 ranks has rows 0:4 and 4:7, so on rank 1 rows_here is
// {4,5,6} and local_row_of_each is {-,-,-,-,0,1,2}. Where a rank lacks rows and gives 0 for them,
// its output is a part of a sum; of booleans and unsigned integers, also of a maximum.

#include "positions.hpp"

#include <numeric>

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

}  // namespace

Shape global_shape(const Call& call, int slot) {
  Shape shape;
  for (int dim = 0; dim < call.input(slot).ndim(); ++dim)
    shape.push_back(call.global_size(false, slot, dim));
  return shape;
}

RowMap rows_here(const Call& call, bool is_output, int slot, int dim, int64_t whole) {
  constexpr int64_t kMostRows = int64_t{1} << 26;  // tables of half a GB
  if (whole > kMostRows) {
    fail("dim " + std::to_string(dim) + " has " + std::to_string(whole) + " rows, more than the " +
         std::to_string(kMostRows) + " whose places are followed one by one");
  }
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

bool has_even_share(const Call& call, bool is_output, int slot, int dim) {
  const onedim_location_t* at = call.location();
  if (at == nullptr) return true;
  const onedim_slot_location_t& where = (is_output ? at->outputs : at->inputs)[slot];
  int64_t parts = 1;
  for (int mesh_dim = 0; mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (is_shard_of(where.placements[mesh_dim], dim)) parts *= at->mesh_shape[mesh_dim];
  }
  const int64_t whole = where.global_shape[dim];
  const RowMap here = rows_here(call, is_output, slot, dim, whole);
  return static_cast<int64_t>(here.size()) * parts == whole;
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

}  // namespace shape
