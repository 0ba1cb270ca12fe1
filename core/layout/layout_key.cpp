#include "core/layout/layout_key.hpp"

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

}  // namespace onedim
