// Forward, row by row: scores, their log-sum-exp, the weighted sum of the values. A row that sees
// no key gives out 0 and lse -inf.
//
//   q [1,1,1,2] = (1,0), k = (2,0),(0,0), v = (1),(3), scale 1: w = 2,0; lse = log(e^2+1) = 2.127;
//   out = 0.881 * 1 + 0.119 * 3 = 1.238
//
// Sharding the keys splits the sum. Two parts merge by lse = logaddexp(lse_1, lse_2) and out =
// sum_i out_i exp(lse_i - lse): a joint partial whose state is the op's own outputs.

#include "forward.hpp"

#include <cmath>
#include <numeric>

#include "rows.hpp"

namespace attention {
namespace {

int find_result(const Backend& backend, Result result) {
  const auto found = std::find(backend.results.begin(), backend.results.end(), result);
  return found == backend.results.end() ? -1 : static_cast<int>(found - backend.results.begin());
}

TensorView result_of(const Call& call, const Backend& backend, Result result) {
  const int slot = find_result(backend, result);
  return slot < 0 ? TensorView() : call.output(slot);
}

void infer_result(const Call& call, const Backend& backend, const Sizes& s, Result result,
                  OutputSink& outputs) {
  const DType dtype = call.tensor("query").dtype();
  switch (result) {
    case Result::kOut:
      return outputs.add(packed(call, backend, {s.batch, s.heads, s.queries, s.width}));
    case Result::kLogsumexp: {
      if (!wants(call, "compute_log_sumexp", true)) return outputs.add_absent();
      Output lse{
          dtype == DType::kF64 ? dtype : DType::kF32, {s.batch, s.heads, s.queries}, {}, -1, 0};
      if (backend.has_lse_column) lse.shape.push_back(1);
      if (backend.has_lse_rows_outside) lse.strides = {s.queries * s.heads, 1, s.heads};
      return outputs.add(lse);
    }
    case Result::kWeights:
      return outputs.add(dtype, {s.batch, s.heads, s.queries, s.keys});
    case Result::kDebugMask:
      if (!wants(call, "return_debug_mask", false)) return outputs.add_absent();
      return outputs.add(dtype, {s.batch, s.heads, s.queries, s.keys});
    case Result::kRandomState:
      return outputs.add(DType::kI64, {2});
    case Result::kSeed:
    case Result::kOffset:
    case Result::kUnused:
      return outputs.add(DType::kI64, {});
    default:
      return outputs.add_absent();
  }
}

// What a backward pass needs to draw the same numbers.
void store_random_state(const Call& call, const Backend& backend) {
  const int64_t seed = static_cast<int64_t>(call.seed());
  const int64_t id = static_cast<int64_t>(call.call_id());
  const int64_t both[] = {seed, id}, zero = 0;
  for (size_t slot = 0; slot < backend.results.size(); ++slot) {
    const TensorView to = call.output(static_cast<int>(slot));
    if (backend.results[slot] == Result::kRandomState) store_dense(both, to);
    if (backend.results[slot] == Result::kSeed) store_dense(&seed, to);
    if (backend.results[slot] == Result::kOffset) store_dense(&id, to);
    if (backend.results[slot] == Result::kUnused) store_dense(&zero, to);
  }
}

class Forward {
 public:
  Forward(const Call& call, const Backend& backend, const onedim_execution_t& execution)
      : call_(call),
        s_(checked_sizes(call, backend)),
        positions_(call, backend),
        bias_(call, backend),
        dropout_(call, call.seed(), call.call_id()),
        scale_(scale_of(call)),
        lse_(result_of(call, backend, Result::kLogsumexp)),
        weights_(result_of(call, backend, Result::kWeights)),
        debug_(result_of(call, backend, Result::kDebugMask)) {
    Arena arena(execution);
    keys_ = arena.take(s_.depth * s_.keys);
    values_ = arena.take(s_.keys * s_.width);
    scores_ = arena.take(s_.keys);
    query_ = arena.take(s_.depth);
    out_ = arena.take(s_.width);
  }

  void run() {
    for (int64_t b = 0; b < s_.batch; ++b) {
      for (int64_t g = 0; g < s_.key_heads; ++g) {
        load_transposed(call_.tensor("key"), b, g, keys_);
        load_head(call_.tensor("value"), b, g, values_);
        for (const int64_t h : positions_.heads_of_key_head[g]) {
          for (int64_t i = 0; i < s_.queries; ++i) attend(b, h, i);
        }
      }
    }
  }

 private:
  void attend(int64_t b, int64_t h, int64_t i) {
    load_row_of(call_.tensor("query"), b, h, i, query_);
    for (int64_t d = 0; d < s_.depth; ++d) query_[d] *= scale_;
    score_row(query_, keys_, s_.depth, positions_, bias_, bias_.index(b, h, i), i, scores_);
    const double lse = normalise();
    if (lse_.present()) {
      const int64_t offset = b * lse_.stride(0) + h * lse_.stride(1) + i * lse_.stride(2);
      std::byte* to = lse_.data_as<std::byte>() + offset * size_of(lse_.dtype());
      store_row(lse_.dtype(), &lse, 1, 1, to);
    }
    if (debug_.present()) store_debug_row(b, h, i);
    for (int64_t k = 0; dropout_.drops() && k < s_.keys; ++k)
      scores_[k] *= dropout_.factor(b, h, i, k);
    if (weights_.present()) store_row_of(scores_, weights_, b, h, i);
    std::fill(out_, out_ + s_.width, 0);
    add_product(scores_, s_.keys, values_, s_.width, out_);
    store_row_of(out_, call_.output(0), b, h, i);
  }

