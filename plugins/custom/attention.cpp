// Scaled dot-product attention over q [B,H,Q,D], k [B,K,S,D], v [B,K,S,E] with H a multiple of K
// (grouped heads: query head h reads key head h / (H/K)) and an optional bias that broadcasts to
// [B,H,Q,S].
//
//   w[s] = scale * q.k[s] + bias[s], -inf where a causal mask hides global key position s > q + (S
//   - Q) lse  = log sum exp w,  out = sum_s exp(w[s] - lse) v[s];  a row without any key gives out
//   0, lse -inf
//
// Sharding the keys splits the sum: two parts merge by lse = logaddexp(lse1, lse2) and
// out = sum_i out_i exp(lse_i - lse), a joint partial whose state is the op's own outputs.

#include <cmath>
#include <limits>

#include "families.hpp"

namespace custom {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr std::string_view kKind = "custom.attention";

struct Sizes {
  int64_t batch, heads, queries, depth, key_heads, keys, width;
};

Sizes sizes_of(const Call& call) {
  const TensorView q = call.tensor("query"), k = call.tensor("key"), v = call.tensor("value");
  require(q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4, "query, key and value need four dims");
  const Sizes s{q.size(0), q.size(1), q.size(2), q.size(3), k.size(1), k.size(2), v.size(3)};
  require_one_size(call, "query", "key", 0, "batch size");
  require_one_size(call, "query", "value", 0, "batch size");
  require_one_size(call, "key", "value", 1, "number of heads");
  require_one_size(call, "key", "value", 2, "length");
  require_one_size(call, "query", "key", 3, "depth");
  require(k.dtype() == q.dtype() && v.dtype() == q.dtype(), "query, key and value need one dtype");
  return s;
}

// Query heads that share one key head, in the global tensors.
int64_t group_size(const Call& call) {
  const int64_t heads = call.global_size(false, call.slot("query"), 1);
  const int64_t key_heads = call.global_size(false, call.slot("key"), 1);
  if (key_heads == 0 || heads % key_heads != 0) {
    fail("query has " + std::to_string(heads) + " heads and key has " + std::to_string(key_heads) +
         ", expected a multiple of the key heads");
  }
  return heads / key_heads;
}

void infer(const Call& call, OutputSink& outputs) {
  const Sizes s = sizes_of(call);
  group_size(call);
  if (const TensorView bias = call.tensor("bias"); bias.present()) {
    require(bias.ndim() == 4, "the bias needs four dims");
    const Shape full = {s.batch, s.heads, s.queries, s.keys};
    require(broadcast(full, bias.shape()) == full, "the bias must broadcast to [B,H,Q,S]");
  }
  outputs.add(call.tensor("query").dtype(), {s.batch, s.heads, s.queries, s.width});
  if (call.attribute<bool>("return_lse"))
    outputs.add(DType::kF64, {s.batch, s.heads, s.queries});
  else
    outputs.add_absent();
}

// Emits rules with the bias and lse slots as the call has them.
class AttentionRules {
 public:
  AttentionRules(const Call& call, RuleSink& rules) : call_(call), rules_(rules) {}

  // `bias_dim` -1: replicated.
  void add(Placement out, Placement lse, Placement q, Placement k, Placement v, int bias_dim,
           const RuleOptions& options = {}) {
    const TensorView bias = call_.tensor("bias");
    const bool is_sharded = bias.present() && bias_dim >= 0 && bias.size(bias_dim) > 1;
    const Placement like_out =
        out.kind == ONEDIM_PLACEMENT_SHARD ? shard(bias_dim) : any_shard(bias_dim);
    const Placement b = !bias.present() ? absent() : is_sharded ? like_out : replicate();
    const Placement outputs[] = {out, has_lse() ? lse : absent()};
    const Placement inputs[] = {q, k, v, b};
    rules_.add(outputs, inputs, options);
  }
  bool has_lse() const { return call_.output(1).present(); }

