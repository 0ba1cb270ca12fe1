#include "index_space.hpp"

namespace indexing {

bool IndexSpace::is_injective() const {
  std::vector<bool> is_seen(sizes.size(), false);
  for (const Coordinate& coordinate : coordinates) {
    if (coordinate.space_dim >= 0) is_seen[static_cast<size_t>(coordinate.space_dim)] = true;
  }
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (!is_seen[dim] && sizes[dim] != 1 && !is_masked(dim)) return false;
  }
  return true;
}

const Coordinate* IndexSpace::along(size_t space_dim) const {
  for (const Coordinate& coordinate : coordinates) {
    if (coordinate.space_dim == static_cast<int>(space_dim)) return &coordinate;
  }
  return nullptr;
}

TensorView tensor_of(const Call& call, const Part& part) {
  return part.is_output ? call.output(part.slot) : call.input(part.slot);
}

int64_t global_size(const Call& call, const Part& part, int dim) {
  return dim < 0 ? 1 : call.global_size(part.is_output, part.slot, dim);
}

Shape global_shape(const Call& call, const Part& part) {
  Shape shape;
  for (int dim = 0; dim < tensor_of(call, part).ndim(); ++dim)
    shape.push_back(global_size(call, part, dim));
  return shape;
}

int64_t volume(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

Part input_part(const Call& call, std::string_view name) {
  Part part;
  if (call.has_tensor(name)) part.slot = call.slot(name);
  return part;
}

Part parallel(const Call& call, Part part, size_t space_dims) {
  part.dims.assign(space_dims, -1);
  const int ndim = part.present() ? tensor_of(call, part).ndim() : 0;
  for (int dim = 0; dim < ndim; ++dim) part.dims[static_cast<size_t>(dim)] = dim;
  return part;
}

Part broadcasting(const Call& call, Part part, size_t space_dims, size_t end) {
  part.dims.assign(space_dims, -1);
  const int ndim = part.present() ? tensor_of(call, part).ndim() : 0;
  for (int dim = 0; dim < ndim; ++dim) {
    const size_t space_dim = end - static_cast<size_t>(ndim - dim);
    if (global_size(call, part, dim) != 1) part.dims[space_dim] = dim;
  }
  return part;
}

void require_index(const TensorView& index, IndexDTypes dtypes) {
  const bool is_fine =
      index.present() && (index.dtype() == DType::kI64 ||
                          (dtypes == IndexDTypes::kI64OrI32 && index.dtype() == DType::kI32));
  if (is_fine) return;
  const std::string expected = dtypes == IndexDTypes::kI64 ? "an i64" : "an i64 or i32";
  fail("the index is " + std::string(index.present() ? name_of(index.dtype()) : "absent") +
       ", expected " + expected + " tensor");
}

}  // namespace indexing
