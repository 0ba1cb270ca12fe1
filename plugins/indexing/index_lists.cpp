// index and index_put: one index tensor a dim, absent ones keep their dim. The index tensors
// broadcast together; where they stand side by side their dims replace those they index, else they
// come first.
//
//   index(self [4,6,8], [-, a [5,1], b [3]])[i,k,l] = self[i, a[k,0], b[l]]      [4,5,3]
//   index(self [4,6,8], [a [5], -, b [5]])[k,i]     = self[a[k], i, b[k]]        [5,6]
//
// A bool mask stands for the places of its true elements. For index that makes a shape that only
// the data know, which is refused; index_put takes it.

#include "families.hpp"
#include "selecting.hpp"
#include "updating.hpp"

namespace indexing {
namespace {

// What the list says of each dim of self.
struct ListedDims {
  std::vector<IndexPart> indices;
  std::vector<Coordinate> of_dims;  // index -1: kept
  Shape index_sizes;                // of all index tensors together
  size_t first = 0;                 // J's dim where they stand
};

bool is_mask(const TensorView& index) {
  return is_bool(index.dtype()) || index.dtype() == DType::kU8;
}

Shape sizes_of_index(const Call& call, const IndexPart& part) {
  return part.is_mask ? Shape{kUnknownSize} : global_shape(call, part);
}

// As `broadcast`, where a mask's count, unknown, outweighs what it will have to equal.
Shape broadcast_sizes(const Shape& a, const Shape& b) {
  Shape known_a = a, known_b = b;
  const size_t ndim = std::max(a.size(), b.size());
  known_a.insert(known_a.begin(), ndim - a.size(), 1);
  known_b.insert(known_b.begin(), ndim - b.size(), 1);
  Shape sizes(ndim);
  for (size_t i = 0; i < ndim; ++i) {
    const bool is_unknown = known_a[i] == kUnknownSize || known_b[i] == kUnknownSize;
    sizes[i] = is_unknown ? kUnknownSize : 0;
    if (is_unknown) known_a[i] = known_b[i] = 1;
  }
  const Shape known = broadcast(known_a, known_b);
  for (size_t i = 0; i < ndim; ++i) sizes[i] = sizes[i] == kUnknownSize ? kUnknownSize : known[i];
  return sizes;
}

void check_mask(const Call& call, const IndexPart& mask, const Shape& self, size_t first_dim) {
  const Shape of_mask = global_shape(call, mask);
  require(!of_mask.empty(), "a mask of 0 dims is not supported");
  for (size_t dim = 0; dim < of_mask.size(); ++dim) {
    if (first_dim + dim < self.size() && of_mask[dim] == self[first_dim + dim]) continue;
    fail("the mask " + format_shape(of_mask) + " does not fit self " + format_shape(self) +
         " from dim " + std::to_string(first_dim) + " on");
  }
}

ListedDims listed_dims(const Call& call, const Part& table) {
  ListedDims listed;
  const onedim_argument_t& argument = call.argument("indices");
  const Shape self = global_shape(call, table);
  for (int i = 0; i < argument.slot_count; ++i) {
    const int dim = static_cast<int>(listed.of_dims.size());
    const TensorView index = call.input(argument.first_slot + i);
    if (!index.present()) {
      listed.of_dims.push_back({dim, -1, 0, -1});
      continue;
    }
    IndexPart part{{false, argument.first_slot + i, {}, false}, is_mask(index)};
    if (part.is_mask)
      check_mask(call, part, self, listed.of_dims.size());
    else
      require_index(index, IndexDTypes::kI64OrI32);
    const int number = static_cast<int>(listed.indices.size());
    for (int own = 0; own < (part.is_mask ? index.ndim() : 1); ++own)
      listed.of_dims.push_back({dim + own, number, own, -1});
    listed.index_sizes = broadcast_sizes(listed.index_sizes, sizes_of_index(call, part));
    listed.indices.push_back(std::move(part));
  }
  if (listed.of_dims.size() > self.size()) {
    fail(std::to_string(listed.of_dims.size()) + " dims are indexed, but self " +
         format_shape(self) + " has " + std::to_string(self.size()));
  }
  require(!listed.indices.empty(), "all of the indices are absent, expected one at least");
  for (size_t dim = listed.of_dims.size(); dim < self.size(); ++dim)
    listed.of_dims.push_back({static_cast<int>(dim), -1, 0, -1});
  return listed;
}

// Where J has the index tensors' dims: at the first of them if they stand side by side.
size_t place_of_indices(const std::vector<Coordinate>& of_dims) {
  size_t first = 0;
  while (first < of_dims.size() && of_dims[first].index < 0) ++first;
  size_t end = first;
  while (end < of_dims.size() && of_dims[end].index >= 0) ++end;
  for (size_t dim = end; dim < of_dims.size(); ++dim) {
    if (of_dims[dim].index >= 0) return 0;
  }
  return first;
}

// `items` broadcast to J.
IndexSpace list_space(const Call& call, Part table, Part items) {
  ListedDims listed = listed_dims(call, table);
  IndexSpace space;
  space.wraps_negative = true;
  for (const Coordinate& coordinate : listed.of_dims) {
    if (coordinate.index < 0) space.sizes.push_back(global_size(call, table, coordinate.dim));
  }
  const size_t first = place_of_indices(listed.of_dims), count = listed.index_sizes.size();
  space.sizes.insert(space.sizes.begin() + static_cast<int64_t>(first), listed.index_sizes.begin(),
                     listed.index_sizes.end());
  size_t kept = 0;
  for (Coordinate& coordinate : listed.of_dims) {
    if (coordinate.index >= 0) continue;
    coordinate.space_dim = static_cast<int>(kept < first ? kept : kept + count);
    ++kept;
  }
  for (IndexPart& part : listed.indices) {
    if (part.is_mask) {
      part.dims.assign(space.sizes.size(), -1);
      part.dims[first + count - 1] = 0;
    } else {
      static_cast<Part&>(part) = broadcasting(call, part, space.sizes.size(), first + count);
    }
  }
  space.indices = std::move(listed.indices);
  space.coordinates = std::move(listed.of_dims);
  space.table = std::move(table);
  space.items = std::move(items);
  return space;
}

IndexSpace index_space(const Call& call) {
  IndexSpace space = list_space(call, input_part(call, "self"), output_part());
  space.items = parallel(call, space.items, space.sizes.size());
  return space;
}

// The output's local shape: of the index tensors' and the kept dims' local lengths.
Shape indexed_shape(const Call& call) {
  const TensorView self = call.tensor("self");
  const ListedDims listed = listed_dims(call, input_part(call, "self"));
  Shape indexed, kept;
  for (const IndexPart& part : listed.indices)
    indexed = broadcast(indexed, tensor_of(call, part).shape());
  for (const Coordinate& coordinate : listed.of_dims) {
    if (coordinate.index < 0) kept.push_back(self.size(coordinate.dim));
  }
  kept.insert(kept.begin() + static_cast<int64_t>(place_of_indices(listed.of_dims)),
              indexed.begin(), indexed.end());
  return kept;
}

void infer_index(const Call& call, OutputSink& outputs) {
  for (const TensorView& index : call.tensors("indices")) {
    if (!index.present() || !is_mask(index)) continue;
    fail(std::string("a ") + name_of(index.dtype()) +
             " mask gives a shape that depends on the data, expected i64 or i32 indices",
         ONEDIM_STATUS_UNIMPLEMENTED);
  }
  outputs.add(call.tensor("self").dtype(), indexed_shape(call));
}

IndexSpace put_space(const Call& call) {
  IndexSpace space = list_space(call, output_part(), input_part(call, "values"));
  const size_t ndim = space.sizes.size();
  space.items = broadcasting(call, space.items, ndim, ndim);
  return space;
}

Update put_update(const Call& call) {
  const bool adds = call.attribute<bool>("accumulate");
  return {adds ? Combine::kAdd : Combine::kReplace, adds, input_part(call, "self")};
}

void infer_put(const Call& call, OutputSink& outputs) {
  const TensorView self = call.tensor("self"), values = call.tensor("values");
  require(values.present(), "there are no values");
  if (values.dtype() != self.dtype()) {
    fail(std::string("the values are ") + name_of(values.dtype()) + ", expected self's " +
         name_of(self.dtype()));
  }
  const IndexSpace space = list_space(call, input_part(call, "self"), {});
  const Shape given = global_shape(call, input_part(call, "values"));
  bool fits = given.size() <= space.sizes.size();
  for (size_t i = 1; fits && i <= given.size(); ++i) {
    const int64_t size = space.sizes[space.sizes.size() - i], own = given[given.size() - i];
    fits = own == 1 || own == size || size == kUnknownSize;
  }
  if (!fits) {
    fail("values " + format_shape(given) + " do not broadcast to the places that are indexed, " +
         format_shape(space.sizes));
  }
  outputs.add(self.dtype(), shape_of(self));
}

void declare_index(Registrar& r, std::string_view schema, std::string_view out) {
  OpBuilder& op =
      selecting(r.op(schema), index_space)
          .summary("elements of self, by one index tensor a dim")
          .infer(infer_index)
          .samples({"f64[5,7]; [i64[4]:index(5)]", "f64[4,6]; [-; i64[3]:index(6)]",
                    "f32[5,3]; [i64[6]:index(5); i64[6]:index(3)]",
                    "i64[3,4,2]; [i64[5]:index(3); -; i64[5]:index(2)]",
                    "f64[3,4,5]; [-; i64[2,1]:index(4); i64[3]:index(5)]",
                    "c64[6]; [i64[2,3]:index(6)]", "bool[4,3]; [i32[5]:index(4); -]",
                    "u8[5]; [i64[7]:index(5)]", "bf16[4,3]; [i64[5]:index(4); i64[1]:index(3)]"})
          .gradient({"index_put"});
  if (!out.empty()) op.out(out);
}

OpBuilder& declare_put(Registrar& r, std::string_view schema) {
  return updating(r.op(schema), put_space, put_update)
      .summary("self with values at the places that the indices name, or added there")
      .infer(infer_put)
      .samples({"f64[5,7]; [i64[4]:index(5)]; f64[4,7]",
                "f64[4,6]; [-; i64[3]:index(6)]; f64[4,3]; accumulate=true",
                "f64[5,3]; [i64[6]:index(5); i64[6]:index(3)]; f64[6]; accumulate=true",
                "i64[3,4,2]; [i64[5]:index(3); -; i64[5]:index(2)]; i64[4]",
                "f32[4,5]; [i64[3]:index(4)]; f32[]", "f64[4,6]; [bool[4]]; f64[6]",
                "f64[4,3]; [bool[4,3]]; f64[1]; accumulate=true",
                "bool[6]; [i64[4]:index(6)]; bool[4]; accumulate=true",
                "c64[5]; [i64[3]:index(5)]; c64[3]; accumulate=true"})
      .gradient({"index.Tensor"});
}

}  // namespace

void declare_index_lists(Registrar& r) {
  declare_index(r, "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "index.Tensor_out");
  declare_index(r, "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", "");
  declare_put(r,
              "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
              "Tensor")
      .in_place()
      .out("index_put.out");
  declare_put(r,
              "_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool "
              "accumulate=False, bool unsafe=False) -> Tensor")
      .in_place()
      .out("_index_put_impl.out");
  declare_put(r,
              "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool "
              "accumulate=False) -> Tensor");
}

}  // namespace indexing
