// gather, index_select and take: elements of self at places that an index names.
//
//   gather        out[i,k] = self[index[i,k], k]        self [4,6], index [3,5], dim 0 -> [3,5]
//   index_select  out[i,k] = self[index[i], k]          self [4,6], index [3],   dim 0 -> [3,6]
//   take          out[i]   = self row-major at index[i]
//
// An index shorter than self on another dim than `dim` does not line up with self's shards there:
// rows [0,1] of 4 over 2 ranks, index rows 0 and 1 one a rank. So self stays R or is masked.

#include "families.hpp"
#include "selecting.hpp"
#include "spaces.hpp"

namespace indexing {
namespace {

IndexSpace gather_space(const Call& call) {
  return elementwise_space(call, input_part(call, "self"), output_part());
}

void infer_gather(const Call& call, OutputSink& outputs) {
  check_elementwise(call, IndexDTypes::kI64OrI32);
  outputs.add(call.tensor("self").dtype(), shape_of(call.tensor("index")));
}

void declare_gather(Registrar& r) {
  selecting(r.op("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"),
            gather_space)
      .summary("elements of self whose place on dim is what index holds")
      .infer(infer_gather)
      .samples({"f64[5,7]; i64[5,7]:index(5); dim=0", "f64[4,6]; i64[4,3]:index(6); dim=1",
                "f32[4,2]; i64[2,5]:index(2); dim=-1", "f64[3,4,2]; i64[3,4,5]:index(2); dim=2",
                "i32[6,3]; i32[4,2]:index(6); dim=0", "bool[5,3]; i64[7,3]:index(5); dim=0",
                "u8[6]; i64[4]:index(6); dim=0", "c64[4,3]; i64[4,1]:index(3); dim=1",
                "bf16[4,1,3]; i64[5,1,3]:index(4); dim=0"})
      .gradient({"scatter_add"})
      .out("gather.out");
}

IndexSpace select_space(const Call& call) {
  return slice_space(call, input_part(call, "self"), output_part());
}

void infer_select(const Call& call, OutputSink& outputs) {
  check_slices(call, IndexDTypes::kI64OrI32);
  const TensorView self = call.tensor("self"), index = call.tensor("index");
  Shape shape = shape_of(self);
  require(self.ndim() > 0 || index_count(call) == 1, "a 0-dim self takes an index of one element");
  if (self.ndim() > 0) shape[static_cast<size_t>(dim_argument(call, self))] = index.element_count();
  outputs.add(self.dtype(), shape);
}

void declare_index_select(Registrar& r) {
  selecting(r.op("index_select(Tensor self, int dim, Tensor index) -> Tensor"), select_space)
      .summary("slices of self along dim at the places that index holds")
      .infer(infer_select)
      .samples({"f64[5,7]; i64[4]:index(5); dim=0", "f32[4,6]; i64[7]:index(6); dim=-1",
                "i64[3,1,4]; i32[5]:index(3); dim=0", "bool[6]; i64[3]:index(6); dim=0",
                "c64[2,5]; i64[1]:index(5); dim=1", "u8[4,3]; i64[5]:index(4); dim=0",
                "f16[3,4]; i64[]:index(4); dim=1"})
      .gradient({"index_add"})
      .out("index_select.out");
}

IndexSpace take_space(const Call& call) {
  IndexSpace space;
  const Part index = input_part(call, "index");
  space.sizes = global_shape(call, index);
  space.indices.push_back({parallel(call, index, space.sizes.size()), false});
  space.items = parallel(call, output_part(), space.sizes.size());
  space.table = input_part(call, "self");
  space.wraps_negative = space.is_linear = true;
  return space;
}

void infer_take(const Call& call, OutputSink& outputs) {
  const TensorView self = call.tensor("self"), index = call.tensor("index");
  require_index(index, IndexDTypes::kI64);
  const bool is_empty = volume(global_shape(call, input_part(call, "self"))) == 0;
  require(!is_empty || volume(global_shape(call, input_part(call, "index"))) == 0,
          "self is empty, so nothing can be taken from it");
  outputs.add(self.dtype(), shape_of(index));
}

void declare_take(Registrar& r) {
  selecting(r.op("take(Tensor self, Tensor index) -> Tensor"), take_space)
      .summary("elements of self, counted row-major, at the places that index holds")
      .infer(infer_take)
      .samples({"f64[5]; i64[7]:index(5)", "f64[4,6]; i64[3,5]:index(6)",
                "i64[3,4]; i64[5]:index(4)", "bool[6]; i64[4]:index(6)",
                "c128[2,1,3]; i64[4,1]:index(3)", "u8[7]; i64[3,2]:index(7)"})
      .gradient({"put"})
      .out("take.out");
}

}  // namespace

void declare_gathers(Registrar& r) {
  declare_gather(r);
  declare_index_select(r);
  declare_take(r);
}

}  // namespace indexing
