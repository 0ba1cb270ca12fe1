#pragma once
// KeyWriter: writes layouts, metas and attribute values as words of a MemoKey, by way of a short
// buffer of its own. Of one writer's calls in the same order, equal words mean equal arguments.
// What is usual takes few words; what does not fit is marked there and follows at length.

#include <span>

#include "core/base/memo.hpp"
#include "core/layout/layout.hpp"
#include "core/tensor/tensor.hpp"
#include "core/tensor/value.hpp"

namespace onedim {

class KeyWriter {
 public:
  // Replaces what `key` holds; the words are all there once this is gone.
  explicit KeyWriter(MemoKey& key) : key_(key) { key_.erase(key_.begin(), key_.end()); }
  ~KeyWriter() { flush(); }
  KeyWriter(const KeyWriter&) = delete;
  KeyWriter& operator=(const KeyWriter&) = delete;

  void add(uint64_t word) {
    if (count_ == words_.size()) flush();
    words_[count_++] = word;
  }
  // The first word is never 0, so that what is absent can be told by a 0.
  void add(const TensorMeta& meta);
  void add(const Layout& layout);
  // As many as the reader knows of.
  void add(std::span<const Placement> placements);
  void add(const Value& value);
  void add(std::string_view text);

 private:
  void flush();
  void add_each(std::span<const int64_t> numbers);
  void add_at_length(const Placement& placement);

  MemoKey& key_;
  size_t count_ = 0;
  std::array<uint64_t, 32> words_;
};

}  // namespace onedim
