#include "core/redistribute/joint_draw.hpp"

#include <algorithm>

#include "core/tensor/element.hpp"

namespace onedim {
namespace {

constexpr int64_t kMostValue = 100;  // exact in every dtype but f8, where it is rounded once

Status refused(const PartialKind& kind, std::string_view hook, const Status& status) {
  return invalid_argument("the {} of {} refuses these states: {}", hook, kind.name,
                          message_of(status));
}

// How many of the leading dims all components share.
size_t shared_dims(std::span<const TensorMeta> group) {
  size_t count = group[0].shape.size();
  for (const TensorMeta& meta : group) {
    const auto [a, b] = std::mismatch(group[0].shape.begin(), group[0].shape.end(),
                                      meta.shape.begin(), meta.shape.end());
    count = std::min<size_t>(count, a - group[0].shape.begin());
  }
  return count;
}

void draw_element(Tensor& tensor, int64_t index, std::mt19937_64& random) {
  const int64_t value = 1 + static_cast<int64_t>(random() % kMostValue);
  std::byte* at = tensor.element(index);
  if (is_complex(tensor.dtype()))
    store_complex(tensor.dtype(), at, {static_cast<double>(value), 1});
  else if (is_floating(tensor.dtype()))
    store_real(tensor.dtype(), at, static_cast<double>(value));
  else
    store_integer(tensor.dtype(), at, tensor.dtype() == DType::kBool ? value & 1 : value);
}

}  // namespace

Result<std::vector<Tensor>> merge_parts(const PartialKind& kind,
                                        std::span<const std::vector<Tensor>> parts) {
  std::vector<Tensor> merged;
  for (const Tensor& tensor : parts[0]) merged.push_back(tensor.clone());
  for (size_t part = 1; part < parts.size(); ++part) {
    const Status status = kind.combine(merged, parts[part]);
    if (!status.ok()) return refused(kind, "combine", status);
  }
  return merged;
}

Result<JointParts> draw_joint_parts(const PartialKind& kind, std::span<const TensorMeta> group,
                                    int64_t count, std::mt19937_64& random) {
  if (group.size() != kind.components.size()) {
    return invalid_argument("a state of {} has {} tensors, but {} move", kind.name,
                            kind.components.size(), group.size());
  }
  JointParts drawn;
  for (int64_t part = 0; part < count; ++part) {
    std::vector<Tensor>& state = drawn.parts.emplace_back();
    for (const TensorMeta& meta : group) state.push_back(Tensor::zeros(meta.dtype, meta.shape));
    const Status status = kind.identity(state);
    if (!status.ok()) return refused(kind, "identity", status);
  }
  const size_t shared = shared_dims(group);
  const int64_t rows = volume(std::span(group[0].shape).first(shared));
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<Tensor>& holder = drawn.parts[random() % static_cast<uint64_t>(count)];
    for (Tensor& tensor : holder) {
      const int64_t length = volume(std::span(tensor.shape()).subspan(shared));
      for (int64_t i = 0; i < length; ++i) draw_element(tensor, row * length + i, random);
    }
  }
  Result<std::vector<Tensor>> merged = merge_parts(kind, drawn.parts);
  if (!merged.ok()) return merged.status();
  drawn.merged = *std::move(merged);
  return drawn;
}

}  // namespace onedim
