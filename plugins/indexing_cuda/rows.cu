#include "rows.hpp"

#include <cstdio>

#include <onedim/device_launch.cuh>

namespace indexing_cuda {
namespace {

using namespace onedim::device;

// Stops the device: what follows would read memory that is not the table's.
__device__ void check_number(int64_t number, int64_t count) {
  if (number >= 0 && number < count) return;
  printf("index %lld is out of range for a table of %lld rows\n", static_cast<long long>(number),
         static_cast<long long>(count));
  __trap();
}

// Offsets of a place, given by its row-major number among the dims walked, in the indices and in
// the rows' tensor; false where the tensor that is not walked does not hold it.
__device__ bool locate(const RowsCall& call, int64_t place, bool walks_indices, int64_t& index_at,
                       int64_t& row_at) {
  index_at = row_at = 0;
  bool is_here = true;
  for (int dim = call.index_ndim - 1; dim >= 0; --dim) {
    const int64_t own = place % call.sizes[dim];
    place /= call.sizes[dim];
    const int64_t other = call.dims[dim].find(own);
    is_here = is_here && other >= 0;
    index_at += (walks_indices ? own : other) * call.index_strides[dim];
    row_at += (walks_indices ? other : own) * call.row_strides[dim];
  }
  return is_here;
}

template <typename Element>
__global__ void embed(RowsCall call) {
  for (int64_t i = first_element(); i < call.count; i += element_step()) {
    const int64_t column = i % call.width;
    int64_t index_at, row_at;
    const bool is_here = locate(call, i / call.width, false, index_at, row_at);
    Element value{};
    const int64_t table_column = call.columns.find(column);
    if (is_here && table_column >= 0) {
      const int64_t number = load<int64_t>(call.indices, index_at);
      check_number(number, call.row_count);
      const int64_t row = call.held_rows.find(number);
      if (row >= 0)
        value = static_cast<const Element*>(
            call.table.data)[row * call.table_strides[0] + table_column * call.table_strides[1]];
    }
    static_cast<Element*>(call.rows.data)[row_at + column * call.row_strides[call.index_ndim]] =
        value;
  }
}

// Columns that one thread sums at a time.
constexpr int kColumns = 8;

template <typename C>
__device__ void add_row(const RowsCall& call, int64_t place, double (&sums)[kColumns]) {
  int64_t index_at, row_at;
  if (!locate(call, place, true, index_at, row_at)) return;
  for (int c = 0; c < kColumns; ++c) {
    const int64_t column =
        (static_cast<int64_t>(blockIdx.y) * kColumns + c) * kBlockSize + threadIdx.x;
    const int64_t own = column < call.width ? call.columns.find(column) : -1;
    if (own >= 0) sums[c] += load<C>(call.rows, row_at + own * call.row_strides[call.index_ndim]);
  }
}

// Adds up the rows whose number is `number`, and returns how many there are.
template <typename C>
__device__ int64_t add_rows(const RowsCall& call, int64_t number, double (&sums)[kColumns]) {
  __shared__ bool is_wanted[kBlockSize];
  int64_t terms = 0;
  for (int64_t first = 0; first < call.count; first += kBlockSize) {
    const int64_t place = first + threadIdx.x;
    bool is_mine = false;
    if (place < call.count) {
      int64_t index_at, row_at;
      locate(call, place, true, index_at, row_at);
      const int64_t found = load<int64_t>(call.indices, index_at);
      check_number(found, call.row_count);
      is_mine = found == number;
    }
    is_wanted[threadIdx.x] = is_mine;
    if (__syncthreads_or(is_mine) != 0) {
      for (unsigned i = 0; i < kBlockSize; ++i) {
        if (!is_wanted[i]) continue;
        ++terms;
        add_row<C>(call, first + i, sums);
      }
    }
    __syncthreads();
  }
  return terms;
}

template <typename C>
__global__ void sum_rows(RowsCall call) {
  for (int64_t row = blockIdx.x; row < call.held_rows.length; row += gridDim.x) {
    double sums[kColumns] = {};
    const int64_t number = call.held_rows.global(row);
    const int64_t terms = number == call.skipped ? 0 : add_rows<C>(call, number, sums);
    const double parts = call.is_mean != 0 && terms > 0 ? static_cast<double>(terms) : 1;
    for (int c = 0; c < kColumns; ++c) {
      const int64_t column =
          (static_cast<int64_t>(blockIdx.y) * kColumns + c) * kBlockSize + threadIdx.x;
      if (column < call.width)
        store(call.table, row * call.table_strides[0] + column * call.table_strides[1],
              static_cast<C>(sums[c] / parts));
    }
  }
}

}  // namespace

void run_embedding(const RowsCall& call, int64_t element_size, const std::vector<Piece>& pieces,
                   const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (call.count == 0) return;
  write_positions(execution, pieces);
  const dim3 grid = blocks_of(call.count), block(kBlockSize);
  switch (element_size) {
    case 1:
      return launch(execution, embed<uint8_t>, grid, block, call);
    case 2:
      return launch(execution, embed<uint16_t>, grid, block, call);
    case 4:
      return launch(execution, embed<uint32_t>, grid, block, call);
    default:
      return launch(execution, embed<uint64_t>, grid, block, call);
  }
}

void run_row_sums(const RowsCall& call, const std::vector<Piece>& pieces,
                  const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (call.held_rows.length == 0 || call.width == 0) return;
  write_positions(execution, pieces);
  constexpr int64_t kMost = int64_t{1} << 20, kWidth = kColumns * kBlockSize;
  const int64_t rows = call.held_rows.length < kMost ? call.held_rows.length : kMost;
  const dim3 grid(static_cast<unsigned>(rows),
                  static_cast<unsigned>((call.width + kWidth - 1) / kWidth));
  if (call.table.dtype == ONEDIM_DTYPE_F64)
    launch(execution, sum_rows<double>, grid, dim3(kBlockSize), call);
  else
    launch(execution, sum_rows<float>, grid, dim3(kBlockSize), call);
}

}  // namespace indexing_cuda