 private:
  const Call& call_;
  RuleSink& rules_;
};

void emit_rules(const Call& call, RuleSink& sink) {
  AttentionRules rules(call, sink);
  const Placement R = replicate();
  rules.add(any_shard(0), any_shard(0), any_shard(0), any_shard(0), any_shard(0), 0);
  const int64_t group = group_size(call);
  // Strided shards of query and key heads would tear groups apart.
  const Placement heads = group > 1 ? shard(1) : any_shard(1);
  RuleOptions whole_groups;
  if (group > 1) whole_groups.requirements = {{0, call.slot("query"), 1, 0, group}};
  rules.add(heads, heads, heads, heads, heads, 1, whole_groups);
  rules.add(any_shard(1), any_shard(1), any_shard(1), R, R, 1);
  rules.add(any_shard(2), any_shard(2), any_shard(2), R, R, 2);
  rules.add(any_shard(3), R, R, R, any_shard(3), -1);
  for (std::string_view linear : {std::string_view("sum"), std::string_view("avg")}) {
    rules.add(partial(linear), R, R, R, partial(linear), -1);
  }
  // Convex combinations of values do not commute with max or min, so only linear partials pass.
  if (rules.has_lse()) {
    rules.add(partial(kKind, 0), partial(kKind, 1), R, any_shard(2), any_shard(2), 3);
  }
}

bool cuts_heads(const onedim_location_t& at, int slot, int mesh_dim) {
  const onedim_placement_t& placement = at.inputs[slot].placements[mesh_dim];
  const bool is_shard =
      placement.kind == ONEDIM_PLACEMENT_SHARD || placement.kind == ONEDIM_PLACEMENT_STRIDED_SHARD;
  return is_shard && placement.dim == 1 && at.mesh_shape[mesh_dim] > 1;
}

// Where one mesh dim cuts query and key heads alike and another the query heads alone, it depends
// on the order of the cuts whether each query head finds its key head, and a rank is not told the
// order.
void accept_local(const Call& call) {
  const onedim_location_t* at = call.location();
  bool cuts_both = false, cuts_queries = false;
  for (int mesh_dim = 0; at != nullptr && mesh_dim < at->mesh_ndim; ++mesh_dim) {
    if (!cuts_heads(*at, call.slot("query"), mesh_dim)) continue;
    (cuts_heads(*at, call.slot("key"), mesh_dim) ? cuts_both : cuts_queries) = true;
  }
  require(!cuts_both || !cuts_queries,
          "one mesh dim cuts query and key heads, and another the query heads alone");
}

struct Row {
  std::vector<double> weight;
  double lse;
};

class Kernel {
 public:
  explicit Kernel(const Call& call)
      : call_(call), s_(sizes_of(call)), q_(load("query")), k_(load("key")), v_(load("value")) {
    scale_ = call.attribute<std::optional<double>>("scale").value_or(
        1 / std::sqrt(static_cast<double>(s_.depth)));
    causal_ = call.attribute<bool>("causal");
    group_ = group_size(call);
    if (call.has_tensor("bias")) bias_ = load("bias");
  }

  void run() {
    const size_t rows = static_cast<size_t>(s_.batch * s_.heads * s_.queries);
    std::vector<double> out(rows * static_cast<size_t>(s_.width)), lse(rows);
    size_t row = 0;
    for (int64_t b = 0; b < s_.batch; ++b) {
      for (int64_t h = 0; h < s_.heads; ++h) {
        for (int64_t i = 0; i < s_.queries; ++i, ++row)
          lse[row] = attend(b, h, i, out.data() + row * s_.width);
      }
    }
    store_dense(out.data(), call_.output(0));
    if (call_.output(1).present()) store_dense(lse.data(), call_.output(1));
  }

 private:
  std::vector<double> load(std::string_view name) const {
    return load_dense<double>(call_.tensor(name));
  }

  // The local key head that serves a local query head.
  int64_t key_head(int64_t h) const {
    const int64_t global = call_.global_index(false, call_.slot("query"), 1, h) / group_;
    for (int64_t k = 0; k < s_.key_heads; ++k) {
      if (call_.global_index(false, call_.slot("key"), 1, k) == global) return k;
    }
    fail("a query head's key head lies on another rank");
  }

  bool is_hidden(int64_t i, int64_t j) const {
    if (!causal_) return false;
    const int q = call_.slot("query"), k = call_.slot("key");
    const int64_t shift = call_.global_size(false, k, 2) - call_.global_size(false, q, 2);
    return call_.global_index(false, k, 2, j) > call_.global_index(false, q, 2, i) + shift;
  }

