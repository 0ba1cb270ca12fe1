#pragma once
// MutateText: a text with one to three characters dropped, doubled, swapped or replaced by ones
// that mean something to the parsers.

#include <random>
#include <string>
#include <string_view>

#include "tests/random_seed.hpp"

namespace onedim {

inline std::string mutate_text(std::string_view text, std::mt19937_64& random) {
  constexpr std::string_view kCharacters = "()[]{}|,;:=-+.*?!#\"' 019aRSPjeN\n\xc3";
  std::string result(text);
  for (uint64_t edits = 1 + random() % 3; edits > 0 && !result.empty(); --edits) {
    const size_t at = random() % result.size();
    const char other = kCharacters[random() % kCharacters.size()];
    switch (random() % 4) {
      case 0:
        result.erase(at, 1);
        break;
      case 1:
        result.insert(at, 1, other);
        break;
      case 2:
        result[at] = other;
        break;
      default:
        std::swap(result[at], result[random() % result.size()]);
    }
  }
  return result;
}

}  // namespace onedim
