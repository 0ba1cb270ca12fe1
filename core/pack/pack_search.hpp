#pragma once
// Where packs are looked for. Search order: explicit paths, settings file, ONEDIM_PACK_PATH (a list
// with `:`, ignored when privileged), `packs` beside the executable, then the packs of the
// installation that the executable belongs to; never the current folder, so relative entries of
// ONEDIM_PACK_PATH are ignored.

#include <filesystem>
#include <vector>

namespace onedim {

// Files and folders in search order. Explicit and configured paths are kept even if nothing is
// there, so that a mistake is reported; of the others only those that exist.
std::vector<std::filesystem::path> pack_search_path(
    const std::vector<std::filesystem::path>& explicit_paths,
    const std::vector<std::filesystem::path>& configured);

// The files that `path` stands for: every `*.so` of a folder, by name; else `path` itself.
std::vector<std::filesystem::path> pack_files_at(const std::filesystem::path& path);

}  // namespace onedim
