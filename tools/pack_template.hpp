#pragma once
// Pack template: the smallest complete pack, and how a new one is made from it: every file is
// copied with the template's name replaced by the new one, and the build is told where this onedim
// lies, so that it needs no flags. The template comes with the program (share/onedim/template) or,
// in a build folder, from the sources.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.hpp"

namespace onedim {

// A pack's name is a CMake target and the prefix of its ops: [a-z][a-z0-9_]*, and none that CMake
// keeps.
Status check_pack_name(std::string_view name);

struct NewPack {
  std::filesystem::path folder;
  std::vector<std::string> files;  // relative to it, sorted
};
// Writes `parent`/`name`, which must not exist; on failure nothing is left behind.
Result<NewPack> write_new_pack(const std::string& name, const std::filesystem::path& parent);

}  // namespace onedim
