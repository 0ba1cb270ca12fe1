#pragma once
// Rows of layer_norm and rms_norm: the normalised dims, the last of the input, are those of one
// set.
//   normalized_shape [3,4] of [2,5,3,4]: 10 rows of 12 elements, statistics [2,5,1,1]

#include "norm_sets.hpp"

namespace nn {

struct Rows {
  int leading = 0;    // dims
  int64_t count = 1;  // of rows, of this rank
  int64_t size = 1;   // of a row, of this rank

  Grouping grouping() const { return {{size, count, {}}, {1, size, {}}}; }
};

// Refused where normalized_shape is not that of the last dims.
Rows rows_of(const Call& call);
Sets layer_norm_sets(const Call& call);
Sets rms_norm_sets(const Call& call);

// eps, or the spacing around 1 of the numbers that are computed with.
double rms_eps(const Call& call);

// Local leading dims, and 1 for each normalised one.
Shape row_statistics_shape(const Call& call);
// Refuses parameters whose global shape is not that of a row.
void require_row_shape(const Call& call, const std::vector<const char*>& names);
// Refuses parameters that lack a column that the rank has of a tensor with rows.
void require_columns(const Call& call, const std::vector<const char*>& names, bool of_output,
                     int slot);

// The values of an optional parameter at the columns that the rank has of a tensor with rows.
std::vector<double> load_columns(const Call& call, std::string_view name, bool of_output, int slot);

void declare_row_gradients(Registrar& r);

}  // namespace nn
