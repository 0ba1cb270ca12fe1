#pragma once
// Probing: pack files are opened and staged in a child process first, so that one that crashes,
// exits or hangs costs a verdict and not the host. In the good case one child probes all files.
// When it dies or stalls, a new child goes on; a crash is blamed on a file only if it was the first
// that its child opened, because an earlier pack may have left a thread or a corrupted heap behind.

#include <chrono>
#include <filesystem>
#include <span>
#include <string>

#include "core/pack/pack_file.hpp"

namespace onedim {

struct ProbeOptions {
  std::filesystem::path program;  // answers `<program> probe-packs FILE...` with probe_main
  std::chrono::milliseconds deadline{5000};  // per file
};

// Leaves a verdict in the report of each file that must not be loaded; all of `files` are ok()
// before.
void probe_packs(const ProbeOptions& options, std::span<PackFile* const> files);

// The child's side: opens and stages each file in turn and reports on stdout, one line per event:
// `begin I`, `pack I NAME VERSION`, `end I WORD REASON`. What packs themselves print is thrown
// away.
int probe_main(std::span<const std::string> files);

}  // namespace onedim
