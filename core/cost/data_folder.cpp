#include "core/cost/data_folder.hpp"

namespace onedim {

namespace fs = std::filesystem;

// The files that came with an installed program win over those of the source tree.
std::vector<fs::path> data_folders(std::string_view name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> folders;
  if (!error) folders.push_back(program.parent_path().parent_path() / ONEDIM_INSTALLED_DATA / name);
  folders.push_back(fs::path(ONEDIM_SOURCE_CLUSTERS).parent_path() / name);
  return folders;
}

}  // namespace onedim
