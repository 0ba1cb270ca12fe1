#pragma once
// Reads the `onedim` note of a shared library from the file itself, bounds-checked, before the
// dynamic loader sees it: ELF64 little-endian header, program headers, PT_NOTE. Also checks that
// all segments and the section table end inside the file, since a truncated library faults inside
// dlopen. Never reads outside `file`, whatever it holds.

#include <onedim/pack.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/pack/verdict.hpp"

namespace onedim {

struct PackNote {
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  uint32_t min_host_minor = 0;
  uint32_t build_kind = 0;
  std::string target;
};

struct NoteResult {
  Verdict verdict;  // kLoaded if the note is there
  PackNote note;
};

// What a pack for this host names as its target: `x86_64-linux-gnu`.
std::string_view host_target();

// `file` is the whole file or a mapping of it.
NoteResult read_pack_note(std::span<const std::byte> file);

// Whether this host can load a pack with this note: ABI version and target.
Verdict check_pack_note(const PackNote& note);

}  // namespace onedim