  // Turns scores into weights and returns their log-sum-exp.
  double normalise() {
    double top = kMinusInfinity, total = 0;
    for (int64_t k = 0; k < s_.keys; ++k) top = std::max(top, scores_[k]);
    if (top == kMinusInfinity) {
      std::fill(scores_, scores_ + s_.keys, 0);
      return top;
    }
    for (int64_t k = 0; k < s_.keys; ++k) total += scores_[k] = std::exp(scores_[k] - top);
    for (int64_t k = 0; k < s_.keys; ++k) scores_[k] /= total;
    return top + std::log(total);
  }

  void store_debug_row(int64_t b, int64_t h, int64_t i) {
    std::vector<double> row(scores_, scores_ + s_.keys);
    for (int64_t k = 0; dropout_.drops() && k < s_.keys; ++k) {
      if (dropout_.factor(b, h, i, k) == 0) row[k] = -row[k];
    }
    store_row_of(row.data(), debug_, b, h, i);
  }

  const Call& call_;
  Sizes s_;
  Positions positions_;
  Bias bias_;
  Dropout dropout_;
  double scale_;
  TensorView lse_, weights_, debug_;
  double *keys_, *values_, *scores_, *query_, *out_;
};

double weight_of(double lse, double merged) {
  return lse == kMinusInfinity ? 0 : std::exp(lse - merged);
}

void combine(States into, States from) {
  const TensorView out(&into[0]), lse(&into[1]);
  std::vector<double> out_a = load_dense<double>(out), lse_a = load_dense<double>(lse);
  const std::vector<double> out_b = load_dense<double>(TensorView(&from[0]));
  const std::vector<double> lse_b = load_dense<double>(TensorView(&from[1]));
  const size_t width = lse_a.empty() ? 0 : out_a.size() / lse_a.size();
  for (size_t row = 0; row < lse_a.size(); ++row) {
    const double top = std::max(lse_a[row], lse_b[row]);
    if (top == kMinusInfinity) continue;
    const double merged = top + std::log(std::exp(lse_a[row] - top) + std::exp(lse_b[row] - top));
    const double a = weight_of(lse_a[row], merged), b = weight_of(lse_b[row], merged);
    for (size_t e = row * width; e < (row + 1) * width; ++e) out_a[e] = a * out_a[e] + b * out_b[e];
    lse_a[row] = merged;
  }
  store_dense(out_a.data(), out);
  store_dense(lse_a.data(), lse);
}

}  // namespace

void declare_partial_kind(Registrar& r) {
  r.partial(kPartialKind, {"out", "lse"}).identity({0, kMinusInfinity}).combine(combine);
}

Output packed(const Call& call, const Backend& backend, Shape shape) {
  std::array<int, 4> order = {0, 2, 1, 3};
  const TensorView q = call.tensor("query");
  if (backend.is_like_query) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return q.stride(a) > q.stride(b); });
  }
  Output output{q.dtype(), std::move(shape), Shape(4, 1), -1, 0};
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= std::max<int64_t>(output.shape[order[i]], 1))
    output.strides[order[i]] = step;
  return output;
}

void infer_forward(const Call& call, const Backend& backend, OutputSink& outputs) {
  const Sizes s = checked_sizes(call, backend);
  group_size(call);
  for (const Result result : backend.results) infer_result(call, backend, s, result, outputs);
}

uint64_t forward_workspace(const Call& call, const Backend& backend) {
  const Sizes s = checked_sizes(call, backend);
  const int64_t count = (s.depth + s.width + 1) * s.keys + s.depth + s.width;
  return static_cast<uint64_t>(count) * sizeof(double);
}

void compute_forward(const Call& call, const Backend& backend,
                     const onedim_execution_t& execution) {
  store_random_state(call, backend);
  Forward(call, backend, execution).run();
}

double bytes_of(const Call& call) {
  int64_t bytes = 0;
  const auto add = [&bytes](const TensorView& tensor) {
    if (tensor.present()) bytes += tensor.element_count() * size_of(tensor.dtype());
  };
  for (int slot = 0; slot < call.input_count(); ++slot) add(call.input(slot));
  for (int slot = 0; slot < call.output_count(); ++slot) add(call.output(slot));
  return static_cast<double>(bytes);
}

void add_forward_cost(const Call& call, const Backend& backend, onedim_cost_t& cost) {
  const Sizes s = checked_sizes(call, backend);
  const double pairs = 1.0 * s.batch * s.heads * s.queries * s.keys;
  cost.flops = 2 * pairs * (s.depth + s.width);
  cost.bytes = bytes_of(call);
}

}  // namespace attention
