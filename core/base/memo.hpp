#pragma once
// Memo: results by a key of words that holds everything that decides them. Bounded: a shard that is
// full forgets the older half of what it holds, unless used since. Thread-safe; a hit locks one of
// several mutexes and allocates nothing. Values are cheap to copy.

#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

namespace onedim {

using MemoKey = absl::InlinedVector<uint64_t, 24>;

struct MemoCounters {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t evictions = 0;
};

template <typename Value>
class Memo {
 public:
  explicit Memo(size_t capacity) : young_capacity_(std::max<size_t>(1, capacity / (2 * kShards))) {}

  std::optional<Value> find(const MemoKey& key) {
    const size_t hash = absl::Hash<MemoKey>()(key);
    Shard& shard = shard_of(hash);
    const std::lock_guard lock(shard.mutex);
    if (const auto found = shard.young.find(key, hash); found != shard.young.end()) {
      ++shard.counters.hits;
      return found->second;
    }
    const auto found = shard.old.find(key, hash);
    if (found == shard.old.end()) {
      ++shard.counters.misses;
      return std::nullopt;
    }
    ++shard.counters.hits;
    Value value = std::move(found->second);
    shard.old.erase(found);
    make_room(shard);
    shard.young.emplace(key, value);
    return value;
  }

  // Of two threads that insert under one key, the first one's value stays and is returned to both.
  Value insert(const MemoKey& key, Value value) {
    Shard& shard = shard_of(absl::Hash<MemoKey>()(key));
    const std::lock_guard lock(shard.mutex);
    if (const auto found = shard.young.find(key); found != shard.young.end()) return found->second;
    make_room(shard);
    return shard.young.try_emplace(key, std::move(value)).first->second;
  }

  MemoCounters counters() const {
    MemoCounters sum;
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      sum.hits += shard.counters.hits;
      sum.misses += shard.counters.misses;
      sum.evictions += shard.counters.evictions;
    }
    return sum;
  }

  size_t size() const {
    size_t count = 0;
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      count += shard.young.size() + shard.old.size();
    }
    return count;
  }

  void clear() {
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      shard.young.clear();
      shard.old.clear();
    }
  }

 private:
  using Map = absl::flat_hash_map<MemoKey, Value>;
  static constexpr size_t kShards = 16;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Map young;
    Map old;
    MemoCounters counters;
  };

  Shard& shard_of(size_t hash) { return shards_[hash >> 60 & (kShards - 1)]; }

  void make_room(Shard& shard) {
    if (shard.young.size() < young_capacity_) return;
    shard.counters.evictions += static_cast<int64_t>(shard.old.size());
    shard.old = std::move(shard.young);
    shard.young = Map();
  }

  size_t young_capacity_;
  std::array<Shard, kShards> shards_;
};

}  // namespace onedim
