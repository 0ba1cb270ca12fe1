#pragma once
// Tiles: what all attention kernels are made of. A block of 16 x 16 threads holds a tile of 32 x 32
// scores, 2 x 2 to a thread, and sums over a tile into 32 rows of up to kColumns columns. Tensors
// come in pieces through shared memory, as the compute type; beyond their ends they are zero.
//
//   multiply_rows  sums[r][c] = a[row r] . b[row c], over any depth
//   add_product    sums[r][.] += tile[r][c] b[row c][.]

#include <onedim/device_launch.cuh>
#include <onedim/philox.hpp>

#include <cmath>
#include <limits>

#include "problem.hpp"

namespace attention_cuda {

using namespace onedim::device;

inline constexpr int kSide = 16;         // threads along one side of a block
inline constexpr int kTile = 2 * kSide;  // rows and columns of a tile
inline constexpr int kChunk = 32;        // of the depth, at a time
template <typename C>
inline constexpr int kColumns = 512 / sizeof(C);  // that a block sums
template <typename C>
inline constexpr int kOwnColumns = kColumns<C> / kSide;

template <typename C>
using Tile = C[kTile][kTile + 1];  // one more, so that columns lie in different banks

// One head's matrix.
struct Matrix {
  Elements elements;
  int64_t begin, row_stride, column_stride, rows, columns;

  template <typename C>
  __device__ C at(int64_t row, int64_t column) const {
    if (row >= rows || column >= columns) return C(0);
    return load<C>(elements, begin + row * row_stride + column * column_stride);
  }
};

__device__ inline Matrix matrix_of(const Heads& heads, int64_t batch, int64_t head, int64_t rows,
                                   int64_t columns) {
  return {heads.elements, heads.at(batch, head), heads.strides[2], heads.strides[3], rows, columns};
}

__device__ inline int flat_thread() { return static_cast<int>(threadIdx.y * kSide + threadIdx.x); }

// Rows 2 y, 2 y + 1 and columns x, x + 16 of the tile are this thread's.
__device__ inline int own_row(int i) { return static_cast<int>(threadIdx.y) * 2 + i; }
__device__ inline int own_column(int j) { return static_cast<int>(threadIdx.x) + j * kSide; }

template <typename C>
__device__ void multiply_rows(const Matrix& a, int64_t first_a, const Matrix& b, int64_t first_b,
                              C (&sums)[2][2]) {
  __shared__ C left[kTile][kChunk + 1], right[kTile][kChunk + 1];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) sums[i][j] = 0;
  }
  for (int64_t first = 0; first < a.columns; first += kChunk) {
    __syncthreads();
    for (int i = flat_thread(); i < kTile * kChunk; i += kSide * kSide) {
      const int row = i / kChunk, column = i % kChunk;
      left[row][column] = a.template at<C>(first_a + row, first + column);
      right[row][column] = b.template at<C>(first_b + row, first + column);
    }
    __syncthreads();
    for (int d = 0; d < kChunk; ++d) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) sums[i][j] += left[own_row(i)][d] * right[own_column(j)][d];
      }
    }
  }
}

// Columns first_column + x + 16 j of the sums are this thread's.
template <typename C>
__device__ void add_product(const Tile<C>& tile, const Matrix& b, int64_t first_b,
                            int64_t first_column, C (&sums)[2][kOwnColumns<C>]) {
  __shared__ C rows[kTile][kColumns<C>];
  __syncthreads();
  for (int i = flat_thread(); i < kTile * kColumns<C>; i += kSide * kSide) {
    const int row = i / kColumns<C>, column = i % kColumns<C>;
    rows[row][column] = b.template at<C>(first_b + row, first_column + column);
  }
  __syncthreads();
  for (int k = 0; k < kTile; ++k) {
    for (int j = 0; j < kOwnColumns<C>; ++j) {
      const C element = rows[k][own_column(j)];
      for (int i = 0; i < 2; ++i) sums[i][j] += tile[own_row(i)][k] * element;
    }
  }
}