  double bias_at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    if (bias_.empty()) return 0;
    const TensorView bias = call_.tensor("bias");
    const int64_t at[] = {b, h, i, j};
    int64_t index = 0;
    for (int dim = 0; dim < 4; ++dim)
      index = index * bias.size(dim) + (bias.size(dim) > 1 ? at[dim] : 0);
    return bias_[static_cast<size_t>(index)];
  }

  double score(int64_t b, int64_t h, int64_t head, int64_t i, int64_t j) const {
    const double* q = q_.data() + ((b * s_.heads + h) * s_.queries + i) * s_.depth;
    const double* k = k_.data() + ((b * s_.key_heads + head) * s_.keys + j) * s_.depth;
    double dot = 0;
    for (int64_t d = 0; d < s_.depth; ++d) dot += q[d] * k[d];
    return scale_ * dot + bias_at(b, h, i, j);
  }

  // Writes one row of the output, zero if it sees no key, and returns its log-sum-exp.
  double attend(int64_t b, int64_t h, int64_t i, double* out) const {
    const int64_t head = s_.keys > 0 ? key_head(h) : 0;
    std::vector<double> scores(static_cast<size_t>(s_.keys), kMinusInfinity);
    double top = kMinusInfinity;
    for (int64_t j = 0; j < s_.keys; ++j) {
      if (!is_hidden(i, j)) scores[j] = score(b, h, head, i, j);
      top = std::max(top, scores[j]);
    }
    if (top == kMinusInfinity) return top;
    double total = 0;
    for (double& w : scores) total += w = std::exp(w - top);
    for (int64_t j = 0; j < s_.keys; ++j) {
      const double* v = v_.data() + ((b * s_.key_heads + head) * s_.keys + j) * s_.width;
      for (int64_t e = 0; e < s_.width; ++e) out[e] += scores[j] / total * v[e];
    }
    return top + std::log(total);
  }

  const Call& call_;
  Sizes s_;
  std::vector<double> q_, k_, v_, bias_;
  double scale_ = 1;
  bool causal_ = false;
  int64_t group_ = 1;
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
    const double wa = weight_of(lse_a[row], merged), wb = weight_of(lse_b[row], merged);
    for (size_t e = row * width; e < (row + 1) * width; ++e)
      out_a[e] = wa * out_a[e] + wb * out_b[e];
    lse_a[row] = merged;
  }
  store_dense(out_a.data(), out);
  store_dense(lse_a.data(), lse);
}

}  // namespace

void declare_attention(Registrar& r) {
  r.partial("custom.attention", {"out", "lse"}).identity({0, kMinusInfinity}).combine(combine);
  r.op("custom.attention(Tensor query, Tensor key, Tensor value, Tensor? bias=None, *, bool "
       "causal=False, "
       "float? scale=None, bool return_lse=True) -> (Tensor out, Tensor? lse)")
      .summary(
          "softmax(scale q k^T + bias) v with grouped heads; lse is its log-sum-exp, if asked for")
      .position_aware()
      .infer(infer)
      .rules(emit_rules)
      .accept_local(accept_local)
      .cost([](const Call& call, onedim_cost_t& cost) {
        const Sizes s = sizes_of(call);
        cost.flops = 2.0 * s.batch * s.heads * s.queries * s.keys * (s.depth + s.width);
      })
      .compute(dtype_mask<float, double>(),
               [](const Call& call, const onedim_execution_t&) { Kernel(call).run(); })
      .samples({
          "f64[2,2,3,2]; f64[2,2,5,2]; f64[2,2,5,3]; -",
          "f64[1,4,3,2]; f64[1,2,4,2]; f64[1,2,4,2]; -; causal=true",
          "f64[2,4,3,2]; f64[2,2,3,2]; f64[2,2,3,2]; f64[1,4,3,3]; scale=0.5",
          "f64[2,2,3,2]; f64[2,1,3,2]; f64[2,1,3,2]; f64[2,1,1,3]; causal=true; return_lse=false",
          "f32[2,2,3,2]; f32[2,2,3,2]; f32[2,2,3,2]; -; return_lse=false",
      });
}

}  // namespace custom
