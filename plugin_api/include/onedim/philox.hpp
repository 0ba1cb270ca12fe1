#pragma once
// Philox 4x32-10: the counter-based generator that random ops draw from, so that every element gets
// the same number under every layout. Key = (seed, call id), counter = global linear index of the
// output element. Device code may call it too, as it is constexpr. Source: Salmon, Moraes, Dror,
// Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).

#include <array>
#include <cstdint>

namespace onedim::api {

// Four independent 32-bit words for one counter. The key's 128 bits are folded to Philox's 64: the
// seed is the key and the call id the counter's high half.
constexpr std::array<uint32_t, 4> philox(uint64_t seed, uint64_t call_id, uint64_t index) {
  std::array<uint32_t, 4> x = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                               static_cast<uint32_t>(call_id),
                               static_cast<uint32_t>(call_id >> 32)};
  uint32_t k0 = static_cast<uint32_t>(seed);
  uint32_t k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * x[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

// A double in [0, 1) with 53 random bits.
constexpr double philox_uniform(uint64_t seed, uint64_t call_id, uint64_t index) {
  const std::array<uint32_t, 4> words = philox(seed, call_id, index);
  const uint64_t bits = (uint64_t{words[0]} << 21) ^ (uint64_t{words[1]} >> 11);
  return static_cast<double>(bits & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

}  // namespace onedim::api
