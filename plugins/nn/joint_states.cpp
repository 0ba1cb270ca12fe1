#include "joint_states.hpp"

namespace nn {
namespace {

const onedim_slot_location_t& location_of(const onedim_location_t& at, const TensorDim& where) {
  return (where.is_output ? at.outputs : at.inputs)[where.slot];
}

std::span<const onedim_interval_t> intervals_of(const onedim_location_t& at,
                                                const TensorDim& where) {
  const onedim_slot_location_t& slot = location_of(at, where);
  const uint64_t first = slot.interval_begins[where.dim];
  return {slot.intervals + first, slot.interval_begins[where.dim + 1] - first};
}

bool is_within(const onedim_location_t& at, const TensorDim& of, const TensorDim& in) {
  int64_t length = 0, common = 0;
  for (const onedim_interval_t& own : intervals_of(at, of)) {
    length += own.end - own.begin;
    for (const onedim_interval_t& there : intervals_of(at, in)) {
      const int64_t begin = std::max(own.begin, there.begin), end = std::min(own.end, there.end);
      common += std::max<int64_t>(0, end - begin);
    }
  }
  return common == length;
}

std::vector<int64_t> indices_of(const Call& call, const TensorDim& where) {
  const bool is_whole = call.location() == nullptr;
  const int64_t length = is_whole ? call.global_size(where.is_output, where.slot, where.dim) : 0;
  return global_indices(call, where.is_output, where.slot, where.dim, length);
}

constexpr const char* kMissing =
    "a rank lacks elements that go with its part of another tensor: the two are not cut alike";

}  // namespace

bool has_joint(const Call& call, int output) {
  const onedim_location_t* at = call.location();
  for (int dim = 0; at != nullptr && dim < at->mesh_ndim; ++dim) {
    const Placement& placement = at->outputs[output].placements[dim];
    if (placement.kind == ONEDIM_PLACEMENT_PARTIAL && view_of(placement.partial).starts_with("nn."))
      return true;
  }
  return false;
}

Shape global_shape(const Call& call, std::string_view name) {
  Shape shape = shape_of(call.tensor(name));
  for (size_t dim = 0; dim < shape.size(); ++dim)
    shape[dim] = call.global_size(false, call.slot(name), static_cast<int>(dim));
  return shape;
}

std::vector<int64_t> places(const Call& call, const TensorDim& of, const TensorDim& in) {
  std::vector<int64_t> local(static_cast<size_t>(call.global_size(in.is_output, in.slot, in.dim)),
                             -1);
  int64_t next = 0;
  for (const int64_t index : indices_of(call, in)) local[static_cast<size_t>(index)] = next++;
  std::vector<int64_t> at = indices_of(call, of);
  for (int64_t& index : at) index = local[static_cast<size_t>(index)];
  return at;
}

std::vector<int64_t> flat_places(const std::vector<std::vector<int64_t>>& dims,
                                 std::span<const int64_t> sizes) {
  std::vector<int64_t> flat = {0};
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    std::vector<int64_t> longer;
    longer.reserve(flat.size() * dims[dim].size());
    for (const int64_t outer : flat) {
      for (const int64_t place : dims[dim])
        longer.push_back(outer < 0 || place < 0 ? -1 : outer * sizes[dim] + place);
    }
    flat = std::move(longer);
  }
  return flat;
}

std::vector<double> pick(const std::vector<double>& values, const std::vector<int64_t>& at) {
  std::vector<double> picked;
  picked.reserve(at.size());
  for (const int64_t place : at) {
    require(place >= 0, kMissing);
    picked.push_back(values[static_cast<size_t>(place)]);
  }
  return picked;
}

void require_within(const Call& call, const TensorDim& of, const TensorDim& in) {
  const onedim_location_t* at = call.location();
  if (at != nullptr) require(is_within(*at, of, in), kMissing);
}

void accept_covering(const Call& call, const TensorDim& part, const TensorDim& result) {
  const onedim_location_t* at = call.location();
  if (at == nullptr || at->mesh_ndim < 2) return;
  const uint64_t by_part = cutting_mesh_dims(*at, part), by_result = cutting_mesh_dims(*at, result);
  const uint64_t both = by_part & by_result;
  if (both == 0) return;
  const bool merges = by_part != both;
  const bool meets =
      merges ? both == by_result && is_within(*at, part, result) : is_within(*at, result, part);
  require(meets, kMissing);
}

void add_states(std::span<const onedim_tensor_t> into, std::span<const onedim_tensor_t> from) {
  for (size_t i = 0; i < into.size(); ++i) {
    const TensorView to(&into[i]);
    std::vector<double> sum = load(to);
    const std::vector<double> other = load(TensorView(&from[i]));
    for (size_t e = 0; e < sum.size(); ++e) sum[e] += other[e];
    store(sum, to);
  }
}

}  // namespace nn
