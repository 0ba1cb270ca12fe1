#pragma once
// PackFile: one file on its way through the stages of loading: readable, note-ok, opened, entry-ok,
// described, registered. Each stage either passes or leaves a verdict in the report, and no later
// stage touches a file that has one; no byte of a pack runs before its note was accepted.

#include <onedim/pack.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/pack/elf_note.hpp"
#include "core/pack/mapped_file.hpp"
#include "core/pack/staging.hpp"
#include "core/pack/verdict.hpp"

namespace onedim {

struct PackReport {
  std::string name;  // "" where the file does not say
  std::string version;
  std::string abi;  // `1.0`
  std::string path;
  Verdict verdict;
  int op_count = 0;
  std::vector<std::string> notes;  // unresolved references, disabled rules
};

struct PackFile {
  PackReport report;
  std::filesystem::path path;  // canonical
  FileId id;                   // zero if the file cannot be read
  PackNote note;
  const onedim_pack_t* entry = nullptr;
  bool ok() const { return report.verdict.ok(); }
};

// Readable, note-ok. Opens nothing.
PackFile examine_pack(const std::filesystem::path& path);

// Opened, entry-ok, described: fills `entry` and the report's name and version.
void open_pack(PackFile& file);

// Registered: runs the pack's init. The result means nothing unless `file.ok()` after it.
StagedPack stage_pack(PackFile& file);

}  // namespace onedim