template <typename C>
__device__ void store_rows(const Heads& to, int64_t batch, int64_t head, int64_t first_row,
                           int64_t rows, int64_t first_column, int64_t columns,
                           const C (&sums)[2][kOwnColumns<C>]) {
  for (int i = 0; i < 2; ++i) {
    const int64_t row = first_row + own_row(i);
    for (int j = 0; row < rows && j < kOwnColumns<C>; ++j) {
      const int64_t column = first_column + own_column(j);
      if (column < columns)
        store(to.elements, to.at(batch, head) + row * to.strides[2] + column * to.strides[3],
              sums[i][j]);
    }
  }
}

template <typename C>
inline constexpr C kMinusInfinity = -std::numeric_limits<C>::infinity();

__device__ inline bool hides(const Problem& p, int64_t query, int64_t key) {
  return p.is_causal != 0 && p.key_at.global(key) > p.query_at.global(query) + p.shift;
}

// The score of a query and a key whose product is `dot`; -inf where it is hidden, or there is none.
template <typename C>
__device__ C score(const Problem& p, int64_t batch, int64_t head, int64_t query, int64_t key,
                   C dot) {
  if (query >= p.queries || key >= p.keys || hides(p, query, key)) return kMinusInfinity<C>;
  C value = dot * static_cast<C>(p.scale);
  if (p.bias.elements.data != nullptr) {
    const C added = load<C>(p.bias.elements, p.bias.at(batch, head) + query * p.bias.strides[2] +
                                                 key * p.bias.strides[3]);
    if (p.bias.elements.dtype != ONEDIM_DTYPE_BOOL)
      value += added;
    else if (added == C(0))
      value = kMinusInfinity<C>;
  }
  return value;
}

// Dropout's factor of one weight, drawn by its index in the global [B,H,Q,K].
template <typename C>
__device__ C dropout_factor(const Problem& p, int64_t batch, int64_t head, int64_t query,
                            int64_t key) {
  if (p.dropout <= 0 || query >= p.queries || key >= p.keys) return C(1);
  const uint64_t seed = p.random_state == nullptr ? p.seed : static_cast<uint64_t>(*p.random_state);
  const uint64_t id =
      p.random_offset == nullptr ? p.call_id : static_cast<uint64_t>(*p.random_offset);
  const int64_t row =
      (p.batch_at.global(batch) * p.global_heads + p.head_at.global(head)) * p.global_queries +
      p.query_at.global(query);
  const int64_t linear = row * p.global_keys + p.key_at.global(key);
  const double draw = onedim::api::philox_uniform(seed, id, static_cast<uint64_t>(linear));
  return draw < p.dropout ? C(0) : static_cast<C>(1 / (1 - p.dropout));
}

// Whether the mask hides all keys of a tile from all queries of a tile; positions ascend.
__device__ inline bool hides_tile(const Problem& p, int64_t first_query, int64_t first_key) {
  const int64_t last = first_query + kTile < p.queries ? first_query + kTile : p.queries;
  return hides(p, last - 1, first_key);
}

// A grid over tiles of rows, pieces of columns, and heads of all batches.
inline dim3 grid_of(int64_t rows, int64_t columns, int64_t columns_a_block, int64_t heads) {
  const int64_t tiles = (rows + kTile - 1) / kTile;
  const int64_t pieces = (columns + columns_a_block - 1) / columns_a_block;
  constexpr int64_t kMostHeads = 65535;
  if (heads > kMostHeads || tiles > INT32_MAX || pieces > kMostHeads)
    onedim::api::fail("more than 65535 batches times heads are not supported on a device",
                      ONEDIM_STATUS_UNIMPLEMENTED);
  return dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(pieces > 0 ? pieces : 1),
              static_cast<unsigned>(heads));
}

}  // namespace attention_cuda
