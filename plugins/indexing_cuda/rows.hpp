#pragma once
// Rows of a table, by number, and sums of rows by number. Numbers are those of the whole table; a
// rank that does not hold a row leaves zeros, in the sum's place another rank has it.
//   embedding weight [8,2] cut in rows over 2 ranks, indices [3] = 1, 6, 2: rank 1 holds rows 4..7
//   and writes 0 0, its third row, 0 0
//
// A sum is made by the block of its row: it looks through all indices in order, so the order of
// the terms never changes, and no two blocks write to one place.

#include <vector>

#include <onedim/device_elements.hpp>

namespace indexing_cuda {

// Dims of the indices, which the rows' tensor (embedding's output, the gradient) shares, and then
// has the width.
inline constexpr int kMaxIndexDims = onedim::device::kMaxDims - 1;

struct RowsCall {
  onedim::device::Elements table, indices, rows;
  int32_t index_ndim = 0;
  int32_t is_mean = 0;          // each sum is divided by the number of its terms
  int64_t skipped = INT64_MIN;  // the number of a row that is left zero
  int64_t row_count = 0;        // of the whole table
  int64_t count = 1;            // of local elements that embedding writes, or of local indices
  int64_t width = 0;            // local, of what is written
  int64_t table_strides[2] = {};
  int64_t sizes[kMaxIndexDims] = {};  // of the tensor that is walked: the output, or the indices
  int64_t index_strides[kMaxIndexDims] = {};
  int64_t row_strides[kMaxIndexDims + 1] = {};
  onedim::device::Positions held_rows;
  // From the dims walked to the other tensor's, and from the written width to the read one's.
  onedim::device::Meeting dims[kMaxIndexDims];
  onedim::device::Meeting columns;
};

void run_embedding(const RowsCall& call, int64_t element_size,
                   const std::vector<onedim::device::Piece>& pieces,
                   const onedim_execution_t& execution);
void run_row_sums(const RowsCall& call, const std::vector<onedim::device::Piece>& pieces,
                  const onedim_execution_t& execution);

}  // namespace indexing_cuda
