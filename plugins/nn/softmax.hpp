#pragma once
// What softmax and its gradients share: the dim they work along, its vectors, and the state tensors
// of the joint partials that a sharded dim leaves. A state has a tensor of the result's vectors,
// each rank filling in its own elements and 0 elsewhere, and one of a number a vector.
//   [4,6] along dim 1 in two: a rank holds [4,3], its state is x [4,6], max [4,1], sumexp [4,1]

#include "families.hpp"

namespace nn {

enum class SoftmaxKind { kSoftmax, kLogSoftmax, kSafeSoftmax };

inline int softmax_dim(const Call& call) {
  return wrap_dim(call.attribute<int64_t>("dim"), call.input(0).ndim());
}

// A tensor's vectors along a dim: element i of vector v stands at begin(v) + i * step.
struct Vectors {
  int64_t outer = 1, length = 1, step = 1;

  Vectors(const TensorView& tensor, int dim) {
    if (tensor.ndim() == 0) return;
    const auto shape = tensor.shape();
    const size_t cut = static_cast<size_t>(dim);
    length = shape[cut];
    step = product_of(shape.subspan(cut + 1));
    outer = product_of(shape.first(cut));
  }
  int64_t count() const { return outer * step; }
  size_t begin(int64_t vector) const {
    return static_cast<size_t>(vector / step * length * step + vector % step);
  }
  size_t at(int64_t vector, int64_t i) const {
    return begin(vector) + static_cast<size_t>(i * step);
  }
};

// The shape of an input with its dim along the vectors whole.
inline Shape whole_shape(const Call& call, int slot) {
  Shape shape = shape_of(call.input(slot));
  const int dim = softmax_dim(call);
  if (!shape.empty()) shape[static_cast<size_t>(dim)] = call.global_size(false, slot, dim);
  return shape;
}

// Half and single floats keep their value in f32; what else there is needs f64.
inline DType softmax_state_dtype(DType dtype) {
  return is_half(dtype) || dtype == DType::kF32 ? DType::kF32 : DType::kF64;
}

// `whole` tensors of the output's shape, then `numbers` of one number a vector.
void add_softmax_states(const Call& call, OutputSink& states, int whole, int numbers);

// Fills a state tensor of the result's vectors: this rank's elements of an input, 0 elsewhere.
void spread_over_vectors(const Call& call, int slot, const TensorView& state);

// Rules of shards: all tensors cut alike on every dim but the one along the vectors.
void cut_other_dims(const Call& call, RuleSink& rules);
// `outputs | inputs` along the vectors, where they are longer than 1.
void cut_vectors(const Call& call, RuleSink& rules, const Placement& output,
                 const std::vector<Placement>& inputs);

void declare_softmax_gradients(Registrar& r);

}  // namespace nn
