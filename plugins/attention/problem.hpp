#pragma once
// The problem that all forms of scaled dot-product attention solve, and what a local call needs to
// know of the global one. query [B,H,Q,D], key [B,G,K,D], value [B,G,K,E] with H a multiple of G:
// query head h reads key head h / (H/G).
//
//   w[k] = scale * q.k[k] + bias[k], -inf where a mask hides the key
//   lse = log sum exp w,  out = sum_k exp(w[k] - lse) v[k]
//
// Dims carry letters, b h q d for the query and so on; a cut of one letter is a sharding rule.
// Positions are global: a causal mask, a dropout draw and a head's key head do not move with the
// shards.

#include <onedim/pack.hpp>

#include <string>

namespace attention {

using namespace onedim::api;

// A causal mask hides key k from query q if k > q, or if k > q + (K - Q).
enum class Causal { kTopLeft, kBottomRight };

enum class Result {
  kAbsent,  // of nested tensors, or no tensor
  kOut,
  kLogsumexp,
  kWeights,    // exp(w - lse) [B,H,Q,K] after dropout
  kDebugMask,  // exp(w - lse), negative where it was dropped
  kRandomState,
  kSeed,
  kOffset,
  kUnused,
  kGradQuery,
  kGradKey,
  kGradValue,
  kGradBias,
};

// What tells one backend's form from another.
struct Backend {
  std::string_view bias;  // the argument added to the scores; empty: none
  Causal causal = Causal::kTopLeft;
  bool is_like_query = false;         // out's memory order is the query's, else that of [B,Q,H,E]
  bool has_lse_column = false;        // lse is [B,H,Q,1]
  bool has_lse_rows_outside = false;  // its memory order is that of [B,Q,H]
  bool has_random_state = false;      // out of the forward pass, into the backward one
  bool refuses_dropout = false;
  bool refuses_bool_bias = false;
  std::vector<Result> results;

  bool is_backward() const { return results[0] == Result::kGradQuery; }
};

struct Sizes {
  int64_t batch, heads, queries, depth, key_heads, keys, width;
};

// Checks shapes and dtypes of query, key, value and bias.
Sizes checked_sizes(const Call& call, const Backend& backend);
// Query heads that share one key head, in the global tensors.
int64_t group_size(const Call& call);

// The additive or bool mask of a call; not present where there is none.
TensorView bias_of(const Call& call, const Backend& backend);
// `bhqk`, with `.` for dims that are broadcast, aligned to the right.
std::string mask_letters(const TensorView& mask);

bool wants(const Call& call, std::string_view attribute, bool otherwise);

// Global places of a local call's rows and columns.
struct Positions {
  explicit Positions(const Call& call, const Backend& backend);

  bool hides(int64_t query, int64_t key) const {
    return is_causal && keys[key] > queries[query] + shift;
  }

  bool is_causal = false;
  int64_t shift = 0;
  std::vector<int64_t> queries, keys;
  std::vector<std::vector<int64_t>> heads_of_key_head;  // local query heads by local key head
};

// Weights that dropout keeps are divided by the probability to be kept. Each weight draws by its
// global index in [B,H,Q,K].
class Dropout {
 public:
  Dropout(const Call& call, uint64_t seed, uint64_t call_id);
  bool drops() const { return probability_ > 0; }
  double probability() const { return probability_; }
  // Factor of one weight, by local indices.
  double factor(int64_t batch, int64_t head, int64_t query, int64_t key) const;

 private:
  double probability_ = 0;
  uint64_t seed_, call_id_;
  std::vector<int64_t> batches_, heads_, queries_, keys_;
  int64_t head_count_ = 0, query_count_ = 0, key_count_ = 0;
};

// A row of the bias under one query: the element of key k is at k * stride.
class Bias {
 public:
  Bias(const Call& call, const Backend& backend);
  bool present() const { return !values_.empty(); }
  int64_t index(int64_t batch, int64_t head, int64_t query) const {
    return batch * steps_[0] + head * steps_[1] + query * steps_[2];
  }
  int64_t key_step() const { return steps_[3]; }
  double value(int64_t index) const { return values_[static_cast<size_t>(index)]; }
  size_t element_count() const { return values_.size(); }

 private:
  std::vector<double> values_;
  std::array<int64_t, 4> steps_{};
};

double scale_of(const Call& call);

}  // namespace attention
