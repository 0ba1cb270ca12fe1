#pragma once
// The families of this pack, one source each, and what they share.

#include <onedim/pack.hpp>

namespace nn {

using namespace onedim::api;

void declare_softmax(Registrar& r);      // softmax, log_softmax and their gradients
void declare_layer_norm(Registrar& r);   // layer_norm, rms_norm and their gradients
void declare_group_norm(Registrar& r);   // group_norm and its gradient
void declare_batch_norm(Registrar& r);   // batch_norm in its functional and mutating forms
void declare_nll_loss(Registrar& r);     // negative log likelihood and its gradient
void declare_convolution(Registrar& r);  // convolution of any kind and its gradient
void declare_avg_pool(Registrar& r);     // mean pooling by fixed and by adaptive windows
void declare_max_pool(Registrar& r);     // max pooling, its gradient and its inverse
void declare_upsample(Registrar& r);     // nearest, linear and cubic interpolation

// Kernels load all floats as f64.
inline constexpr uint64_t kFloats = dtype_mask<float, double>() & ~kF8DTypes;

inline std::vector<double> load(const TensorView& tensor) { return load_dense<double>(tensor); }
inline void store(const std::vector<double>& values, const TensorView& tensor) {
  store_dense(values.data(), tensor);
}

inline bool is_half(DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16; }

inline int64_t product_of(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

inline void require_shape(const TensorView& tensor, std::span<const int64_t> shape,
                          const char* name) {
  if (std::equal(shape.begin(), shape.end(), tensor.shape().begin(), tensor.shape().end())) return;
  fail(std::string(name) + " has shape " + format_shape(tensor.shape()) + ", expected " +
       format_shape(shape));
}

// Which outputs of a gradient are wanted; the others are absent.
inline std::vector<bool> output_mask(const Call& call, size_t count) {
  std::vector<bool> mask = call.attribute<std::vector<bool>>("output_mask");
  if (mask.size() != count)
    fail("output_mask has " + std::to_string(mask.size()) + " flags, expected " +
         std::to_string(count));
  return mask;
}

// `flops` an element of the first input; every tensor is moved once.
inline std::function<void(const Call&, onedim_cost_t&)> cost_per_element(double flops) {
  return [flops](const Call& call, onedim_cost_t& cost) {
    elementwise_cost(call, 0, cost);
    cost.flops = flops * static_cast<double>(call.input(0).element_count());
  };
}

}  // namespace nn
