#pragma once
// Diagonal: where the diagonal of two dims of a tensor lies, and which of it is here.

#include "movement.hpp"

namespace shape {

// A diagonal of a tensor that has rows (dim1) and columns (dim2).
struct Diagonal {
  int rows = 0, columns = 1;  // dims
  int64_t row_count = 0, column_count = 0;
  int64_t offset = 0;

  int64_t first_row() const { return std::max<int64_t>(-offset, 0); }
  int64_t first_column() const { return std::max<int64_t>(offset, 0); }
  int64_t length() const {
    return std::max<int64_t>(std::min(row_count - first_row(), column_count - first_column()), 0);
  }
  bool has_each_row() const { return length() == row_count; }
  bool has_each_column() const { return length() == column_count; }
};

// Of a call with `offset`, `dim1` and `dim2`: of its first input, or of the output of diag_embed,
// in which the input's last dim is the diagonal.
Diagonal diagonal_of_self(const Call& call);
Diagonal embedded_diagonal(const Call& call);

// Dims of the matrix tensor but rows and columns, in order: those of the vector tensor before its
// last, which is the diagonal.
std::vector<int> outer_dims(const Diagonal& at, int ndim);

// Which tensors of a call hold the diagonal as rows and columns, and as a vector.
struct Ends {
  bool matrix_is_output, vector_is_output;
  int matrix, vector;  // slots
};
inline constexpr Ends kTaken = {false, true, 0, 0};
inline constexpr Ends kEmbedded = {true, false, 0, 0};
inline constexpr Ends kScattered = {true, false, 0, 1};

// Copies what is here of both, one element of the diagonal after the other.
void copy_diagonal(const Call& call, const Diagonal& at, const Ends& ends);

// Whether what the output's part needs of the diagonal is here; `rows_may_lack` and
// `columns_may_lack` where elements that lie elsewhere count as 0.
bool lines_up(const Call& call, const Diagonal& at, const Ends& ends, bool rows_may_lack = false,
              bool columns_may_lack = false);

}  // namespace shape
