#pragma once
// Tensor: a strided view of shared storage. Copies of a Tensor and views taken from it share
// elements, as PyTorch's do; `clone` makes new storage. TensorMeta is the description alone and is
// what planning uses. Strides count elements and may be 0 or leave gaps; negative strides do not
// occur.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dims.hpp"
#include "core/tensor/dtype.hpp"

namespace onedim {

struct TensorMeta {
  DType dtype = DType::kF32;
  Dims shape;
  Dims strides;  // as many as shape

  static TensorMeta contiguous(DType dtype, Dims shape);
  int64_t element_count() const { return volume(shape); }
  int64_t bytes() const { return element_count() * size_of(dtype); }
  // Elements from the first to the last that the strides reach.
  int64_t storage_length() const;
  bool is_contiguous() const;
  bool operator==(const TensorMeta&) const = default;
};

// An optional tensor that is absent is nullopt.
using OptionalMeta = std::optional<TensorMeta>;

class Tensor {
 public:
  Tensor() = default;
  // New zero-filled row-major storage.
  static Tensor zeros(DType dtype, Dims shape);
  // New zero-filled storage with the strides of `meta`.
  static Tensor zeros(const TensorMeta& meta);
  // New storage with the strides of `meta`, for a caller that writes every element.
  static Tensor uninitialized(const TensorMeta& meta);

  const TensorMeta& meta() const { return meta_; }
  DType dtype() const { return meta_.dtype; }
  const Dims& shape() const { return meta_.shape; }
  const Dims& strides() const { return meta_.strides; }
  int ndim() const { return static_cast<int>(meta_.shape.size()); }
  int64_t element_count() const { return meta_.element_count(); }
  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  bool shares_storage_with(const Tensor& other) const { return storage_ == other.storage_; }

  // A view with another description, `offset` elements further on. The caller vouches for its
  // bounds.
  Tensor view(TensorMeta meta, int64_t offset) const;
  // Elements [begin, end) of `dim`.
  Tensor narrow(int dim, int64_t begin, int64_t end) const;
  // Row-major copy in new storage.
  Tensor clone() const;

  // Address of the element with row-major linear index `index`.
  const std::byte* element(int64_t index) const;
  std::byte* element(int64_t index);

 private:
  std::shared_ptr<std::byte[]> storage_;  // shared: views keep it alive
  std::byte* data_ = nullptr;
  TensorMeta meta_;
};

// Descriptions may be of any size; data is only made for tensors of at most this many bytes.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 36;
Status check_allocatable(const TensorMeta& meta);

// Copies a strided box of `shape`; strides count elements, the boxes must not overlap.
void copy_box(const std::byte* from, std::span<const int64_t> from_strides, std::byte* to,
              std::span<const int64_t> to_strides, std::span<const int64_t> shape,
              int64_t element_size);

// Copies all elements; shapes and dtypes must be equal, strides may differ, storages must not
// overlap.
void copy_elements(const Tensor& from, Tensor& to);

// Bit equality of shape, dtype and every element; -0 and +0 differ, NaNs with equal bits are equal.
bool bit_equal(const Tensor& a, const Tensor& b);

// `f32[4,6]`; the strides are not shown. Parsing gives row-major strides; sizes must not be
// negative.
std::string format_meta(const TensorMeta& meta);
Result<TensorMeta> parse_meta(std::string_view text);

}  // namespace onedim
