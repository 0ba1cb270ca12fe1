#include "core/pack/pack_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/pack/abi_bridge.hpp"
#include "core/pack/shared_object.hpp"

namespace onedim {
namespace {

constexpr const char* kEntrySymbol = "onedim_pack_v1";
constexpr uint64_t kMaxTextSize = 256;

Verdict bad_descriptor(std::string reason) {
  return {VerdictWord::kBadDescriptor, std::move(reason)};
}

bool is_pack_name(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && is_lower(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_lower(c) || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

Verdict check_text(const char* what, onedim_text_t text) {
  if (text.data == nullptr || text.size == 0) {
    return bad_descriptor(fmt::format("its {} is missing", what));
  }
  if (text.size > kMaxTextSize) {
    return bad_descriptor(
        fmt::format("its {} has {} bytes, expected at most {}", what, text.size, kMaxTextSize));
  }
  return {};
}

// The object against the note that was accepted: a pack patched or linked wrongly has two versions.
Verdict check_versions(const onedim_pack_t& entry, const PackNote& note) {
  if (entry.abi_major == note.abi_major && entry.abi_minor == note.abi_minor &&
      entry.min_host_minor == note.min_host_minor) {
    return {};
  }
  return bad_descriptor(fmt::format(
      "its note says abi {}.{} (host minor {}), its {} says {}.{} ({}); rebuild it", note.abi_major,
      note.abi_minor, note.min_host_minor, kEntrySymbol, entry.abi_major, entry.abi_minor,
      entry.min_host_minor));
}

Verdict check_entry(const onedim_pack_t& entry, const PackNote& note) {
  constexpr size_t kKnownSize = offsetof(onedim_pack_t, shutdown) + sizeof(entry.shutdown);
  if (entry.struct_size < kKnownSize) {
    return bad_descriptor(fmt::format("{} has struct_size {}, expected at least {}", kEntrySymbol,
                                      entry.struct_size, kKnownSize));
  }
  if (Verdict verdict = check_versions(entry, note); !verdict.ok()) return verdict;
  if (Verdict verdict = check_text("name", entry.name); !verdict.ok()) return verdict;
  if (Verdict verdict = check_text("version", entry.version); !verdict.ok()) return verdict;
  if (!is_pack_name({entry.name.data, entry.name.size})) {
    return bad_descriptor("its name is not [a-z][a-z0-9_]*");
  }
  if (!is_printable({entry.version.data, entry.version.size})) {
    return bad_descriptor("its version is not printable text without spaces, such as 1.2.0");
  }
  if (entry.init == nullptr) return bad_descriptor("its init is null");
  return {};
}

Verdict staging_verdict(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return bad_descriptor(std::string(status.message()));
    case absl::StatusCode::kFailedPrecondition:
      return {VerdictWord::kUnavailable, std::string(status.message())};
    default:
      return {VerdictWord::kPluginFault, std::string(status.message())};
  }
}

}  // namespace

PackFile examine_pack(const std::filesystem::path& path) {
  PackFile file;
  std::error_code error;
  file.report.path = std::filesystem::absolute(path, error).lexically_normal().string();
  file.path = std::filesystem::canonical(path, error);
  if (error) {
    file.report.verdict = {VerdictWord::kUnreadable, error.message()};
    return file;
  }
  const MappedFile mapped(file.path);
  if (!mapped.error().empty()) {
    file.report.verdict = {VerdictWord::kUnreadable, mapped.error()};
    return file;
  }
  file.id = mapped.id();
  NoteResult result = read_pack_note(mapped.bytes());
  file.report.verdict = std::move(result.verdict);
  file.note = std::move(result.note);
  if (!file.ok()) return file;
  file.report.abi = fmt::format("{}.{}", file.note.abi_major, file.note.abi_minor);
  file.report.verdict = check_pack_note(file.note);
  return file;
}

void open_pack(PackFile& file) {
  SharedObject::Opened opened = SharedObject::open(file.path);
  file.report.verdict = std::move(opened.verdict);
  if (!file.ok()) return;
  const void* symbol = opened.object->find(kEntrySymbol);
  if (symbol == nullptr) {
    file.report.verdict = {
        VerdictWord::kNotAPlugin,
        fmt::format("has the onedim note but exports no {}; declare the pack once", kEntrySymbol)};
    return;
  }
  if (!opened.object->contains(symbol)) {
    file.report.verdict = {
        VerdictWord::kEntryForeign,
        fmt::format("{} comes from a library that it links, not from this file", kEntrySymbol)};
    return;
  }
  const auto* entry = static_cast<const onedim_pack_t*>(symbol);
  file.report.verdict = check_entry(*entry, file.note);
  if (!file.ok()) return;
  file.entry = entry;
  file.report.name = from_text(entry->name);
  file.report.version = from_text(entry->version);
}

StagedPack stage_pack(PackFile& file) {
  Result<StagedPack> staged = stage(*file.entry, file.report.path);
  if (!staged.ok()) {
    file.report.verdict = staging_verdict(staged.status());
    return {};
  }
  file.report.op_count = static_cast<int>(staged->ops.size());
  return *std::move(staged);
}

}  // namespace onedim
