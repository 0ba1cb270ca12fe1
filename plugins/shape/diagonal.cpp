// Element k of a diagonal is at row k + max(-offset, 0), column k + max(offset, 0); it is as long
// as fits. f32[4,6] with offset -1 has elements (1,0), (2,1), (3,2). Ranks look their own up by
// global index.

#include "diagonal.hpp"

namespace shape {
namespace {

Diagonal diagonal_dims(const Call& call, int ndim) {
  Diagonal at;
  at.rows = wrap_dim(call.attribute<int64_t>("dim1"), ndim);
  at.columns = wrap_dim(call.attribute<int64_t>("dim2"), ndim);
  if (ndim < 2 || at.rows == at.columns) {
    fail("dim1 and dim2 must be two dims of a tensor of " + std::to_string(ndim) + " dims");
  }
  at.offset = call.attribute<int64_t>("offset");
  return at;
}

// The box with its outer dims in order and without the others.
Box outer_box(const Box& box, const std::vector<int>& dims, int64_t shift) {
  Box outer{box.data + shift * box.item, box.item, {}, {}};
  for (int dim : dims) {
    outer.sizes.push_back(box.sizes[dim]);
    outer.strides.push_back(box.strides[dim]);
  }
  return outer;
}

}  // namespace

Diagonal diagonal_of_self(const Call& call) {
  Diagonal at = diagonal_dims(call, call.input(0).ndim());
  at.row_count = call.global_size(false, 0, at.rows);
  at.column_count = call.global_size(false, 0, at.columns);
  return at;
}

Diagonal embedded_diagonal(const Call& call) {
  require(call.input(0).ndim() > 0, "self needs at least one dim");
  Diagonal at = diagonal_dims(call, call.input(0).ndim() + 1);
  const int64_t length = call.global_size(false, 0, call.input(0).ndim() - 1);
  at.row_count = at.column_count = length + std::abs(at.offset);
  return at;
}

std::vector<int> outer_dims(const Diagonal& at, int ndim) {
  std::vector<int> dims;
  for (int dim = 0; dim < ndim; ++dim) {
    if (dim != at.rows && dim != at.columns) dims.push_back(dim);
  }
  return dims;
}

void copy_diagonal(const Call& call, const Diagonal& at, const Ends& ends) {
  const Box matrix =
      box_of(ends.matrix_is_output ? call.output(ends.matrix) : call.input(ends.matrix));
  const Box vector =
      box_of(ends.vector_is_output ? call.output(ends.vector) : call.input(ends.vector));
  const int last = static_cast<int>(vector.sizes.size()) - 1;
  const RowMap rows = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.rows);
  const RowMap columns = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.columns);
  const RowMap places = rows_here(call, ends.vector_is_output, ends.vector, last, at.length());
  const std::vector<int> outer = outer_dims(at, static_cast<int>(matrix.sizes.size()));
  std::vector<int> vector_outer;
  for (int dim = 0; dim < last; ++dim) vector_outer.push_back(dim);
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t row = rows[places[i] + at.first_row()];
    const int64_t column = columns[places[i] + at.first_column()];
    if (row == kNoRow || column == kNoRow) continue;
    const Box in_matrix = outer_box(
        matrix, outer, row * matrix.strides[at.rows] + column * matrix.strides[at.columns]);
    const Box in_vector =
        outer_box(vector, vector_outer, static_cast<int64_t>(i) * vector.strides[last]);
    if (ends.matrix_is_output)
      copy_box(in_vector, in_matrix);
    else
      copy_box(in_matrix, in_vector);
  }
}

bool lines_up(const Call& call, const Diagonal& at, const Ends& ends, bool rows_may_lack,
              bool columns_may_lack) {
  if (call.location() == nullptr) return true;
  const RowMap rows = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.rows);
  const RowMap columns = local_row_of_each(call, ends.matrix_is_output, ends.matrix, at.columns);
  // Both have their dims from where the call lies: outputs are not known yet.
  const int outer = (ends.matrix_is_output ? call.input(ends.vector).ndim()
                                           : call.input(ends.matrix).ndim() - 1) -
                    1;
  const RowMap places = local_row_of_each(call, ends.vector_is_output, ends.vector, outer);
  for (int64_t k = 0; k < at.length(); ++k) {
    const bool has_row = rows[k + at.first_row()] != kNoRow;
    const bool has_column = columns[k + at.first_column()] != kNoRow;
    const bool is_in_vector = places[k] != kNoRow;
    const bool has_needed =
        ends.matrix_is_output
            ? is_in_vector || !has_row || !has_column
            : !is_in_vector || ((has_row || rows_may_lack) && (has_column || columns_may_lack));
    if (!has_needed) return false;
  }
  return true;
}

}  // namespace shape
