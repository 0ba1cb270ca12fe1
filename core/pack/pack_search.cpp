#include "core/pack/pack_search.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace onedim {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> environment_paths() {
  std::vector<fs::path> paths;
  const char* text = ::secure_getenv("ONEDIM_PACK_PATH");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    fs::path path(rest.substr(0, end));
    if (path.is_absolute()) paths.push_back(std::move(path));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return paths;
}

std::vector<fs::path> program_paths() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  // Relative to the program, so that an installed copy never adds its packs to those of a build.
  return {folder / "packs", folder.parent_path() / ONEDIM_INSTALLED_PACKS};
}

}  // namespace

std::vector<fs::path> pack_search_path(const std::vector<fs::path>& explicit_paths,
                                       const std::vector<fs::path>& configured) {
  std::vector<fs::path> paths = explicit_paths;
  paths.insert(paths.end(), configured.begin(), configured.end());
  std::vector<fs::path> standing = environment_paths();
  for (fs::path& path : program_paths()) standing.push_back(std::move(path));
  for (fs::path& path : standing) {
    std::error_code error;
    const bool known = std::find(paths.begin(), paths.end(), path) != paths.end();
    if (!known && fs::exists(path, error)) paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<fs::path> pack_files_at(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  fs::directory_iterator entries(path, error);
  if (error) return {path};  // examined as a file, the folder itself is reported as unreadable
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".so") files.push_back(entries->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace onedim
