#pragma once
// RandomSeed: the seed of a random test. It is drawn anew for each run, printed, and taken from
// ONEDIM_TEST_SEED where that is set, so that a failure can be repeated.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace onedim {

inline uint64_t random_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("ONEDIM_TEST_SEED");
    const uint64_t value =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("ONEDIM_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    std::fflush(stdout);  // a test that is killed had a seed too
    return value;
  }();
  return seed;
}

}  // namespace onedim
