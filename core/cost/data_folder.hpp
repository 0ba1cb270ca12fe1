#pragma once
// Data folder: where the data files of this floor lie: in share/onedim beside an installed program,
// else in the source tree.

#include <filesystem>
#include <string_view>
#include <vector>

namespace onedim {

// The folders that may hold the files of `name` (`clusters`), the one to look in first in front.
std::vector<std::filesystem::path> data_folders(std::string_view name);

}  // namespace onedim
