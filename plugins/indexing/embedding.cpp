// embedding reads rows of a weight, its backward adds the rows of a gradient.
//
//   out[i,k] = weight[indices[i], k]                      weight [8,2], indices [3] -> [3,2]
//   grad_weight[indices[i], k] += grad_output[i,k]        but not where indices[i] = padding_idx
//
// scale_grad_by_freq divides a row by how often its number occurs in all indices, so a rank needs
// them all: the mean of the rows. Row numbers and padding_idx are those of the whole weight.

#include "families.hpp"
#include "selecting.hpp"
#include "updating.hpp"

namespace indexing {
namespace {

IndexSpace row_space(const Call& call, Part table, Part items) {
  IndexSpace space;
  const Part indices = input_part(call, "indices");
  space.sizes = global_shape(call, indices);
  space.sizes.push_back(global_size(call, table, 1));
  const size_t ndim = space.sizes.size();
  space.indices.push_back({parallel(call, indices, ndim), false});
  space.items = parallel(call, std::move(items), ndim);
  space.table = std::move(table);
  space.coordinates = {{0, 0, 0, -1}, {1, -1, 0, static_cast<int>(ndim) - 1}};
  return space;
}

IndexSpace embedding_space(const Call& call) {
  return row_space(call, input_part(call, "weight"), output_part());
}

void infer_embedding(const Call& call, OutputSink& outputs) {
  const TensorView weight = call.tensor("weight"), indices = call.tensor("indices");
  if (weight.ndim() != 2)
    fail("weight has " + std::to_string(weight.ndim()) + " dims, expected two: [rows, width]");
  require_index(indices, IndexDTypes::kI64OrI32);
  Shape shape = shape_of(indices);
  shape.push_back(weight.size(1));
  outputs.add(weight.dtype(), shape);
}

IndexSpace gradient_space(const Call& call) {
  IndexSpace space = row_space(call, output_part(), input_part(call, "grad_output"));
  const int64_t padding = call.attribute<int64_t>("padding_idx");
  if (padding >= 0) space.skipped = padding;
  return space;
}

Update gradient_update(const Call& call) {
  const bool is_scaled = call.attribute<bool>("scale_grad_by_freq");
  return {is_scaled ? Combine::kMean : Combine::kAdd, false, {}};
}

void infer_gradient(const Call& call, OutputSink& outputs) {
  const TensorView grad = call.tensor("grad_output");
  require_index(call.tensor("indices"), IndexDTypes::kI64OrI32);
  if (!is_floating(grad.dtype()))
    fail(std::string("grad_output is ") + name_of(grad.dtype()) + ", expected a float tensor");
  Shape expected = global_shape(call, input_part(call, "indices"));
  const Shape given = global_shape(call, input_part(call, "grad_output"));
  const bool fits = given.size() == expected.size() + 1 &&
                    std::equal(expected.begin(), expected.end(), given.begin());
  if (!fits) {
    fail("grad_output is " + format_shape(given) + ", expected a row for each of the indices " +
         format_shape(expected));
  }
  const int64_t rows = call.attribute<int64_t>("num_weights");
  require(rows >= 0, "num_weights must not be negative");
  outputs.add(grad.dtype(), {rows, grad.size(grad.ndim() - 1)});
}

}  // namespace

void declare_embedding(Registrar& r) {
  selecting(r.op("embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
                 "scale_grad_by_freq=False, bool sparse=False) -> Tensor"),
            embedding_space)
      .summary("rows of weight; padding_idx and scale_grad_by_freq matter to the gradient only")
      .infer(infer_embedding)
      .samples({"f64[6,4]; i64[4,6]:index(6)", "f32[7,5]; i64[5,3]:index(7); padding_idx=2",
                "bf16[5,1]; i64[7]:index(5)", "f64[3,4]; i64[]:index(3)",
                "f32[4,3]; i32[2,1,3]:index(4); scale_grad_by_freq=true",
                "i64[5,2]; i64[6]:index(5)", "u8[4,3]; i64[5]:index(4)"})
      .gradient({"embedding_dense_backward"})
      .out("embedding.out");
  updating(r.op("embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, "
                "SymInt padding_idx, bool scale_grad_by_freq) -> Tensor"),
           gradient_space, gradient_update)
      .summary("sums of grad_output's rows by the number of the weight's row that they came from")
      .infer(infer_gradient)
      .size_attribute("num_weights")
      .samples({"f64[4,6,3]; i64[4,6]:index(5); num_weights=5; padding_idx=-1; "
                "scale_grad_by_freq=false",
                "f64[7,3]; i64[7]:index(5); num_weights=5; padding_idx=3; scale_grad_by_freq=false",
                "f32[6,4]; i64[6]:index(3); num_weights=3; padding_idx=-1; scale_grad_by_freq=true",
                "f64[5,2]; i64[5]:index(6); num_weights=6; padding_idx=0; scale_grad_by_freq=true",
                "bf16[5,1]; i32[5]:index(4); num_weights=4; padding_idx=1; "
                "scale_grad_by_freq=false",
                "f64[4]; i64[]:index(3); num_weights=3; padding_idx=-1; scale_grad_by_freq=false"})
      .out("embedding_dense_backward.out");
}

}  // namespace indexing
