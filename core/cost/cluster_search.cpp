#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/text.hpp"
#include "core/cost/cluster.hpp"
#include "core/cost/data_folder.hpp"

namespace onedim {
namespace {

namespace fs = std::filesystem;

Result<Cluster> read_cluster_file(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error))
    return invalid_argument("there is no cluster file {}", file.string());
  std::ifstream stream(file);
  if (!stream || fs::is_directory(file, error)) {
    return absl::UnavailableError(fmt::format("cluster file {} cannot be read", file.string()));
  }
  return parse_cluster(std::string(std::istreambuf_iterator<char>(stream), {}), file);
}

}  // namespace

std::vector<std::string> cluster_names() {
  std::vector<std::string> names;
  for (const fs::path& folder : data_folders("clusters")) {
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) continue;
    for (const fs::directory_entry& entry : entries) {
      if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
    break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Cluster> load_cluster(std::string_view name_or_path) {
  if (name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".toml")) {
    return read_cluster_file(name_or_path);
  }
  for (const fs::path& folder : data_folders("clusters")) {
    std::error_code error;
    const fs::path file = folder / fmt::format("{}.toml", name_or_path);
    if (fs::exists(file, error)) return read_cluster_file(file);
  }
  const std::vector<std::string> names = cluster_names();
  return invalid_argument("there is no cluster {} among {} (a file is given as a path){}",
                          quoted_excerpt(name_or_path), fmt::join(names, ", "),
                          did_you_mean(name_or_path, names));
}

}  // namespace onedim
