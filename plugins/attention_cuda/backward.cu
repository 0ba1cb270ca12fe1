// Backward from the saved out and lse:
//
//   p[k] = exp(w[k] - lse)        delta = grad_out.out
//   ds[k] = p[k] (m[k] grad_out.v[k] - delta)
//   grad_q = scale sum_k ds[k] k[k]    grad_k[k] = scale sum_q ds[k] q    grad_v[k] = sum_q p[k]
//   m[k] grad_out
//
// Three passes, none of which writes a place twice: delta; grad_q by tiles of queries over all
// keys; grad_k and grad_v by tiles of keys over all queries of the heads of their group.

#include "tiles.cuh"

namespace attention_cuda {
namespace {

template <typename C>
__global__ void make_delta(Problem p, Gradients g) {
  const int64_t count = p.batch * p.heads * p.queries;
  for (int64_t i = first_element(); i < count; i += element_step()) {
    const int64_t query = i % p.queries, head = i / p.queries % p.heads;
    const int64_t batch = i / p.queries / p.heads;
    const Matrix out = matrix_of(p.out, batch, head, p.queries, p.width);
    const Matrix grad = matrix_of(g.grad_out, batch, head, p.queries, p.width);
    C sum = 0;
    for (int64_t e = 0; e < p.width; ++e) sum += grad.at<C>(query, e) * out.at<C>(query, e);
    static_cast<C*>(g.delta)[i] = sum;
  }
}

// The weight p[k] of a score, and with the product of grad_out and the value its slope ds[k].
template <typename C>
struct Pair {
  C weight = 0;  // with dropout's factor
  C slope = 0;
};
template <typename C>
__device__ Pair<C> pair_of(const Problem& p, const Gradients& g, int64_t batch, int64_t head,
                           int64_t query, int64_t key, C dot, C grad_dot) {
  const C w = score<C>(p, batch, head, query, key, dot);
  if (w == kMinusInfinity<C>) return {};
  const C lse = load<C>(p.lse.elements, p.lse.at(batch, head) + query * p.lse.strides[2]);
  const C weight = std::exp(w - lse);
  const C factor = dropout_factor<C>(p, batch, head, query, key);
  const C delta = static_cast<const C*>(g.delta)[(batch * p.heads + head) * p.queries + query];
  return {weight * factor, weight * (factor * grad_dot - delta)};
}

template <typename C>
__device__ void scale_rows(const Problem& p, C (&sums)[2][kOwnColumns<C>]) {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < kOwnColumns<C>; ++j) sums[i][j] *= static_cast<C>(p.scale);
  }
}

template <typename C>
__global__ void make_query_gradient(Problem p, Gradients g) {
  __shared__ Tile<C> slopes;
  const int64_t first_query = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kColumns<C>;
  const int64_t batch = blockIdx.z / p.heads, head = blockIdx.z % p.heads;
  const int64_t key_head = p.key_head_at.find(p.head_at.global(head) / p.group);
  const Matrix query = matrix_of(p.query, batch, head, p.queries, p.depth);
  const Matrix grad = matrix_of(g.grad_out, batch, head, p.queries, p.width);
  const Matrix key = matrix_of(p.key, batch, key_head, p.keys, p.depth);
  const Matrix value = matrix_of(p.value, batch, key_head, p.keys, p.width);
  C sums[2][kOwnColumns<C>] = {};
  for (int64_t first_key = 0; first_key < p.keys; first_key += kTile) {
    if (hides_tile(p, first_query, first_key)) break;
    C dots[2][2], grad_dots[2][2];
    multiply_rows<C>(query, first_query, key, first_key, dots);
    multiply_rows<C>(grad, first_query, value, first_key, grad_dots);
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j)
        slopes[own_row(i)][own_column(j)] =
            pair_of<C>(p, g, batch, head, first_query + own_row(i), first_key + own_column(j),
                       dots[i][j], grad_dots[i][j])
                .slope;
    }
    add_product<C>(slopes, key, first_key, first_column, sums);
  }
  scale_rows<C>(p, sums);
  store_rows<C>(g.grad_query, batch, head, first_query, p.queries, first_column, p.depth, sums);
}

