// Backward from the saved out and lse, one query row at a time:
//
//   p[k] = exp(w[k] - lse)          delta = grad_out.out       m[k] = dropout's factor
//   grad_v[k] += p[k] m[k] grad_out     ds[k] = p[k] (m[k] grad_out.v[k] - delta)
//   grad_q = scale sum_k ds[k] k[k]     grad_k[k] += scale ds[k] q     grad_bias[k] += ds[k]
//
// With a row q [1,1,1,2] and 3 keys of width 4: grad_q [1,1,1,2], grad_k [1,1,3,2], grad_v
// [1,1,3,4]. Each gradient is a sum over what its tensor lacks, so heads of a group add up in their
// key head's gradient, and a broadcast bias gets the sum over its broadcast dims.

#include "backward.hpp"

#include <cmath>

#include "forward.hpp"
#include "rows.hpp"

namespace attention {
namespace {

std::string_view grad_name(const Call& call) {
  for (uint64_t i = 0; i < call.raw()->argument_count; ++i) {
    const std::string_view name = view_of(call.raw()->arguments[i].name);
    if (name.starts_with("grad_out")) return name;
  }
  fail("the op has no grad_out");
}

void require_shape(const TensorView& tensor, const Shape& shape, std::string_view name) {
  if (shape_of(tensor) == shape) return;
  fail(std::string(name) + " has shape " + format_shape(tensor.shape()) + ", expected " +
       format_shape(shape));
}

bool wants_bias_gradient(const Call& call, const Backend& backend) {
  if (!bias_of(call, backend).present() || call.find_attribute("grad_input_mask") == nullptr)
    return false;
  const auto mask = call.attribute<std::vector<bool>>("grad_input_mask");
  return mask.size() == 4 && mask[3];
}

// The element of the random state that holds the call id: a pair in one tensor, or two.
uint64_t state_word(const Call& call, const Backend& backend, bool is_call_id) {
  if (!backend.has_random_state) return 0;
  const std::vector<int64_t> seed = load_dense<int64_t>(call.tensor("philox_seed"));
  if (seed.size() == 2) return static_cast<uint64_t>(seed[is_call_id ? 1 : 0]);
  if (!is_call_id) return static_cast<uint64_t>(seed.at(0));
  return static_cast<uint64_t>(load_dense<int64_t>(call.tensor("philox_offset")).at(0));
}

// The state is a value of its own kind: parts that add up to it are no state.
void require_whole_state(const Call& call, std::string_view name) {
  const onedim_location_t* at = call.location();
  for (int mesh_dim = 0; at != nullptr && mesh_dim < at->mesh_ndim; ++mesh_dim) {
    const Placement& placement = at->inputs[call.slot(name)].placements[mesh_dim];
    require(is_replicate(placement), "the random state of the forward pass must be replicated");
  }
}

class Backward {
 public:
  Backward(const Call& call, const Backend& backend, const onedim_execution_t& execution)
      : call_(call),
        s_(checked_sizes(call, backend)),
        positions_(call, backend),
        bias_(call, backend),
        dropout_(call, state_word(call, backend, false), state_word(call, backend, true)),
        scale_(scale_of(call)),
        grad_out_(call.tensor(grad_name(call))),
        lse_(load_dense<double>(call.tensor("logsumexp"))),
        has_bias_gradient_(wants_bias_gradient(call, backend)) {
    Arena arena(execution);
    for (double** matrix : {&key_, &key_columns_, &key_sums_})
      *matrix = arena.take(s_.keys * s_.depth);
    for (double** matrix : {&value_columns_, &value_sums_})
      *matrix = arena.take(s_.keys * s_.width);
    for (double** row : {&weights_, &slopes_, &factors_}) *row = arena.take(s_.keys);
    for (double** row : {&query_, &scaled_, &query_sum_}) *row = arena.take(s_.depth);
    for (double** row : {&grad_row_, &out_row_}) *row = arena.take(s_.width);
    std::fill(factors_, factors_ + s_.keys, 1);
    if (has_bias_gradient_) bias_sums_.assign(bias_.element_count(), 0);
  }

  void run() {
    for (int64_t b = 0; b < s_.batch; ++b) {
      for (int64_t g = 0; g < s_.key_heads; ++g) run_key_head(b, g);
    }
    if (has_bias_gradient_) store_dense(bias_sums_.data(), call_.output(3));
  }

 private:
  void run_key_head(int64_t b, int64_t g) {
    load_head(call_.tensor("key"), b, g, key_);
    load_transposed(call_.tensor("key"), b, g, key_columns_);
    load_transposed(call_.tensor("value"), b, g, value_columns_);
    std::fill(key_sums_, key_sums_ + s_.keys * s_.depth, 0);
    std::fill(value_sums_, value_sums_ + s_.keys * s_.width, 0);
    for (const int64_t h : positions_.heads_of_key_head[g]) {
      for (int64_t i = 0; i < s_.queries; ++i) run_row(b, h, i);
    }
    store_head(key_sums_, call_.output(1), b, g);
    store_head(value_sums_, call_.output(2), b, g);
  }

