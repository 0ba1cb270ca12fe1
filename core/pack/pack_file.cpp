#include "core/pack/pack_file.hpp"

#include <fmt/format.h>

#include "core/pack/descriptor_check.hpp"
#include "core/pack/shared_object.hpp"

namespace onedim {
namespace {

constexpr const char* kEntrySymbol = "onedim_pack_v1";

Verdict bad_descriptor(std::string reason) {
  return {VerdictWord::kBadDescriptor, std::move(reason)};
}

// The object against the note that was accepted: a pack patched or linked wrongly has two versions.
Verdict check_versions(const onedim_pack_t& entry, const PackNote& note) {
  if (entry.abi_major == note.abi_major && entry.abi_minor == note.abi_minor &&
      entry.min_host_minor == note.min_host_minor) {
    return {};
  }
  return bad_descriptor(
      fmt::format("its note says abi {}.{} (host minor {}), its {} says {}.{} ({}); rebuild it",
                  note.abi_major, note.abi_minor, note.min_host_minor, kEntrySymbol,
                  entry.abi_major, entry.abi_minor, entry.min_host_minor));
}

Verdict check_entry(const onedim_pack_t& entry, const PackNote& note) {
  const Status status = check_pack(entry);
  return status.ok() ? check_versions(entry, note) : bad_descriptor(std::string(status.message()));
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
  file.report.name.assign(entry->name.data, entry->name.size);
  file.report.version.assign(entry->version.data, entry->version.size);
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
