#include "core/layout/layout_key.hpp"

#include <cstring>
#include <mutex>

namespace onedim {
namespace {

uint64_t kind_number(std::string_view kind) {
  if (kind == "sum") return 0;
  if (kind == "avg") return 1;
  if (kind == "max") return 2;
  if (kind == "min") return 3;
  if (kind == "product") return 4;
  // Kinds of packs are few and are never forgotten.
  static std::mutex mutex;
  static absl::flat_hash_map<std::string, uint64_t> numbers;
  const std::lock_guard lock(mutex);
  return numbers.try_emplace(std::string(kind), numbers.size() + 5).first->second;
}

}  // namespace

void append_key(const Placement& placement, MemoKey& key) {
  uint64_t word = static_cast<uint64_t>(placement.kind);
  if (placement.is_partial()) word |= kind_number(placement.partial) << 8;
  if (placement.is_shard()) word |= static_cast<uint64_t>(placement.dim) << 8;
  word |= static_cast<uint64_t>(placement.component) << 40;
  const bool is_strided = placement.kind == Placement::Kind::kStridedShard;
  key.push_back(word);
  if (is_strided) key.push_back(static_cast<uint64_t>(placement.split_factor));
}

void append_key(const Layout& layout, MemoKey& key) {
  uint64_t order = 0;
  for (const int64_t mesh_dim : layout.order)
    order = order << 4 | static_cast<uint64_t>(mesh_dim + 1);
  key.push_back(order << 8 | layout.placements.size());
  for (const Placement& placement : layout.placements) append_key(placement, key);
}

void append_key(const TensorMeta& meta, MemoKey& key) {
  key.push_back(meta.shape.size() << 8 | static_cast<uint64_t>(meta.dtype));
  for (const int64_t size : meta.shape) key.push_back(static_cast<uint64_t>(size));
  for (const int64_t stride : meta.strides) key.push_back(static_cast<uint64_t>(stride));
}

void append_key(std::string_view text, MemoKey& key) {
  key.push_back(text.size());
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof(word), text.size() - at));
    key.push_back(word);
  }
}

}  // namespace onedim