  void run_row(int64_t b, int64_t h, int64_t i) {
    load_row_of(call_.tensor("query"), b, h, i, query_);
    load_row_of(grad_out_, b, h, i, grad_row_);
    load_row_of(call_.tensor("out"), b, h, i, out_row_);
    for (int64_t d = 0; d < s_.depth; ++d) scaled_[d] = query_[d] * scale_;
    const int64_t bias_index = bias_.index(b, h, i);
    score_row(scaled_, key_columns_, s_.depth, positions_, bias_, bias_index, i, weights_);
    const double lse = lse_[static_cast<size_t>((b * s_.heads + h) * s_.queries + i)];
    for (int64_t k = 0; k < s_.keys; ++k) {
      const bool is_hidden = weights_[k] == kMinusInfinity;
      weights_[k] = is_hidden ? 0 : std::exp(weights_[k] - lse);
    }
    for (int64_t k = 0; dropout_.drops() && k < s_.keys; ++k)
      factors_[k] = dropout_.factor(b, h, i, k);
    add_gradients(b, h, i, bias_index);
  }

  void add_gradients(int64_t b, int64_t h, int64_t i, int64_t bias_index) {
    double delta = 0;
    for (int64_t e = 0; e < s_.width; ++e) delta += grad_row_[e] * out_row_[e];
    std::fill(slopes_, slopes_ + s_.keys, 0);
    add_product(grad_row_, s_.width, value_columns_, s_.keys, slopes_);
    for (int64_t k = 0; k < s_.keys; ++k) {
      slopes_[k] = weights_[k] * (factors_[k] * slopes_[k] - delta);
      weights_[k] *= factors_[k];
    }
    add_outer(weights_, s_.keys, grad_row_, s_.width, value_sums_);
    add_outer(slopes_, s_.keys, scaled_, s_.depth, key_sums_);
    std::fill(query_sum_, query_sum_ + s_.depth, 0);
    add_product(slopes_, s_.keys, key_, s_.depth, query_sum_);
    for (int64_t d = 0; d < s_.depth; ++d) query_sum_[d] *= scale_;
    store_row_of(query_sum_, call_.output(0), b, h, i);
    for (int64_t k = 0; has_bias_gradient_ && k < s_.keys; ++k)
      bias_sums_[static_cast<size_t>(bias_index + k * bias_.key_step())] += slopes_[k];
  }

  const Call& call_;
  Sizes s_;
  Positions positions_;
  Bias bias_;
  Dropout dropout_;
  double scale_;
  TensorView grad_out_;
  std::vector<double> lse_, bias_sums_;
  bool has_bias_gradient_;
  double *key_, *key_columns_, *key_sums_, *value_columns_, *value_sums_;
  double *weights_, *slopes_, *factors_, *query_, *scaled_, *query_sum_, *grad_row_, *out_row_;
};

}  // namespace

void infer_backward(const Call& call, const Backend& backend, OutputSink& outputs) {
  if (backend.has_random_state) {
    require_whole_state(call, "philox_seed");
    require_whole_state(call, "philox_offset");
  }
  const Sizes s = checked_sizes(call, backend);
  group_size(call);
  const Shape out_shape = {s.batch, s.heads, s.queries, s.width};
  const DType dtype = call.tensor("query").dtype();
  for (const std::string_view name : {grad_name(call), std::string_view("out")}) {
    require_shape(call.tensor(name), out_shape, name);
    require(call.tensor(name).dtype() == dtype, "grad_out and out must have the query's dtype");
  }
  Shape lse = {s.batch, s.heads, s.queries};
  if (call.tensor("logsumexp").ndim() == 4) lse.push_back(1);
  require_shape(call.tensor("logsumexp"), lse, "logsumexp");
  outputs.add(packed(call, backend, {s.batch, s.heads, s.queries, s.depth}));
  outputs.add(packed(call, backend, {s.batch, s.key_heads, s.keys, s.depth}));
  outputs.add(packed(call, backend, {s.batch, s.key_heads, s.keys, s.width}));
  if (backend.results.size() == 3) return;
  if (!wants_bias_gradient(call, backend)) return outputs.add_absent();
  outputs.add(bias_of(call, backend).dtype(), shape_of(bias_of(call, backend)));
}

uint64_t backward_workspace(const Call& call, const Backend& backend) {
  const Sizes s = checked_sizes(call, backend);
  const int64_t count = s.keys * (3 * s.depth + 2 * s.width + 3) + 3 * s.depth + 2 * s.width;
  return static_cast<uint64_t>(count) * sizeof(double);
}

void compute_backward(const Call& call, const Backend& backend,
                      const onedim_execution_t& execution) {
  Backward(call, backend, execution).run();
}

void add_backward_cost(const Call& call, const Backend& backend, onedim_cost_t& cost) {
  const Sizes s = checked_sizes(call, backend);
  const double pairs = 1.0 * s.batch * s.heads * s.queries * s.keys;
  cost.flops = 2 * pairs * (3 * s.depth + 2 * s.width);
  cost.bytes = bytes_of(call);
}

}  // namespace attention
