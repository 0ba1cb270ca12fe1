#pragma once
// Llama steps: a graph builder that knows the sizes and dtypes of one Llama, and the steps of which
// both passes are made. Where a node stands is what was last set at `builder`.

#include "core/graph/graph_builder.hpp"
#include "tools/models/llama.hpp"

namespace onedim {

struct LlamaSteps {
  // What `sizes` leaves open is the model's.
  LlamaSteps(const LlamaConfig& model, const LlamaShape& sizes, const Registry& registry);

  const LlamaConfig config;
  const LlamaShape shape;
  GraphBuilder builder;

  int64_t head_size() const { return config.width / config.heads; }
  // Queries that share a key.
  int64_t group() const { return config.heads / config.key_heads; }

  // The value itself where it has the dtype already.
  ValueId cast(ValueId x, DType dtype);
  // The same of a weight or its gradient.
  ValueId cast_weight(ValueId x, DType dtype);
  ValueId view(ValueId x, std::initializer_list<int64_t> sizes);
  ValueId expand(ValueId x, std::initializer_list<int64_t> sizes);
  ValueId permute(ValueId x, std::initializer_list<int64_t> dims);
  ValueId sum(ValueId x, std::initializer_list<int64_t> dims);  // keeps them, of size 1
  ValueId times(ValueId x, ValueId y);
  ValueId plus(ValueId x, ValueId y);
  ValueId einsum(const char* equation, ValueId x, ValueId y);
  // An op of one tensor, and one of a tensor and a number.
  ValueId unary(const char* op, ValueId x) { return builder.add(op, {{"self", x}}); }
  ValueId scalar(const char* op, ValueId x, const char* name, Value number);
};

}  // namespace onedim
