#pragma once
// Batched matrix products on dense row-major buffers of a compute type: every kernel of this pack
// gathers its operands into such buffers (or uses them in place if they already are), multiplies,
// and scatters the result. Large float products run in oneDNN, others in plain blocked loops.

#include <onedim/arithmetic.hpp>
#include <onedim/dense.hpp>

namespace matrix {

using namespace onedim::api;

// out[i] = a[i] b[i] for `batch` matrices of m x k and k x n; at most `threads` threads.
template <typename C>
void multiply(const C* a, const C* b, C* out, int64_t batch, int64_t m, int64_t n, int64_t k,
              int threads);
extern template void multiply(const float*, const float*, float*, int64_t, int64_t, int64_t,
                              int64_t, int);
extern template void multiply(const double*, const double*, double*, int64_t, int64_t, int64_t,
                              int64_t, int);
extern template void multiply(const int64_t*, const int64_t*, int64_t*, int64_t, int64_t, int64_t,
                              int64_t, int);
extern template void multiply(const std::complex<float>*, const std::complex<float>*,
                              std::complex<float>*, int64_t, int64_t, int64_t, int64_t, int);
extern template void multiply(const std::complex<double>*, const std::complex<double>*,
                              std::complex<double>*, int64_t, int64_t, int64_t, int64_t, int);

template <typename C>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<C, float>) return DType::kF32;
  if constexpr (std::is_same_v<C, double>) return DType::kF64;
  if constexpr (std::is_same_v<C, int64_t>) return DType::kI64;
  if constexpr (std::is_same_v<C, std::complex<float>>) return DType::kC64;
  return DType::kC128;
}

// A strided view with storage for its own shape: a tensor with other dims.
class Rearranged {
 public:
  Rearranged(DType dtype, const void* data, std::vector<int64_t> shape,
             std::vector<int64_t> strides)
      : shape_(std::move(shape)), strides_(std::move(strides)) {
    raw_.struct_size = sizeof raw_;
    raw_.present = 1;
    raw_.dtype = static_cast<int32_t>(dtype);
    raw_.ndim = static_cast<int32_t>(shape_.size());
    raw_.shape = shape_.data();
    raw_.strides = strides_.data();
    raw_.data = const_cast<void*>(data);
  }
  Rearranged(const Rearranged&) = delete;
  TensorView view() const { return TensorView(&raw_); }

 private:
  std::vector<int64_t> shape_, strides_;
  onedim_tensor_t raw_{};
};

// A tensor's elements as dense C: its own memory where that is what it holds.
template <typename C>
class Dense {
 public:
  explicit Dense(const TensorView& tensor) {
    if (tensor.dtype() == dtype_of<C>() && is_row_major(tensor)) {
      data_ = tensor.data_as<const C>();
    } else {
      copy_ = load_dense<C>(tensor);
      data_ = copy_.data();
    }
  }
  Dense(const Dense&) = delete;
  const C* data() const { return data_; }

 private:
  static bool is_row_major(const TensorView& tensor) {
    int64_t step = 1;
    for (int dim = tensor.ndim() - 1; dim >= 0; --dim) {
      if (tensor.size(dim) != 1 && tensor.stride(dim) != step) return false;
      step *= tensor.size(dim);
    }
    return true;
  }
  std::vector<C> copy_;
  const C* data_ = nullptr;
};

// The dtypes of kMultipliable and their compute types.
template <typename F>
void with_product_type(DType dtype, F&& f) {
  with_compute_type<float, double, int64_t, std::complex<float>, std::complex<double>>(
      dtype, std::forward<F>(f));
}

}  // namespace matrix
