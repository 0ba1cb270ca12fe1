#include "problem.hpp"

#include <cmath>
#include <limits>

namespace attention {
namespace {

std::vector<int64_t> global_indices(const Call& call, int slot, int dim) {
  std::vector<int64_t> indices(static_cast<size_t>(call.input(slot).size(dim)));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = call.global_index(false, slot, dim, static_cast<int64_t>(i));
  return indices;
}

void check_bias(const TensorView& bias, const Sizes& s, DType dtype) {
  const Shape full = {s.batch, s.heads, s.queries, s.keys};
  require(bias.dtype() == dtype || bias.dtype() == DType::kF32 || is_bool(bias.dtype()),
          "the mask must be bool, f32 or of the query's dtype");
  if (bias.ndim() <= 4 && broadcast(full, bias.shape()) == full) return;
  fail("a mask of shape " + format_shape(bias.shape()) + " does not broadcast to the scores' " +
       format_shape(full));
}

}  // namespace

Sizes checked_sizes(const Call& call, const Backend& backend) {
  const TensorView q = call.tensor("query"), k = call.tensor("key"), v = call.tensor("value");
  require(q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4,
          "query, key and value need four dims: batch, heads, sequence, features");
  const Sizes s{q.size(0), q.size(1), q.size(2), q.size(3), k.size(1), k.size(2), v.size(3)};
  require_one_size(call, "query", "key", 0, "batch size");
  require_one_size(call, "query", "value", 0, "batch size");
  require_one_size(call, "key", "value", 1, "number of heads");
  require_one_size(call, "key", "value", 2, "sequence length");
  require_one_size(call, "query", "key", 3, "number of features");
  require(is_floating(q.dtype()) && size_of(q.dtype()) > 1,
          "query, key and value must be f64, f32, bf16 or f16");
  if (k.dtype() != q.dtype() || v.dtype() != q.dtype()) {
    fail(std::string("query, key and value are ") + name_of(q.dtype()) + ", " + name_of(k.dtype()) +
         " and " + name_of(v.dtype()) + ", expected one dtype");
  }
  if (const TensorView bias = bias_of(call, backend); bias.present()) {
    require(!backend.refuses_bool_bias || !is_bool(bias.dtype()),
            "the mask must be a float one, -inf where a bool mask is false");
    check_bias(bias, s, q.dtype());
  }
  const double dropout = call.attribute<double>("dropout_p");
  require(dropout >= 0 && dropout < 1, "dropout_p must be at least 0 and below 1");
  return s;
}

int64_t group_size(const Call& call) {
  const int64_t heads = call.global_size(false, call.slot("query"), 1);
  const int64_t key_heads = call.global_size(false, call.slot("key"), 1);
  if (heads == key_heads) return 1;
  if (key_heads == 0 || heads % key_heads != 0) {
    fail("query has " + std::to_string(heads) + " heads and key has " + std::to_string(key_heads) +
         ", expected a multiple of the key heads");
  }
  return heads / key_heads;
}

TensorView bias_of(const Call& call, const Backend& backend) {
  return backend.bias.empty() ? TensorView() : call.tensor(backend.bias);
}

std::string mask_letters(const TensorView& mask) {
  const std::string all = "bhqk";
  std::string letters = all.substr(all.size() - static_cast<size_t>(mask.ndim()));
  for (int dim = 0; dim < mask.ndim(); ++dim) {
    if (mask.size(dim) == 1) letters[static_cast<size_t>(dim)] = '.';
  }
  return letters;
}

bool wants(const Call& call, std::string_view attribute, bool otherwise) {
  return call.find_attribute(attribute) == nullptr ? otherwise : call.attribute<bool>(attribute);
}

Positions::Positions(const Call& call, const Backend& backend) {
  const int query = call.slot("query"), key = call.slot("key");
  is_causal = call.attribute<bool>("is_causal");
  queries = global_indices(call, query, 2);
  keys = global_indices(call, key, 2);
  if (backend.causal == Causal::kBottomRight)
    shift = call.global_size(false, key, 2) - call.global_size(false, query, 2);
  const std::vector<int64_t> key_heads = global_indices(call, key, 1);
  heads_of_key_head.resize(key_heads.size());
  const int64_t group = group_size(call);
  const std::vector<int64_t> heads = global_indices(call, query, 1);
  for (size_t h = 0; h < heads.size(); ++h) {
    const auto found = std::find(key_heads.begin(), key_heads.end(), heads[h] / group);
    require(found != key_heads.end(), "a query head's key head lies on another rank");
    heads_of_key_head[static_cast<size_t>(found - key_heads.begin())].push_back(
        static_cast<int64_t>(h));
  }
}

Dropout::Dropout(const Call& call, uint64_t seed, uint64_t call_id)
    : probability_(call.attribute<double>("dropout_p")), seed_(seed), call_id_(call_id) {
  if (!drops()) return;
  const int query = call.slot("query"), key = call.slot("key");
  batches_ = global_indices(call, query, 0);
  heads_ = global_indices(call, query, 1);
  queries_ = global_indices(call, query, 2);
  keys_ = global_indices(call, key, 2);
  head_count_ = call.global_size(false, query, 1);
  query_count_ = call.global_size(false, query, 2);
  key_count_ = call.global_size(false, key, 2);
}

double Dropout::factor(int64_t batch, int64_t head, int64_t query, int64_t key) const {
  const int64_t row = (batches_[batch] * head_count_ + heads_[head]) * query_count_;
  const int64_t linear = (row + queries_[query]) * key_count_ + keys_[key];
  const double draw = philox_uniform(seed_, call_id_, static_cast<uint64_t>(linear));
  return draw < probability_ ? 0 : 1 / (1 - probability_);
}

Bias::Bias(const Call& call, const Backend& backend) {
  const TensorView bias = bias_of(call, backend);
  if (!bias.present()) return;
  values_ = load_dense<double>(bias);
  if (is_bool(bias.dtype())) {
    for (double& value : values_) value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
  }
  int64_t step = 1;
  for (int dim = bias.ndim() - 1; dim >= 0; --dim) {
    if (bias.size(dim) != 1) steps_[static_cast<size_t>(dim + 4 - bias.ndim())] = step;
    step *= bias.size(dim);
  }
}

double scale_of(const Call& call) {
  const int64_t depth = call.global_size(false, call.slot("query"), 3);
  return call.attribute<std::optional<double>>("scale").value_or(
      1 / std::sqrt(static_cast<double>(depth)));
}

}  // namespace attention
