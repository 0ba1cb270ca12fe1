#pragma once
// Positions: where a local tensor's elements stand in the global one, and what shape a local output
// has when no argument says so. For position-aware ops; on whole tensors local and global agree.
//   f64[5] as S(0) over 2 ranks: rank 1 holds two elements, at global indices 3 and 4

#include <onedim/dense.hpp>
#include <onedim/inline.hpp>
#include <onedim/sinks.hpp>

namespace onedim::api {

// The shape of an output here, `global` on the whole tensor. Infer may ask before the output is
// there.
ONEDIM_INLINE Shape local_output_shape(const Call& call, int slot, Shape global) {
  const onedim_location_t* at = call.location();
  if (at == nullptr) return global;
  const onedim_slot_location_t& where = at->outputs[slot];
  for (size_t dim = 0; dim < global.size(); ++dim) {
    global[dim] = 0;
    for (uint64_t i = where.interval_begins[dim]; i < where.interval_begins[dim + 1]; ++i)
      global[dim] += where.intervals[i].end - where.intervals[i].begin;
  }
  return global;
}

// The global index of every local index of one dim, whose length here is `length`.
ONEDIM_INLINE std::vector<int64_t> global_indices(const Call& call, bool is_output, int slot,
                                                  int dim, int64_t length) {
  std::vector<int64_t> indices;
  indices.reserve(static_cast<size_t>(length));
  const onedim_location_t* at = call.location();
  if (at == nullptr) {
    for (int64_t i = 0; i < length; ++i) indices.push_back(i);
    return indices;
  }
  const onedim_slot_location_t& where = (is_output ? at->outputs : at->inputs)[slot];
  for (uint64_t i = where.interval_begins[dim]; i < where.interval_begins[dim + 1]; ++i) {
    const onedim_interval_t& interval = where.intervals[i];
    for (int64_t index = interval.begin; index < interval.end; ++index) indices.push_back(index);
  }
  return indices;
}
ONEDIM_INLINE std::vector<int64_t> global_indices(const Call& call, bool is_output, int slot,
                                                  int dim) {
  const TensorView tensor = is_output ? call.output(slot) : call.input(slot);
  return global_indices(call, is_output, slot, dim, tensor.size(dim));
}

// The row-major index in the global tensor of every element of an output, in row-major order.
ONEDIM_INLINE std::vector<int64_t> global_linear_indices(const Call& call, int slot) {
  const TensorView out = call.output(slot);
  std::vector<int64_t> linear = {0};
  for (int dim = 0; dim < out.ndim(); ++dim) {
    const std::vector<int64_t> indices = global_indices(call, true, slot, dim);
    std::vector<int64_t> longer;
    longer.reserve(linear.size() * indices.size());
    for (const int64_t outer : linear) {
      for (const int64_t index : indices)
        longer.push_back(outer * call.global_size(true, slot, dim) + index);
    }
    linear = std::move(longer);
  }
  return linear;
}

}  // namespace onedim::api
