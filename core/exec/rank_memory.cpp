#include "core/exec/rank_memory.hpp"

#include <algorithm>

namespace onedim {

Tensor RankMemory::make(const TensorMeta& meta, BufferUse use) {
  Tensor tensor = Tensor::uninitialized(meta);
  note(tensor, buffer_use_name(use));
  return tensor;
}

void RankMemory::note(const Tensor& tensor, std::string_view use) {
  const int64_t bytes = tensor.meta().storage_length() * size_of(tensor.dtype());
  if (bytes == 0 || !sizes_.emplace(tensor.data(), bytes).second) return;
  live_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  events_.push_back({bytes, live_bytes_, clock_.us(),
                     cause_.empty() ? std::string(use) : fmt::format("{}: {}", cause_, use)});
}

void RankMemory::release(const Tensor& tensor) {
  const auto found = sizes_.find(tensor.data());
  if (found == sizes_.end()) return;
  live_bytes_ -= found->second;
  events_.push_back({-found->second, live_bytes_, clock_.us(), cause_});
  sizes_.erase(found);
}

}  // namespace onedim
