// Forward: a block goes over all keys for 32 queries of one head, keeping the largest score so far,
// the sum of exp(w - largest), and the weighted values, rescaled whenever the largest grows. A row
// that sees no key gives out 0 and lse -inf.

#include "tiles.cuh"

namespace attention_cuda {
namespace {

// Of this thread's two rows; the 16 threads of a row hold the same.
template <typename C>
struct RowState {
  C largest[2] = {kMinusInfinity<C>, kMinusInfinity<C>};
  C total[2] = {};
};

// Turns this thread's scores into weights in the tile, and rescales what was summed before.
template <typename C>
__device__ void weigh(const C (&scores)[2][2], Tile<C>& tile, RowState<C>& state,
                      C (&sums)[2][kOwnColumns<C>]) {
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) tile[own_row(i)][own_column(j)] = scores[i][j];
  }
  __syncthreads();
  C before[2];
  for (int i = 0; i < 2; ++i) {
    before[i] = state.largest[i];
    for (int k = 0; k < kTile; ++k)
      state.largest[i] =
          tile[own_row(i)][k] > state.largest[i] ? tile[own_row(i)][k] : state.largest[i];
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    const C largest = state.largest[i];
    for (int j = 0; j < 2; ++j) {
      const bool is_hidden = scores[i][j] == kMinusInfinity<C>;
      tile[own_row(i)][own_column(j)] = is_hidden ? C(0) : std::exp(scores[i][j] - largest);
    }
    const C factor = before[i] == kMinusInfinity<C> ? C(0) : std::exp(before[i] - largest);
    state.total[i] *= factor;
    for (int j = 0; j < kOwnColumns<C>; ++j) sums[i][j] *= factor;
  }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < kTile; ++k) state.total[i] += tile[own_row(i)][k];
  }
}

template <typename C>
__device__ void drop(const Problem& p, int64_t batch, int64_t head, int64_t first_query,
                     int64_t first_key, Tile<C>& tile) {
  if (p.dropout <= 0) return;
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j)
      tile[own_row(i)][own_column(j)] *=
          dropout_factor<C>(p, batch, head, first_query + own_row(i), first_key + own_column(j));
  }
}

template <typename C>
__device__ void store_results(const Problem& p, int64_t batch, int64_t head, int64_t first_query,
                              int64_t first_column, const RowState<C>& state,
                              C (&sums)[2][kOwnColumns<C>]) {
  for (int i = 0; i < 2; ++i) {
    const int64_t query = first_query + own_row(i);
    for (int j = 0; j < kOwnColumns<C>; ++j)
      sums[i][j] = state.total[i] > 0 ? sums[i][j] / state.total[i] : C(0);
    const bool is_first = threadIdx.x == 0 && first_column == 0;
    if (!is_first || query >= p.queries || p.lse.elements.data == nullptr) continue;
    const C lse =
        state.total[i] > 0 ? state.largest[i] + std::log(state.total[i]) : kMinusInfinity<C>;
    store(p.lse.elements, p.lse.at(batch, head) + query * p.lse.strides[2], lse);
  }
  store_rows<C>(p.out, batch, head, first_query, p.queries, first_column, p.width, sums);
}

template <typename C>
__global__ void attend(Problem p) {
  __shared__ Tile<C> tile;
  const int64_t first_query = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kColumns<C>;
  const int64_t batch = blockIdx.z / p.heads, head = blockIdx.z % p.heads;
  const int64_t key_head = p.key_head_at.find(p.head_at.global(head) / p.group);
  const Matrix query = matrix_of(p.query, batch, head, p.queries, p.depth);
  const Matrix key = matrix_of(p.key, batch, key_head, p.keys, p.depth);
  const Matrix value = matrix_of(p.value, batch, key_head, p.keys, p.width);
  RowState<C> state;
  C sums[2][kOwnColumns<C>] = {};
  for (int64_t first_key = 0; first_key < p.keys; first_key += kTile) {
    if (hides_tile(p, first_query, first_key)) break;
    C scores[2][2];
    multiply_rows<C>(query, first_query, key, first_key, scores);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j)
        scores[i][j] = score<C>(p, batch, head, first_query + own_row(i), first_key + own_column(j),
                                scores[i][j]);
    }
    weigh<C>(scores, tile, state, sums);
    drop<C>(p, batch, head, first_query, first_key, tile);
    add_product<C>(tile, value, first_key, first_column, sums);
  }
  store_results<C>(p, batch, head, first_query, first_column, state, sums);
}

__global__ void store_state(RandomState state, int64_t seed, int64_t call_id) {
  store(state.both, 0, seed);
  store(state.both, state.stride, call_id);
  if (state.unused.data != nullptr) store(state.unused, 0, int64_t{0});
}

template <typename C>
void launch_forward(const Problem& p, const onedim_execution_t& execution) {
  launch(execution, attend<C>, grid_of(p.queries, p.width, kColumns<C>, p.batch * p.heads),
         dim3(kSide, kSide), p);
}

}  // namespace

void run_forward(const Problem& p, const RandomState& state, const std::vector<Piece>& pieces,
                 const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  if (state.both.data != nullptr)
    launch(execution, store_state, dim3(1), dim3(1), state, static_cast<int64_t>(p.seed),
           static_cast<int64_t>(p.call_id));
  if (p.batch * p.heads * p.queries == 0) return;
  write_positions(execution, pieces);
  if (p.query.elements.dtype == ONEDIM_DTYPE_F64)
    launch_forward<double>(p, execution);
  else
    launch_forward<float>(p, execution);
}

}  // namespace attention_cuda
