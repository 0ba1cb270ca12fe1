#pragma once
// Verdict: what became of one file in a pack folder: a stable word, and a reason in one line. Every
// file found gets one; nothing is skipped in silence.

#include <optional>
#include <string>
#include <string_view>

namespace onedim {

enum class VerdictWord {
  kLoaded,             // loaded
  kNotAPlugin,         // not-a-plugin
  kTruncated,          // truncated
  kWrongArch,          // wrong-arch
  kIncompatible,       // incompatible
  kNeedsNewerHost,     // needs-newer-host
  kEntryForeign,       // entry-foreign
  kUnresolved,         // unresolved
  kUnavailable,        // unavailable
  kCrashedAtLoad,      // crashed-at-load
  kTimeout,            // timeout
  kPluginFault,        // plugin-fault
  kBadDescriptor,      // bad-descriptor
  kDuplicate,          // duplicate
  kMissingDependency,  // missing-dependency
  kUnreadable,         // unreadable
  kDisabled,           // disabled: named in the settings, not opened
};

struct Verdict {
  VerdictWord word = VerdictWord::kLoaded;
  std::string reason;  // empty if loaded
  bool ok() const { return word == VerdictWord::kLoaded; }
  // Loaded, if perhaps without a rule or kernel that names what no pack offers.
  bool is_in_use() const { return ok() || word == VerdictWord::kMissingDependency; }
};

std::string_view verdict_text(VerdictWord word);  // `not-a-plugin`
std::optional<VerdictWord> parse_verdict_word(std::string_view text);

}  // namespace onedim
