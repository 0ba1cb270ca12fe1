#pragma once
// PackLoader: finds pack files, probes them in a child process, opens, stages and commits them. Search order:
// explicit paths, settings file, ONEDIM_PACK_PATH (ignored when privileged), `packs` beside the executable,
// install folder; never the current folder. Files of a folder come in name order, so results never depend on
// the file system. Libraries stay open until the process ends.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/pack/registry.hpp"
#include "core/pack/verdict.hpp"

namespace onedim {

struct PackReport {
  std::string name;  // "" where the file does not say
  std::string version;
  std::string abi;  // `0.1`
  std::string path;
  Verdict verdict;
  int op_count = 0;
  std::vector<std::string> notes;  // unresolved references, disabled rules
};

struct LoadOptions {
  std::vector<std::filesystem::path> paths;  // files or folders, in search order
  // The program that answers `<program> probe-packs FILE...` (see probe_main); empty: no probing.
  std::filesystem::path probe_program;
  std::chrono::milliseconds probe_deadline{5000};
};

// Folders in search order, from flags, settings and environment; only those that exist.
std::vector<std::filesystem::path> pack_search_path(const std::vector<std::filesystem::path>& explicit_paths,
                                                    const std::vector<std::filesystem::path>& configured);

// Loads everything found into `registry` and resolves it. One report per file looked at, in load order.
std::vector<PackReport> load_packs(const LoadOptions& options, Registry& registry);

// The child's side of probing: opens and stages each file in turn and reports on stdout.
int probe_main(std::span<const std::string> files);

}  // namespace onedim