// Adds what one query head gives to the gradients of 32 keys.
template <typename C>
__device__ void add_key_gradients(const Problem& p, const Gradients& g, int64_t batch, int64_t head,
                                  int64_t key_head, Tile<C>& tile, C (&key_sums)[2][kOwnColumns<C>],
                                  C (&value_sums)[2][kOwnColumns<C>]) {
  const int64_t first_key = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kColumns<C>;
  const Matrix query = matrix_of(p.query, batch, head, p.queries, p.depth);
  const Matrix grad = matrix_of(g.grad_out, batch, head, p.queries, p.width);
  const Matrix key = matrix_of(p.key, batch, key_head, p.keys, p.depth);
  const Matrix value = matrix_of(p.value, batch, key_head, p.keys, p.width);
  for (int64_t first_query = 0; first_query < p.queries; first_query += kTile) {
    if (hides_tile(p, first_query, first_key)) continue;
    C dots[2][2], grad_dots[2][2];
    multiply_rows<C>(key, first_key, query, first_query, dots);
    multiply_rows<C>(value, first_key, grad, first_query, grad_dots);
    Pair<C> pairs[2][2];
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        pairs[i][j] = pair_of<C>(p, g, batch, head, first_query + own_column(j),
                                 first_key + own_row(i), dots[i][j], grad_dots[i][j]);
        tile[own_row(i)][own_column(j)] = pairs[i][j].weight;
      }
    }
    add_product<C>(tile, grad, first_query, first_column, value_sums);
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) tile[own_row(i)][own_column(j)] = pairs[i][j].slope;
    }
    add_product<C>(tile, query, first_query, first_column, key_sums);
  }
}

template <typename C>
__global__ void make_key_gradients(Problem p, Gradients g) {
  __shared__ Tile<C> tile;
  const int64_t first_key = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t first_column = static_cast<int64_t>(blockIdx.y) * kColumns<C>;
  const int64_t batch = blockIdx.z / p.key_heads, key_head = blockIdx.z % p.key_heads;
  C key_sums[2][kOwnColumns<C>] = {}, value_sums[2][kOwnColumns<C>] = {};
  for (int64_t head = 0; head < p.heads; ++head) {
    if (p.head_at.global(head) / p.group == p.key_head_at.global(key_head))
      add_key_gradients<C>(p, g, batch, head, key_head, tile, key_sums, value_sums);
  }
  scale_rows<C>(p, key_sums);
  store_rows<C>(g.grad_key, batch, key_head, first_key, p.keys, first_column, p.depth, key_sums);
  store_rows<C>(g.grad_value, batch, key_head, first_key, p.keys, first_column, p.width,
                value_sums);
}

template <typename C>
void launch_backward(const Problem& p, const Gradients& g, const onedim_execution_t& execution) {
  const dim3 block(kSide, kSide);
  const int64_t rows = p.batch * p.heads * p.queries;
  if (rows > 0) {
    launch(execution, make_delta<C>, blocks_of(rows), dim3(kBlockSize), p, g);
    launch(execution, make_query_gradient<C>,
           grid_of(p.queries, p.depth, kColumns<C>, p.batch * p.heads), block, p, g);
  }
  if (p.batch * p.key_heads * p.keys == 0) return;
  const int64_t columns = p.depth > p.width ? p.depth : p.width;
  launch(execution, make_key_gradients<C>,
         grid_of(p.keys, columns, kColumns<C>, p.batch * p.key_heads), block, p, g);
}

}  // namespace

void run_backward(const Problem& p, const Gradients& g, const std::vector<Piece>& pieces,
                  const onedim_execution_t& execution) {
  const DeviceScope scope(execution);
  write_positions(execution, pieces);
  if (p.query.elements.dtype == ONEDIM_DTYPE_F64)
    launch_backward<double>(p, g, execution);
  else
    launch_backward<float>(p, g, execution);
}

}  // namespace attention_cuda
