#include "spaces.hpp"

namespace indexing {

int dim_argument(const Call& call, const TensorView& table) {
  return wrap_dim(call.attribute<int64_t>("dim"), table.ndim());
}

int64_t index_count(const Call& call) {
  const Part index = input_part(call, "index");
  return volume(global_shape(call, index));
}

IndexSpace elementwise_space(const Call& call, Part table, Part items) {
  const Part index = input_part(call, "index");
  const TensorView tensor = tensor_of(call, table);
  const int dim = dim_argument(call, tensor);
  IndexSpace space;
  space.sizes = global_shape(call, index);
  space.table = std::move(table);
  if (volume(space.sizes) == 0) {  // of any number of dims
    space.sizes = {0};
    space.indices.push_back({{false, index.slot, {-1}, false}, false});
    space.items = std::move(items);
    space.items.dims = {-1};
    return space;
  }
  const size_t ndim = space.sizes.size();
  space.indices.push_back({parallel(call, index, ndim), false});
  space.items = parallel(call, std::move(items), ndim);
  for (int own = 0; own < std::max<int>(1, static_cast<int>(ndim)); ++own) {
    const int table_dim = tensor.ndim() > 0 ? own : -1;
    if (own == dim)
      space.coordinates.push_back({table_dim, 0, 0, -1});
    else
      space.coordinates.push_back({table_dim, -1, 0, own});
  }
  return space;
}

void check_elementwise(const Call& call, IndexDTypes dtypes) {
  const Part index = input_part(call, "index"), self = input_part(call, "self");
  const int dim = dim_argument(call, tensor_of(call, self));
  require(index.present(), "there is no index");
  const Shape of_index = global_shape(call, index), of_self = global_shape(call, self);
  if (volume(of_index) == 0) return;
  require_index(tensor_of(call, index), dtypes);
  if (std::max<size_t>(1, of_index.size()) != std::max<size_t>(1, of_self.size())) {
    fail("the index has " + std::to_string(of_index.size()) + " dims, expected as many as self, " +
         std::to_string(of_self.size()));
  }
  for (size_t own = 0; own < std::min(of_index.size(), of_self.size()); ++own) {
    if (static_cast<int>(own) == dim || of_index[own] <= of_self[own]) continue;
    fail("the index " + format_shape(of_index) + " is longer than self " + format_shape(of_self) +
         " on dim " + std::to_string(own) + ", expected that on dim " + std::to_string(dim) +
         " only");
  }
}

IndexSpace slice_space(const Call& call, Part table, Part items) {
  const TensorView tensor = tensor_of(call, table);
  const size_t dim = static_cast<size_t>(dim_argument(call, tensor));
  IndexSpace space;
  space.sizes = global_shape(call, table);
  if (tensor.ndim() == 0) space.sizes = {1};  // a 0-dim tensor counts as one slice
  const size_t ndim = space.sizes.size();
  space.sizes[dim] = index_count(call);
  IndexPart index{input_part(call, "index"), false};
  const bool is_vector = tensor_of(call, index).ndim() > 0;
  index.dims.assign(ndim, -1);
  if (is_vector) index.dims[dim] = 0;
  space.indices.push_back(std::move(index));
  space.items = parallel(call, std::move(items), ndim);
  space.table = std::move(table);
  for (size_t own = 0; own < ndim; ++own) {
    const int table_dim = tensor.ndim() > 0 ? static_cast<int>(own) : -1;
    if (own == dim)
      space.coordinates.push_back({table_dim, 0, 0, -1});
    else
      space.coordinates.push_back({table_dim, -1, 0, static_cast<int>(own)});
  }
  return space;
}

void check_slices(const Call& call, IndexDTypes dtypes) {
  dim_argument(call, call.tensor("self"));
  const TensorView index = call.tensor("index");
  require_index(index, dtypes);
  if (index.ndim() > 1) {
    fail("the index has " + std::to_string(index.ndim()) + " dims, expected at most one");
  }
}

}  // namespace indexing
