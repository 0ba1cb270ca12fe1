#include "core/pack/verdict.hpp"

#include <array>

namespace onedim {
namespace {

// In the order of VerdictWord.
constexpr std::array<std::string_view, 17> kWords = {
    "loaded",           "not-a-plugin",  "truncated",      "wrong-arch",  "incompatible",
    "needs-newer-host", "entry-foreign", "unresolved",     "unavailable", "crashed-at-load",
    "timeout",          "plugin-fault",  "bad-descriptor", "duplicate",   "missing-dependency",
    "unreadable",       "disabled"};
static_assert(kWords.size() == static_cast<size_t>(VerdictWord::kDisabled) + 1);

}  // namespace

std::string_view verdict_text(VerdictWord word) { return kWords[static_cast<size_t>(word)]; }

std::optional<VerdictWord> parse_verdict_word(std::string_view text) {
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == text) return static_cast<VerdictWord>(i);
  }
  return std::nullopt;
}

}  // namespace onedim
