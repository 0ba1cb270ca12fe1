#pragma once
// Rows: matrices of one head in f64, whatever the tensors' dtype, since exp
// of a score leaves the range of f32 early; and the products of a row with them that all
// kernels here are made of. Loops run over the columns, so that they vectorize.
//
//   add_product   out [n] += row [m] matrix [m,n]
//   add_outer     matrix [m,n] += column [m] row [n]

#include <limits>
#include <utility>

#include "problem.hpp"

namespace attention {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

inline void add_product(const double* row, int64_t m, const double* matrix, int64_t n,
                        double* __restrict out) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4) {
    const double* __restrict a = matrix + i * n;
    for (int64_t j = 0; j < n; ++j)
      out[j] += row[i] * a[j] + row[i + 1] * a[j + n] + row[i + 2] * a[j + 2 * n] +
                row[i + 3] * a[j + 3 * n];
  }
  for (; i < m; ++i) {
    const double* __restrict a = matrix + i * n;
    for (int64_t j = 0; j < n; ++j) out[j] += row[i] * a[j];
  }
}

inline void add_outer(const double* column, int64_t m, const double* row, int64_t n,
                      double* matrix) {
  for (int64_t i = 0; i < m; ++i) {
    double* __restrict to = matrix + i * n;
    for (int64_t j = 0; j < n; ++j) to[j] += column[i] * row[j];
  }
}

// Where one row of a 4-dim tensor begins.
inline std::byte* row_at(const TensorView& tensor, int64_t batch, int64_t head, int64_t row) {
  const int64_t offset =
      batch * tensor.stride(0) + head * tensor.stride(1) + row * tensor.stride(2);
  return tensor.data_as<std::byte>() + offset * size_of(tensor.dtype());
}

inline void load_row_of(const TensorView& tensor, int64_t batch, int64_t head, int64_t row,
                        double* to) {
  load_row(tensor.dtype(), row_at(tensor, batch, head, row), tensor.stride(3), tensor.size(3), to);
}
inline void store_row_of(const double* from, const TensorView& tensor, int64_t batch, int64_t head,
                         int64_t row) {
  store_row(tensor.dtype(), from, tensor.stride(3), tensor.size(3),
            row_at(tensor, batch, head, row));
}

// One head's matrix, row-major.
inline void load_head(const TensorView& tensor, int64_t batch, int64_t head, double* to) {
  for (int64_t row = 0; row < tensor.size(2); ++row)
    load_row_of(tensor, batch, head, row, to + row * tensor.size(3));
}
// The same with rows and columns swapped.
inline void load_transposed(const TensorView& tensor, int64_t batch, int64_t head, double* to) {
  const std::byte* from = row_at(tensor, batch, head, 0);
  for (int64_t column = 0; column < tensor.size(3); ++column) {
    const std::byte* at = from + column * tensor.stride(3) * size_of(tensor.dtype());
    load_row(tensor.dtype(), at, tensor.stride(2), tensor.size(2), to + column * tensor.size(2));
  }
}
inline void store_head(const double* from, const TensorView& tensor, int64_t batch, int64_t head) {
  for (int64_t row = 0; row < tensor.size(2); ++row)
    store_row_of(from + row * tensor.size(3), tensor, batch, head, row);
}

// Pieces of the workspace, in the order taken.
class Arena {
 public:
  explicit Arena(const onedim_execution_t& execution)
      : next_(static_cast<double*>(execution.workspace)) {}
  double* take(int64_t count) { return std::exchange(next_, next_ + count); }

 private:
  double* next_;
};

// Writes scale * q.k + bias over all keys of a head, -inf where a mask hides the key. `scaled`
// holds scale * q, `transposed` the keys as [D,K].
inline void score_row(const double* scaled, const double* transposed, int64_t depth,
                      const Positions& positions, const Bias& bias, int64_t bias_index,
                      int64_t query, double* scores) {
  const int64_t keys = static_cast<int64_t>(positions.keys.size());
  std::fill(scores, scores + keys, 0);
  add_product(scaled, depth, transposed, keys, scores);
  for (int64_t k = 0; bias.present() && k < keys; ++k)
    scores[k] += bias.value(bias_index + k * bias.key_step());
  for (int64_t k = 0; positions.is_causal && k < keys; ++k) {
    if (positions.hides(query, k)) scores[k] = kMinusInfinity;
  }
}

}  // namespace attention
