// Device kernels of embedding and its gradient; which rows, columns and places a rank holds comes
// from the call's location, as on the CPU.
//   embedding weight [8,2], indices [4,3] -> [4,3,2]
//   embedding_dense_backward grad_output [4,3,2], indices [4,3], num_weights 8 -> [8,2]

#include <onedim/device_call.hpp>
#include <onedim/pack.hpp>

#include "rows.hpp"

namespace indexing_cuda {
namespace {

using namespace onedim::api;

// One tensor of a call.
struct Part {
  bool is_output;
  int slot;
  TensorView tensor;
};

Part input(const Call& call, std::string_view name) {
  return {false, call.slot(name), call.tensor(name)};
}
Part output(const Call& call) { return {true, 0, call.output()}; }

onedim::device::Meeting meet(PositionLists& lists, const Call& call, const Part& from, int from_dim,
                             const Part& to, int to_dim) {
  return lists.meet(call, from.is_output, from.slot, from_dim, to.is_output, to.slot, to_dim);
}

// `walked` is what the kernel runs over: the rows' tensor, or the indices.
RowsCall rows_call(const Call& call, PositionLists& lists, const Part& table, const Part& rows,
                   bool walks_indices) {
  const Part indices = input(call, "indices");
  const int ndim = indices.tensor.ndim();
  if (ndim > kMaxIndexDims)
    fail("indices of " + std::to_string(ndim) + " dims, at most " + std::to_string(kMaxIndexDims) +
         " are supported on a device");
  const Part &walked = walks_indices ? indices : rows, &other = walks_indices ? rows : indices;
  const Part &written = walks_indices ? table : rows, &read = walks_indices ? rows : table;
  RowsCall made;
  made.table = elements_of(table.tensor);
  made.indices = elements_of(indices.tensor);
  made.rows = elements_of(rows.tensor);
  made.index_ndim = ndim;
  made.row_count = call.global_size(table.is_output, table.slot, 0);
  made.held_rows = lists.add(call, table.is_output, table.slot, 0);
  made.width = written.tensor.size(walks_indices ? 1 : ndim);
  for (int dim = 0; dim < ndim; ++dim) {
    made.sizes[dim] = walked.tensor.size(dim);
    made.count *= made.sizes[dim];
    made.index_strides[dim] = indices.tensor.stride(dim);
    made.row_strides[dim] = rows.tensor.stride(dim);
    made.dims[dim] = meet(lists, call, walked, dim, other, dim);
  }
  made.row_strides[ndim] = rows.tensor.stride(ndim);
  for (int dim = 0; dim < 2; ++dim) made.table_strides[dim] = table.tensor.stride(dim);
  made.columns =
      meet(lists, call, written, walks_indices ? 1 : ndim, read, walks_indices ? ndim : 1);
  if (!walks_indices) made.count *= made.width;
  return made;
}

RowsCall embedding_call(const Call& call, PositionLists& lists) {
  return rows_call(call, lists, input(call, "weight"), output(call), false);
}

RowsCall gradient_call(const Call& call, PositionLists& lists) {
  RowsCall made = rows_call(call, lists, output(call), input(call, "grad_output"), true);
  const int64_t padding = call.attribute<int64_t>("padding_idx");
  if (padding >= 0) made.skipped = padding;
  made.is_mean = call.attribute<bool>("scale_grad_by_freq") ? 1 : 0;
  return made;
}

uint64_t workspace_of(const Call& call, RowsCall (*make)(const Call&, PositionLists&)) {
  PositionLists lists;
  make(call, lists);
  return lists.bytes();
}

}  // namespace
}  // namespace indexing_cuda

ONEDIM_PACK("indexing_cuda", "1.0.0", [](onedim::api::Registrar& r) {
  using namespace indexing_cuda;
  r.kernel("embedding", ONEDIM_DEVICE_CUDA)
      .compute(kDeviceDTypes,
               [](const Call& call, const onedim_execution_t& execution) {
                 PositionLists lists(execution.workspace);
                 const RowsCall made = embedding_call(call, lists);
                 run_embedding(made, size_of(call.output().dtype()), lists.pieces(), execution);
               })
      .workspace([](const Call& call) { return workspace_of(call, embedding_call); });
  r.kernel("embedding_dense_backward", ONEDIM_DEVICE_CUDA)
      .compute(kDeviceFloats | dtype_bit(DType::kI64) | dtype_bit(DType::kI32),
               [](const Call& call, const onedim_execution_t& execution) {
                 PositionLists lists(execution.workspace);
                 const RowsCall made = gradient_call(call, lists);
                 run_row_sums(made, lists.pieces(), execution);
               })
      .workspace([](const Call& call) { return workspace_of(call, gradient_call); });
});
