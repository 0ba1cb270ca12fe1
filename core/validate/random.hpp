#pragma once
// Random: the small deterministic generator behind every drawn value (SplitMix64, Steele, Lea and
// Flood 2014). Streams are keyed by mixing the numbers that name them, so a draw never depends on
// what was drawn before it or on which thread drew it.

#include <cstdint>
#include <span>
#include <string_view>

namespace onedim {

constexpr uint64_t scramble(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// The key of the stream `name` within the stream `key`.
constexpr uint64_t mix_key(uint64_t key, uint64_t name) {
  return scramble(key + 0x9e3779b97f4a7c15u * (name + 1));
}

// The same for a stream that a text names.
constexpr uint64_t mix_text(uint64_t key, std::string_view text) {
  for (const char c : text) key = mix_key(key, static_cast<unsigned char>(c));
  return key;
}

class Random {
 public:
  explicit Random(uint64_t key) : state_(key) {}

  uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15u); }
  // Uniform in [0, bound); bound >= 1 and small against 2^32.
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(((next() >> 32) * static_cast<uint64_t>(bound)) >> 32);
  }
  // Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& pick(std::span<const T> items) {
    return items[below(static_cast<int64_t>(items.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace onedim
