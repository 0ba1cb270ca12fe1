#pragma once
// PackLoader: finds pack files, probes them in a child process, opens, stages and commits them.
// Files come in search order and, within a folder, in name order, so results never depend on the
// file system. The same file under two names is loaded once; a copy clashes by its ids, and the
// earlier stays. Libraries stay open until the process ends, so a pack in use is replaced by
// renaming a new file over it, never by writing into it. Thread-safe: concurrent calls take turns.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/pack/pack_file.hpp"
#include "core/pack/pack_search.hpp"
#include "core/pack/probe.hpp"
#include "core/pack/registry.hpp"

namespace onedim {

struct LoadOptions {
  std::vector<std::filesystem::path>
      paths;  // files or folders, in search order (see pack_search_path)
  // The program that answers `<program> probe-packs FILE...` (see probe_main); empty: no probing.
  std::filesystem::path probe_program;
  std::chrono::milliseconds probe_deadline{5000};
  std::vector<std::string> disabled;  // packs, by name, that are not to be opened
};

// Loads everything found into `registry` and resolves it. One report per file looked at, in load
// order.
std::vector<PackReport> load_packs(const LoadOptions& options, Registry& registry);

// Those of `disabled` that no file of `reports` has as its pack's name or its own; `; did you mean`
// behind each that is nearly one: `"mtarix"; did you mean "matrix"?`.
std::vector<std::string> unknown_disabled(const std::vector<std::string>& disabled,
                                          const std::vector<PackReport>& reports);

// Calls `shutdown` of every pack that was initialised, last loaded first, once. To be called at the
// end of main.
void shutdown_packs();

}  // namespace onedim
