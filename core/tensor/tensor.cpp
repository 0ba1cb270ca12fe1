#include "core/tensor/tensor.hpp"

#include <cstring>

#include "core/tensor/strided_run.hpp"

namespace onedim {
namespace {

template <int64_t kSize>
void copy_run(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
              int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step * kSize, from + i * from_step * kSize, kSize);
  }
}

template <int64_t kSize>
void copy_runs(const std::byte* from, std::byte* to, const StridedPair& pair) {
  const int64_t count = pair.sizes.back(), from_step = pair.a_strides.back(),
                to_step = pair.b_strides.back();
  for_each_run(pair, [&](int64_t from_offset, int64_t to_offset) {
    const std::byte* source = from + from_offset * kSize;
    std::byte* target = to + to_offset * kSize;
    if (from_step == 1 && to_step == 1) {
      std::memcpy(target, source, static_cast<size_t>(count * kSize));
    } else {
      copy_run<kSize>(source, from_step, target, to_step, count);
    }
    return true;
  });
}

}  // namespace

TensorMeta TensorMeta::contiguous(DType dtype, Dims shape) {
  TensorMeta meta{dtype, std::move(shape), {}};
  meta.strides = row_major_strides(meta.shape);
  return meta;
}

int64_t TensorMeta::storage_length() const {
  int64_t last = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 0) return 0;
    last += (shape[dim] - 1) * strides[dim];
  }
  return last + 1;
}

bool TensorMeta::is_contiguous() const {
  int64_t expected = 1;
  bool matches = true;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 0) return true;
    if (shape[dim] == 1) continue;
    matches = matches && strides[dim] == expected;
    expected *= shape[dim];
  }
  return matches;
}

Tensor Tensor::uninitialized(const TensorMeta& meta) {
  Tensor tensor;
  tensor.meta_ = meta;
  const int64_t bytes = meta.storage_length() * size_of(meta.dtype);
  tensor.storage_ = std::make_shared_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
  tensor.data_ = tensor.storage_.get();
  return tensor;
}

Tensor Tensor::zeros(const TensorMeta& meta) {
  Tensor tensor = uninitialized(meta);
  std::memset(tensor.data_, 0, static_cast<size_t>(meta.storage_length() * size_of(meta.dtype)));
  return tensor;
}

Tensor Tensor::zeros(DType dtype, Dims shape) {
  return zeros(TensorMeta::contiguous(dtype, std::move(shape)));
}

Tensor Tensor::view(TensorMeta meta, int64_t offset) const {
  Tensor result = *this;
  result.data_ += offset * size_of(meta.dtype);
  result.meta_ = std::move(meta);
  return result;
}

Tensor Tensor::narrow(int dim, int64_t begin, int64_t end) const {
  Tensor result = *this;
  result.meta_.shape[dim] = end - begin;
  result.data_ += begin * meta_.strides[dim] * size_of(meta_.dtype);
  return result;
}

Tensor Tensor::clone() const {
  Tensor result = uninitialized(TensorMeta::contiguous(meta_.dtype, meta_.shape));
  copy_elements(*this, result);
  return result;
}

const std::byte* Tensor::element(int64_t index) const {
  if (meta_.is_contiguous()) return data_ + index * size_of(meta_.dtype);
  int64_t offset = 0;
  for (size_t dim = meta_.shape.size(); dim-- > 0;) {
    offset += index % meta_.shape[dim] * meta_.strides[dim];
    index /= meta_.shape[dim];
  }
  return data_ + offset * size_of(meta_.dtype);
}

std::byte* Tensor::element(int64_t index) {
  return const_cast<std::byte*>(std::as_const(*this).element(index));
}

Status check_allocatable(const TensorMeta& meta) {
  if (meta.bytes() <= kMaxTensorBytes) return {};
  return absl::ResourceExhaustedError(
      fmt::format("a tensor {} takes {} bytes, expected at most {}; describe it without data or "
                  "use a smaller one",
                  format_meta(meta), meta.bytes(), kMaxTensorBytes));
}

void copy_box(const std::byte* from, std::span<const int64_t> from_strides, std::byte* to,
              std::span<const int64_t> to_strides, std::span<const int64_t> shape,
              int64_t element_size) {
  const StridedPair pair = merge_dims(shape, from_strides, to_strides);
  switch (element_size) {
    case 1:
      return copy_runs<1>(from, to, pair);
    case 2:
      return copy_runs<2>(from, to, pair);
    case 4:
      return copy_runs<4>(from, to, pair);
    case 8:
      return copy_runs<8>(from, to, pair);
    default:
      return copy_runs<16>(from, to, pair);
  }
}

void copy_elements(const Tensor& from, Tensor& to) {
  if (from.meta().is_contiguous() && to.meta().is_contiguous()) {
    if (from.element_count() > 0)
      std::memcpy(to.data(), from.data(), static_cast<size_t>(from.meta().bytes()));
    return;
  }
  copy_box(from.data(), from.strides(), to.data(), to.strides(), from.shape(),
           size_of(from.dtype()));
}

bool bit_equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const int64_t size = size_of(a.dtype());
  const StridedPair pair = merge_dims(a.shape(), a.strides(), b.strides());
  const int64_t count = pair.sizes.back(), a_step = pair.a_strides.back(),
                b_step = pair.b_strides.back();
  return for_each_run(pair, [&](int64_t a_offset, int64_t b_offset) {
    const std::byte* left = a.data() + a_offset * size;
    const std::byte* right = b.data() + b_offset * size;
    if (a_step == 1 && b_step == 1)
      return std::memcmp(left, right, static_cast<size_t>(count * size)) == 0;
    for (int64_t i = 0; i < count; ++i) {
      const size_t bytes = static_cast<size_t>(size);
      if (std::memcmp(left + i * a_step * size, right + i * b_step * size, bytes) != 0)
        return false;
    }
    return true;
  });
}

}  // namespace onedim
